package ircbridge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

// leaveAt adds a message to irc/ that has been waiting since the given time.
func (s *scene) leaveAt(at time.Time, m *dropbox.Message) string {
	s.Helper()
	past, err := dropbox.Open(s.store.Dir(), dropbox.Options{Now: func() time.Time { return at }})
	if err != nil {
		s.Fatal(err)
	}
	defer past.Close()
	d, err := past.Deliver("irc", m)
	if err != nil {
		s.Fatal(err)
	}
	return d.ID
}

// After an hour without IRC, one line in a channel reports how many turns began and
// ended, and the newest copies are still posted. All messages that people are waiting for
// are posted.
func TestWhatWaitedIsFolded(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		ann := newPerson(t, addr, "ann", "#project-x", "#standup-x", "#alerts")
		since := time.Now().Add(-time.Hour)
		n := 0
		copied := func(at time.Time, channel string, kind dropbox.Type, from string, p dropbox.Priority, note bridge.Origin, text string) string {
			n++
			note.Channel, note.About = channel, "aaaabbbbcc"
			return s.leaveAt(at.Add(time.Duration(n)*time.Millisecond), &dropbox.Message{From: from, Type: kind, Priority: p, Body: []byte(text), Extra: note.Extra(ircbridge.Name)})
		}
		begins, ends := bridge.Origin{To: "coder", Announces: bridge.Begun}, bridge.Origin{To: "tester", Announces: bridge.Ended}
		var folded []string
		for i := range 30 {
			folded = append(folded, copied(since, "#standup-x", dropbox.Task, "tester", dropbox.Low, begins, fmt.Sprintf("job %d", i)))
			if i == 10 {
				copied(since, "#standup-x", dropbox.Result, "coder", dropbox.Low, bridge.Origin{To: "lead", Announces: bridge.Ended}, "your door is green")
			}
			folded = append(folded, copied(since, "#standup-x", dropbox.Result, "coder", dropbox.Low, ends, fmt.Sprintf("job %d", i)))
		}
		kept := folded[len(folded)-3:]
		folded = folded[:len(folded)-3]
		for i := range 4 { // too few copies to fold
			copied(since, "#project-x", dropbox.Task, "lead", dropbox.Low, bridge.Origin{To: "coder"}, fmt.Sprintf("wish %d", i))
		}
		copied(since, "#alerts", dropbox.Status, "swarm", dropbox.Normal, bridge.Origin{Announces: bridge.Alert}, "[ERROR] coder is stopped")
		own := s.leaveAt(since, &dropbox.Message{From: "coder", Type: dropbox.Note, Priority: dropbox.Low, Body: []byte("I say so myself"), Extra: bridge.Origin{Channel: "#standup-x"}.Extra(ircbridge.Name)})
		for i := range 6 { // these copies have been waiting for only a minute
			copied(time.Now().Add(-time.Minute), "#standup-x", dropbox.Task, "tester", dropbox.Low, begins, fmt.Sprintf("late job %d", i))
		}
		s.start()
		ann.sees("#standup-x swarm: [coder] begins: late job 5 (from tester)")
		ann.sees("#alerts swarm: [swarm] [ERROR] coder is stopped")
		ann.sees("#project-x swarm: [lead] to coder: wish 3")
		for _, id := range append(folded, kept...) {
			s.where(id, dropbox.Done)
		}
		var standup []string
		for _, l := range ann.lines() {
			if text, ok := strings.CutPrefix(l, "#standup-x swarm: "); ok {
				standup = append(standup, text)
			}
		}
		want := []string{
			"[swarm] 29 turns began and 28 ended while IRC was away: claude-swarm history AGENT",
			"[coder] I say so myself", "[coder] done: your door is green",
			"[coder] done: job 28", "[coder] begins: job 29 (from tester)", "[coder] done: job 29",
		}
		for i := range 6 {
			want = append(want, fmt.Sprintf("[coder] begins: late job %d (from tester)", i))
		}
		if !slices.Equal(standup, want) {
			t.Errorf("said in #standup-x:\n%s\nwant\n%s", strings.Join(standup, "\n"), strings.Join(want, "\n"))
		}
		for _, id := range folded {
			if r := receiptOf(t, s.store, id); !strings.Contains(r, "outcome: not shown") || !strings.Contains(r, "while IRC was away, and is counted in ") {
				t.Fatalf("the receipt of what was folded: %s", r)
			}
		}
		for _, id := range append(kept, own) {
			if r := receiptOf(t, s.store, id); !strings.Contains(r, "outcome: said") {
				t.Errorf("the receipt of what was kept: %s", r)
			}
		}
		// A new message is posted as usual, even if the clock was set back.
		copied(since, "#standup-x", dropbox.Result, "coder", dropbox.Low, ends, "the last job")
		ann.sees("#standup-x swarm: [coder] done: the last job")
	})
}

// If a bridge ends after it has delivered the line that replaces copies, the next bridge
// does not deliver that line again.
func TestAFoldGoesOn(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		ann := newPerson(t, addr, "ann", "#standup-x")
		var ids []string
		for i := range 10 {
			ids = append(ids, s.leaveAt(time.Now().Add(time.Duration(i-1000)*time.Second), &dropbox.Message{From: "tester", Type: dropbox.Task, Priority: dropbox.Low,
				Body: []byte("job"), Extra: bridge.Origin{Channel: "#standup-x", About: "aaaabbbbcc", To: "coder", Announces: bridge.Begun}.Extra(ircbridge.Name)}))
		}
		s.leave(&dropbox.Message{From: "irc", Type: dropbox.Note, Key: "irc-fold-" + ids[6], Body: []byte("7 turns began before"), Extra: bridge.Origin{Channel: "#standup-x", About: ids[6]}.Extra(ircbridge.Name)})
		s.start()
		for _, id := range ids {
			s.where(id, dropbox.Done)
		}
		want := []string{"#standup-x swarm: [swarm] 7 turns began before"}
		for range 3 {
			want = append(want, "#standup-x swarm: [coder] begins: job (from tester)")
		}
		eventually(t, "all is said", func() bool { return len(ann.lines()) >= len(want) })
		if got := ann.lines(); !slices.Equal(got, want) {
			t.Errorf("said: %q, want %q", got, want)
		}
	})
}
