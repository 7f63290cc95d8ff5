package outbox_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/outbox"
)

// A panic gives the message of the attempt up, and then reaches the worker. Other attempts go
// on to their end.
func TestAPanicGivesTheMessageUp(t *testing.T) {
	wk, end := newWorld(t).start(nil, alive)
	defer end()
	list := wk.beginAll()
	panicked := outbox.Try("an attempt", func() { panic("a bug") }, func(why string) {
		ok(t, list[0].GiveUp(t.Context(), why))
		panic("another")
	})
	first, rest, _ := strings.Cut(panicked, "\n")
	if first != "a bug" || !strings.Contains(rest, "in an attempt:") || !strings.Contains(rest, "panic_test.go") || !strings.Contains(rest, "and then: another\n") {
		t.Errorf("panicked = %q", panicked)
	}
	reason, err := wk.mailbox.Reason(list[0].Entry)
	if err != nil || reason != "a bug" {
		t.Errorf("reason %q, %v", reason, err)
	}
	ok(t, list[1].File(t.Context(), []byte("receipt\n")))
	if panicked := outbox.Try("an attempt", func() {}, func(string) { t.Error("given up") }); panicked != "" {
		t.Errorf("panicked = %q without a panic", panicked)
	}
}

// A message whose last step panics can still be given up.
func TestAPanicInTheLastStep(t *testing.T) {
	var bug atomic.Bool
	wk, end := newWorld(t).start(func(dropbox.Step) error {
		if bug.Swap(false) {
			panic("a bug")
		}
		return nil
	}, alive)
	defer end()
	list := wk.beginAll()
	bug.Store(true)
	panicked := outbox.Try("an attempt", func() { ok(t, list[0].File(t.Context(), []byte("receipt\n"))) }, func(why string) {
		ok(t, list[0].GiveUp(t.Context(), why))
	})
	if !strings.HasPrefix(panicked, "a bug\n") || wk.count(dropbox.Dead) != 1 {
		t.Errorf("panicked = %q, %d dead", panicked, wk.count(dropbox.Dead))
	}
	ok(t, list[1].File(t.Context(), []byte("receipt\n"))) // the queue of filings still works
}
