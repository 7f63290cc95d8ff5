package ircbridge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// failSteps makes some of the bridge's disk operations fail while failing is true. It
// does not affect other programs.
func (s *scene) failSteps(refuses func(dropbox.Step) bool) (failing *atomic.Bool) {
	s.Helper()
	failing = new(atomic.Bool)
	failing.Store(true)
	store, err := dropbox.Open(s.store.Dir(), dropbox.Options{Step: func(st dropbox.Step) error {
		if failing.Load() && refuses(st) {
			return syscall.EIO
		}
		return nil
	}})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { store.Close() })
	s.o.Store = store
	return failing
}

// The bridge does not send a message whose claim a power cut could undo, because after a
// restart the bridge would resend the message without a mark.
func TestNothingIsSaidThatIsNotClaimedForSure(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		failing := s.failSteps(func(st dropbox.Step) bool { return st.Op == dropbox.OpSyncDir && st.Name == "irc/cur" })
		s.start()
		s.ready()
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x")
		var ids []string
		for i := range 3 {
			ids = append(ids, s.say("coder", bridge.Origin{}, fmt.Sprintf("line %d", i)))
		}
		s.state("the trouble is said", func(st bridge.State) bool {
			return strings.Contains(st.LastError, "messages were not claimed") && strings.Contains(st.LastError, "input/output error")
		})
		if lines := ann.lines(); len(lines) > 0 {
			t.Errorf("said anyway: %q", lines)
		}
		if n := strings.Count(s.log.String(), "messages were not claimed"); n > 20 {
			t.Errorf("the disk was asked %d times in a moment", n)
		}
		failing.Store(false)
		ids = append(ids, s.say("coder", bridge.Origin{}, "line 3")) // the file event wakes the bridge
		ann.sees("#project-x swarm: [coder] line 3")
		for _, id := range ids {
			s.where(id, dropbox.Done)
		}
		want := []string{}
		for i := range 4 {
			want = append(want, fmt.Sprintf("#project-x swarm: [coder] line %d", i))
		}
		if got := ann.lines(); !slices.Equal(got, want) {
			t.Errorf("said %q, want %q", got, want)
		}
	})
}

// A message that was sent but cannot be filed is filed once the disk works again. The
// message is not sent again.
func TestFilingIsTriedAgain(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		tries := new(atomic.Int64)
		failing := s.failSteps(func(st dropbox.Step) bool {
			refused := st.Op == dropbox.OpCreate && strings.HasPrefix(st.Name, "irc/tmp/receipt-")
			if refused {
				tries.Add(1)
			}
			return refused
		})
		s.start()
		s.ready()
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x")
		var ids []string
		for i := range 10 {
			ids = append(ids, s.say("coder", bridge.Origin{}, fmt.Sprintf("line %d", i)))
		}
		ann.sees("#project-x swarm: [coder] line 9")
		eventually(t, "the disk refuses every receipt", func() bool { return tries.Load() > 10 })
		failing.Store(false)
		for i, id := range ids {
			s.where(id, dropbox.Done)
			if r := receiptOf(t, s.store, id); !strings.Contains(r, "outcome: said") || strings.Contains(r, "again: true") {
				t.Errorf("receipt of line %d:\n%s", i, r)
			}
		}
		if n := len(ann.lines()); n != 10 {
			t.Errorf("%d lines were said: %q", n, ann.lines())
		}
	})
}

// If a person writes to an agent whose mailbox accepts no messages, the bridge replies
// that the line was not delivered. Lines for other agents still arrive.
func TestUndeliveredIsSaid(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		if err := os.WriteFile(filepath.Join(s.store.Dir(), "coder", "FULL"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		failing := s.failSteps(func(st dropbox.Step) bool { return st.Op == dropbox.OpMove && strings.HasPrefix(st.To, "tester/new/") })
		s.start()
		s.ready()
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x")
		ann.say("#project-x", "coder, tester: are you there?")
		ann.like("coder already has too much mail")
		if said := ann.like("tester did not get that: "); !strings.HasSuffix(said, "tester did not get that: input/output error") {
			t.Errorf("said %q", said)
		}
		failing.Store(false)
		ann.say("#project-x", "tester: and now?")
		if got := s.mail("tester", 1); string(got[0].Body) != "[IRC @mention in #project-x] <ann> tester: and now?" {
			t.Errorf("tester got %q", got[0].Body)
		}
		if got := s.waiting("coder"); len(got) > 0 {
			t.Errorf("coder got %d messages", len(got))
		}
	})
}

// Lines that arrive faster than the disk can write are neither lost nor reordered, in the
// mailboxes or in the buffer.
func TestBurstOfLines(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.o.WakesPerMinute, s.o.BufferSize = -1, 2000
		slow := s.failSteps(func(st dropbox.Step) bool {
			if st.Op == dropbox.OpSyncDir && strings.HasSuffix(st.Name, "/new") {
				time.Sleep(20 * time.Millisecond) // this simulates a slow disk; no test waits for it
			}
			return false
		})
		s.start()
		s.ready()
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x")
		const n = 900
		var said []*irc.Delivery
		for i := range n {
			said = append(said, ann.conn.Send("#project-x", fmt.Sprintf("%s: line %d", []string{"coder", "nobody", "tester"}[i%3], i)))
		}
		for _, d := range said {
			if err := d.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		s.mail("coder", n/3)
		for k, agent := range []string{"coder", "", "tester"} {
			if agent == "" {
				continue
			}
			for j, m := range s.mail(agent, n/3) {
				if want := fmt.Sprintf("<ann> %s: line %d", agent, 3*j+k); !strings.HasSuffix(string(m.Body), want) {
					t.Fatalf("message %d of %s is %q, want …%q", j, agent, m.Body, want)
				}
			}
		}
		slow.Store(false)
		var lines []bridge.Line
		eventually(t, "all lines are kept", func() bool {
			var err error
			lines, err = bridge.Reader{Dir: ircbridge.Folder(s.home), Size: 2000}.Recent("#project-x", time.Time{}, 0)
			return err == nil && len(lines) == n
		})
		for i, l := range lines { // newest first
			if want := fmt.Sprintf("line %d", n-1-i); !strings.HasSuffix(l.Text, want) {
				t.Fatalf("line %d of the buffer is %q, want …%q", i, l.Text, want)
			}
		}
	})
}

// If a bridge must stop while it is delivering a message to an agent, it stops even if the
// disk refuses the message.
func TestStopWhileSomethingIsDelivered(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		begun, goOn := make(chan struct{}, 16), make(chan struct{})
		store, err := dropbox.Open(s.store.Dir(), dropbox.Options{Step: func(st dropbox.Step) error {
			if st.Op != dropbox.OpCreate || !strings.HasPrefix(st.Name, "coder/tmp/") {
				return nil
			}
			begun <- struct{}{}
			<-goOn
			return syscall.EIO
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		s.o.Store = store
		s.start()
		s.ready()
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x")
		ann.say("#project-x", "coder: are you there?")
		<-begun
		ended := make(chan error, 1)
		go func() { ended <- s.quit() }() // received below
		eventually(t, "the bridge has left", func() bool {
			nicks, _, _ := ann.conn.Members("#project-x")
			return !slices.Contains(nicks, "swarm")
		})
		close(goOn)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// The status reports that a nick is taken, and the log states in plain words that the
// server hung up.
func TestTroubleInWords(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		proxy := irctest.NewProxy(t, addr)
		other := newPerson(t, proxy.Addr, "swarm", "#project-x") // this person also sees the hang-up
		s := newScene(t, proxy.Addr)
		s.start()
		taken := func(st bridge.State) bool {
			return slices.Contains(st.Warnings, "another user has the nick swarm: the bridge uses swarm_ until it is free")
		}
		s.state("the nick is taken", taken)
		if err := other.conn.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		s.state("the nick is free", func(st bridge.State) bool { return st.Nick == "swarm" && !taken(st) })
		proxy.Cut()
		eventually(t, "why it was cut", func() bool { return strings.Contains(s.log.String(), `"the server hung up without giving a reason"`) }, s.log.String)
	})
}
