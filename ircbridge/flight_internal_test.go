package ircbridge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// newFlyer is a listener with a message that waits for IRC.
func newFlyer(t *testing.T) (*run, waiter) {
	t.Helper()
	r, _ := newListener(t, Options{Server: Server{Addr: "127.0.0.1", RetryMin: time.Minute}})
	r.flights = map[string]*flight{}
	r.plan = newPlan(r.box, func(*dropbox.Message) place { return place{target: "ann", person: "ann"} })
	if _, err := r.Store.Deliver(dropbox.IRC, &dropbox.Message{From: "coder", Type: dropbox.Note, Body: []byte("hello\n")}); err != nil {
		t.Fatal(err)
	}
	w, ok, err := r.plan.next(func(waiter) bool { return true }, false)
	if err != nil || !ok {
		t.Fatalf("nothing waits: %v", err)
	}
	return r, w
}

// A message on which the server may have hung up is said by a connection that has proven
// good, and alone.
func TestWhatTheServerHungUpOnGoesAlone(t *testing.T) {
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d) }
	const stand = standFirst * time.Minute
	for name, c := range map[string]struct {
		failed  int
		proven  int // lines of ours on the connection
		since   time.Time
		another bool // another message is on its way
		want    bool
	}{
		"an ordinary one on a new connection":   {0, 0, ago(0), false, true},
		"an ordinary one beside another":        {0, 0, ago(0), true, true},
		"on a new connection":                   {1, 0, ago(0), false, false},
		"almost enough lines":                   {1, othersFirst - 1, ago(stand - time.Minute), false, false},
		"enough lines":                          {1, othersFirst, ago(0), false, true},
		"a connection that stands long enough":  {1, 0, ago(stand + time.Second), false, true},
		"enough lines, beside another":          {1, othersFirst, ago(0), true, false},
		"a connection that stands, and another": {2, 0, ago(stand + time.Second), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, w := newFlyer(t)
			w.Failed, r.main.proven, r.main.since = c.failed, c.proven, c.since
			if c.another {
				r.flights["aaaabbbbcc"] = &flight{Claim: &dropbox.Claim{}}
			}
			if got := r.ready(w); got != c.want {
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
		r.flights["aaaabbbbcc"] = &flight{Claim: &dropbox.Claim{Entry: dropbox.Entry{Failed: c.failed}}, filing: c.filing}
		if got := r.suspected(); got != c.want {
			t.Errorf("%s on its way: suspected = %v, want %v", name, got, c.want)
		}
	}
}

// Nothing is begun beside a message on which the server may have hung up.
func TestNothingGoesBesideASuspect(t *testing.T) {
	r, w := newFlyer(t)
	suspect := &flight{Claim: &dropbox.Claim{Entry: dropbox.Entry{Failed: 1}}}
	r.flights["aaaabbbbcc"] = suspect
	if got := r.takeWaiting(); len(got) != 0 {
		t.Errorf("%d messages are taken beside a suspect", len(got))
	}
	suspect.filing = true // its fate is known
	if got := r.takeWaiting(); len(got) != 1 || got[0].ID != w.ID {
		t.Errorf("%d messages are taken, want %s", len(got), w.ID)
	}
}

// A message that was said, and came back as by a git checkout, is filed and not said again.
func TestWhatHasAReceiptIsNotSaidAgain(t *testing.T) {
	r, w := newFlyer(t)
	c, err := r.box.Claim(w.Entry)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.box.Commit(c.Entry, []byte("outcome: said\n")); err != nil {
		t.Fatal(err)
	}
	if err := r.box.Finish(c.Entry); err != nil {
		t.Fatal(err)
	}
	done, err := filepath.Glob(filepath.Join(r.Store.Dir(), "irc/done/*", c.Base()+".md"))
	if err != nil || len(done) != 1 {
		t.Fatalf("done/ has %v, %v", done, err)
	}
	if err := os.Rename(done[0], filepath.Join(r.Store.Dir(), "irc/new", w.Name)); err != nil {
		t.Fatal(err)
	}
	if f := r.claim(w); f != nil || len(r.flights) != 0 {
		t.Errorf("it is on its way: %+v", f)
	}
	if f, err := r.Store.Find(w.ID); err != nil || f.State != dropbox.Done {
		t.Errorf("it is %v, %v, want it filed", f.State, err)
	}
}

// A bouncer plays back what we said ourselves: that is kept already. What the server's own
// history brings has an id, and is kept if it is not.
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
			r, _ := newListener(t, Options{Server: Server{Addr: "127.0.0.1"}})
			c.text.Time, c.text.Target, c.text.Body = time.Now(), "#project-x", "[coder] an answer"
			c.text.Source = c.text.Nick + "!~u@127.0.0.1"
			r.hear(r.main, c.text)
			lines, err := Reader{Home: r.Home}.Recent("#project-x", time.Time{}, 0)
			if err != nil || len(lines) != c.want || r.state.Received != c.want {
				t.Errorf("%d lines are kept and %d were received (%v), want %d", len(lines), r.state.Received, err, c.want)
			}
		})
	}
}

// Nobody is logged in to an account that is called "*": with that a server says that there
// is none.
func TestTheAccountOfNobody(t *testing.T) {
	for _, c := range []struct {
		permitted, account string
		want               bool
	}{{"ann", "ann", true}, {"ann", "ANN", true}, {"ann", "bob", false}, {"ann", "", false}, {"ann", "*", false}, {"*", "*", false}, {"*", "ann", false}} {
		who := Person{Nick: "ann", User: "u", Host: "h", Account: c.account}
		if got := (Permit{Account: c.permitted, May: Rights()}).matches(who, irc.ASCII); got != c.want {
			t.Errorf("the permit of account %q matches account %q: %v, want %v", c.permitted, c.account, got, c.want)
		}
	}
	if err := (Permit{Account: "*", May: Rights()}).Check("irc.example"); err == nil || !strings.Contains(err.Error(), "not an account") {
		t.Errorf("a permit for everybody: %v", err)
	}
}
