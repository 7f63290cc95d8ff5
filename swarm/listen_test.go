package swarm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// A hearer records the events that it receives.
type hearer struct {
	mu     sync.Mutex
	events []journal.Event
	calls  int
	err    error // the error that it returns
}

func (h *hearer) Hear(_ context.Context, events []journal.Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls++
	if h.err != nil {
		return h.err
	}
	h.events = append(h.events, events...)
	return nil
}

func (h *hearer) answer(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = err
}

// called counts how often it was called.
func (h *hearer) called() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls
}

// of counts the events with the given key.
func (h *hearer) of(key string) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, ev := range h.events {
		if ev.Key == key {
			n++
		}
	}
	return n
}

func (f *field) listen(h *hearer) {
	f.listeners = []notice.Listener{{Name: "test", Behind: "the test is behind", Hear: h.Hear}}
}

func TestAListenerHearsOfTurns(t *testing.T) {
	f := newField(t, "coder")
	h := &hearer{}
	f.listen(h)
	f.start()
	id := f.send("coder", "@say done")
	f.answer(id)
	f.until("it heard the result", func() bool { return h.of("result-"+id) == 1 })
	h.mu.Lock()
	got := slices.Clone(h.events)
	h.mu.Unlock()
	if len(got) != 2 || got[0].Kind != journal.Begun || got[0].Agent != "coder" || got[0].Message.Body != "@say done\n" && got[0].Message.Body != "@say done" {
		t.Fatalf("heard %+v", got)
	}
	r := f.receipt("coder", id)
	if ev := got[1]; ev.Turn == nil || ev.Turn.ID != r.Turn || ev.Turn.Outcome != "done" || ev.Turn.CostUSD != r.CostUSD || ev.Of.ID != id || ev.To != dropbox.Lead {
		t.Errorf("the result is %+v, of a turn %+v", ev, ev.Turn)
	}
	bad := f.send("coder", "@noresult")
	f.until("it heard that the message was given up", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return slices.ContainsFunc(h.events, func(ev journal.Event) bool { return ev.Kind == journal.Dead && ev.About == bad })
	})
	if n := h.of("failed-" + bad + "-1"); n != 1 {
		t.Errorf("it heard %d times of the first failure", n)
	}
}

// A listener that fails gets the same event again. In the meantime the status reports the
// failure, and the other listeners continue.
func TestAListenerThatFails(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder")
		h := &hearer{}
		f.listen(h)
		f.start()
		h.answer(errors.New("nobody is at home"))
		id := f.send("coder", "@status 401")
		f.told("(401)")
		f.until("the status complains", func() bool { return f.troubled("the test is behind: nobody is at home") })
		h.answer(nil)
		f.until("it heard of the alert", func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			return slices.ContainsFunc(h.events, func(ev journal.Event) bool { return ev.Kind == journal.Alert && ev.Agent == "coder" })
		})
		f.until("the complaint goes", func() bool { return !f.troubled("the test is behind") })
		if n := h.of("begun-" + id); n != 1 {
			t.Errorf("it heard %d times that the turn began", n)
		}
	})
}

// The next daemon delivers the events that were in the list when the previous daemon
// crashed. An alert that had already been delivered is not delivered again.
func TestListenersGoOnAfterACrash(t *testing.T) {
	f := newField(t, "coder")
	h := &hearer{}
	f.listen(h)
	f.start()
	f.halt()
	before := h.called()
	list := journal.Open(journal.HomeOf(f.dir).Dir(), durable.Files{}, nil)
	alert := journal.Event{Kind: journal.Alert, Key: "deps:1", To: dropbox.Lead, Message: &journal.Message{
		From: dropbox.Swarm, To: []string{dropbox.Lead}, Type: dropbox.Status, Subject: "the deps burns", Key: "deps:1", Body: "Come.\n",
	}}
	for range 2 { // as if the daemon had been killed and repeated its last step
		if err := list.Add(alert); err != nil {
			t.Fatal(err)
		}
	}
	f.start()
	f.told("Come.")
	f.until("the listener heard it", func() bool { return h.of("deps:1") == 2 })
	if n := len(f.subjects("the deps burns")); n != 1 {
		t.Errorf("the lead was told %d times", n)
	}
	if h.called() == before {
		t.Error("the listener was not called when the daemon started")
	}
}

// If the agent that was the lead has been removed, its alerts are sent to the person.
func TestAnAlertForAnAgentThatIsGone(t *testing.T) {
	f := newField(t, "coder")
	list := journal.Open(journal.HomeOf(f.dir).Dir(), durable.Files{}, nil)
	f.start()
	f.halt()
	if err := list.Add(journal.Event{Kind: journal.Alert, Key: "deps:1", To: "planner", Message: &journal.Message{
		From: dropbox.Swarm, To: []string{"planner"}, Type: dropbox.Task, Subject: "the deps burns", Key: "deps:1", Body: "Come.\n",
	}}); err != nil {
		t.Fatal(err)
	}
	f.start()
	if m := f.told("Come."); m.Type != dropbox.Status || !slices.Equal(m.To, []string{dropbox.Lead}) {
		t.Errorf("the person was told %+v", m)
	}
}

// A listener that the configuration does not need has no cursor. Once a reload turns it on, it
// hears what happens from then on; once it is turned off, its cursor is gone.
func TestAListenerThatIsOff(t *testing.T) {
	f := newField(t, "coder")
	h := &hearer{}
	var on atomic.Bool
	f.listeners = []notice.Listener{{Name: "test", Behind: "the test is behind", Hear: h.Hear, On: on.Load}}
	cursor := filepath.Join(f.dir, ".claude-swarm", "cursors", "test.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(cursor), 0o700), os.WriteFile(cursor, []byte(`{"v":1,"seq":0}`), 0o600)); err != nil { // an earlier version kept one
		t.Fatal(err)
	}
	exists := func() bool {
		_, err := os.Stat(cursor)
		return err == nil
	}
	f.start()
	f.answer(f.send("coder", "@say first"))
	if exists() || h.called() != 0 {
		t.Errorf("while it is off, it was called %d times; it has a cursor: %t", h.called(), exists())
	}
	on.Store(true)
	f.daemon.ListenersChanged()
	if !exists() {
		t.Error("it is on, and has no cursor")
	}
	id := f.send("coder", "@say second")
	f.answer(id)
	f.until("it heard the result", func() bool { return h.of("result-"+id) == 1 })
	h.mu.Lock()
	if got := h.events[0]; got.About != id {
		t.Errorf("it first heard of %s, want %s", got.About, id)
	}
	h.mu.Unlock()
	on.Store(false)
	f.daemon.ListenersChanged()
	if exists() {
		t.Error("it is off, and has a cursor")
	}
}
