package bridge

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/outbox"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// newFlyer returns a bridge with a message that is waiting to be sent.
func newFlyer(t *testing.T) (*run, waiter) {
	t.Helper()
	r, _ := newListener(t, "127.0.0.1", Options{})
	r.outbox.plan = newPlan(r.mail.box, func(*dropbox.Message) destination { return destination{target: "ann", person: "ann"} })
	if _, err := r.mail.store.Deliver("irc", &dropbox.Message{From: "coder", Type: dropbox.Note, Body: []byte("hello\n")}); err != nil {
		t.Fatal(err)
	}
	w, ok, err := r.outbox.plan.next(func(waiter) bool { return true }, false)
	if err != nil || !ok {
		t.Fatalf("nothing waits: %v", err)
	}
	return r, w
}

// beginNext claims a message and begins to send it.
func (r *run) beginNext(t *testing.T, w waiter) *flight {
	t.Helper()
	f := r.outbox.claim(w)
	if err := r.outbox.box.Begin(f.Attempt); err != nil {
		t.Fatal(err)
	}
	r.outbox.begin(f)
	return f
}

// claimedBefore returns a message that is being sent, and whose attempts have failed that often.
func claimedBefore(failed int) *flight {
	return &flight{Attempt: &outbox.Attempt{Claim: &dropbox.Claim{Entry: dropbox.Entry{Failed: failed}}}}
}

// A message that may have made the server hang up is sent alone, on a connection that has
// proved reliable.
func TestWhatTheServerHungUpOnGoesAlone(t *testing.T) {
	for name, c := range map[string]struct {
		failed  int
		sound   bool // the connection has proved reliable
		another bool // another message is being sent
		want    bool
	}{
		"an ordinary one on a new connection": {0, false, false, true},
		"an ordinary one beside another":      {0, false, true, true},
		"on a new connection":                 {1, false, false, false},
		"on a good one":                       {1, true, false, true},
		"on a good one, beside another":       {1, true, true, false},
		"again on a good one, and another":    {2, true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, w := newFlyer(t)
			w.Failed = c.failed
			r.link.(*stubLink).sound = c.sound
			if c.another {
				r.outbox.flights["aaaabbbbcc"] = claimedBefore(0)
			}
			if got := r.outbox.ready(w); got != c.want {
				t.Errorf("ready = %v, want %v", got, c.want)
			}
		})
	}
	for name, c := range map[string]struct {
		failed int
		filing bool
		want   bool
	}{
		"an ordinary one":          {0, false, false},
		"one that hung up":         {1, false, true},
		"one that hung up, and is": {1, true, false},
	} {
		r, _ := newFlyer(t)
		r.outbox.flights["aaaabbbbcc"] = claimedBefore(c.failed)
		r.outbox.flights["aaaabbbbcc"].filing = c.filing
		if got := r.outbox.suspected(); got != c.want {
			t.Errorf("%s on its way: suspected = %v, want %v", name, got, c.want)
		}
	}
}

// No message is sent together with one that may have made the server hang up.
func TestNothingGoesBesideASuspect(t *testing.T) {
	r, w := newFlyer(t)
	suspect := claimedBefore(1)
	r.outbox.flights["aaaabbbbcc"] = suspect
	if got := r.outbox.takeWaiting(); len(got) != 0 {
		t.Errorf("%d messages are taken beside a suspect", len(got))
	}
	suspect.filing = true // the message's outcome is known
	if got := r.outbox.takeWaiting(); len(got) != 1 || got[0].ID != w.ID {
		t.Errorf("%d messages are taken, want %s", len(got), w.ID)
	}
}

// A message whose claim the disk refuses to make durable is put back without being posted: a power
// cut could undo the claim, and it would be posted twice. The status says so, and the bridge posts
// it after a pause.
func TestAMessageIsPostedOnceItsClaimIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := newFlyer(t)
		refused := false
		store, err := dropbox.Open(r.mail.store.Dir(), dropbox.Options{Step: func(st dropbox.Step) error {
			if st.Op == dropbox.OpSyncDir && st.Name == "irc/cur" && !refused {
				refused = true
				return errors.New("the disk is full")
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		box, err := store.Mailbox("irc")
		if err != nil {
			t.Fatal(err)
		}
		r.outbox.box = outbox.New(box, outbox.Options{Pause: holdFor})
		link := r.link.(*stubLink)

		r.outbox.takeOff()
		(<-r.loop.later)()
		if len(link.said) != 0 {
			t.Errorf("%d messages were posted without a durable claim", len(link.said))
		}
		if f, err := r.mail.store.Find(w.ID); err != nil || f.State != dropbox.Waiting {
			t.Errorf("the message is %s, %v, want it to wait", f.State, err)
		}
		if last := r.rec.state.LastError; !strings.HasPrefix(last, "messages were not claimed: ") {
			t.Errorf("the status says %q", last)
		}
		r.outbox.takeOff()
		if r.outbox.claiming {
			t.Error("the bridge does not pause")
		}

		(<-r.loop.later)() // after the pause
		r.outbox.takeOff()
		(<-r.loop.later)()
		if len(link.said) != 1 {
			t.Errorf("%d messages were posted after the pause, want 1", len(link.said))
		}
		r.loop.work.Wait()
	})
}

// If a git checkout brings back a message that was already posted, the bridge files the
// message and does not post it again.
func TestWhatHasAReceiptIsNotSaidAgain(t *testing.T) {
	r, w := newFlyer(t)
	c, err := r.mail.box.Claim(w.Entry)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.mail.box.Commit(c.Entry, []byte("outcome: said\n")); err != nil {
		t.Fatal(err)
	}
	if err := r.mail.box.Finish(c.Entry); err != nil {
		t.Fatal(err)
	}
	done, err := filepath.Glob(filepath.Join(r.mail.store.Dir(), "irc/done/*", c.Base()+".md"))
	if err != nil || len(done) != 1 {
		t.Fatalf("done/ has %v, %v", done, err)
	}
	if err := os.Rename(done[0], filepath.Join(r.mail.store.Dir(), "irc/new", w.Name)); err != nil {
		t.Fatal(err)
	}
	if f := r.outbox.claim(w); f != nil || len(r.outbox.flights) != 0 {
		t.Errorf("it is on its way: %+v", f)
	}
	if f, err := r.mail.store.Find(w.ID); err != nil || f.State != dropbox.Done {
		t.Errorf("it is %v, %v, want it filed", f.State, err)
	}
}

// A bouncer plays back the bridge's own lines, which the buffer already contains. Lines
// from the server's history have an id, and are kept if the buffer does not contain them.
func TestOurOwnLinesPlayedBack(t *testing.T) {
	for name, c := range map[string]struct {
		text irc.Text
		want int
	}{
		"by a bouncer":              {irc.Text{Nick: "swarm", Own: true, History: true}, 0},
		"by a bouncer, by our nick": {irc.Text{Nick: "swarm", History: true}, 0},
		"by the server":             {irc.Text{Nick: "swarm", Own: true, History: true, MsgID: "m1"}, 1},
		"of another client of ours": {irc.Text{Nick: "swarm", Own: true}, 1},
		"of a person":               {irc.Text{Nick: "ann", History: true}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := newListener(t, "127.0.0.1", Options{})
			c.text.Time, c.text.Target, c.text.Body = time.Now(), "#project-x", "[coder] an answer"
			c.text.Source = c.text.Nick + "!~u@127.0.0.1"
			r.listener.hear(onNetwork(c.text))
			lines, err := Reader{Dir: r.rec.dir}.Recent("#project-x", time.Time{}, 0)
			if err != nil || len(lines) != c.want || r.rec.state.Received != c.want {
				t.Errorf("%d lines are kept and %d were received (%v), want %d", len(lines), r.rec.state.Received, err, c.want)
			}
		})
	}
}

// No person has the account "*", because a server sends "*" to mean "not logged in".
func TestTheAccountOfNobody(t *testing.T) {
	for _, c := range []struct {
		permitted, account string
		want               bool
	}{{"ann", "ann", true}, {"ann", "ANN", true}, {"ann", "bob", false}, {"ann", "", false}, {"ann", "*", false}, {"*", "*", false}, {"*", "ann", false}} {
		who := Person{Nick: "ann", User: "u", Host: "h", Account: c.account}
		if got := (Permit{Account: c.permitted, May: Rights()}).matches(who, irc.ASCII); got != c.want {
			t.Errorf("the permit for account %q matches account %q: %v, want %v", c.permitted, c.account, got, c.want)
		}
	}
	if err := (Permit{Account: "*", May: Rights()}).Check("irc.example"); err == nil || !strings.Contains(err.Error(), "not an account") {
		t.Errorf("a permit for everybody: %v", err)
	}
}
