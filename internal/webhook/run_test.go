package webhook

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// newRun returns a run whose loop has not started, and the folder of its store. The mailbox
// contains messages for the webhook ops.
func newRun(t *testing.T, o dropbox.Options, messages int) (r *run, dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := dropbox.Create(dir); err != nil {
		t.Fatal(err)
	}
	store, err := dropbox.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s, err := New(Options{Store: store, Home: t.TempDir(), Project: "demo", Token: "T", Log: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = s.Set([]Hook{{Name: "ops", Events: journal.Words()}})
	}
	for n := range messages {
		ev := journal.Event{Key: strings.Repeat("k", n+1), At: time.Now(), Notice: &journal.Notice{Word: journal.AgentError, Agent: "coder"}}
		if err == nil {
			err = s.Hear(t.Context(), []journal.Event{ev})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	box, err := store.Mailbox(dropbox.Hooks)
	if err != nil {
		t.Fatal(err)
	}
	r = s.newRun(box, t.Context())
	r.ended = make(chan string, 9)
	return r, dir
}

// waiting returns the waiting messages.
func (r *run) waiting(t *testing.T) []dropbox.Entry {
	t.Helper()
	entries, err := r.mailbox.Peek()
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// spoiled replaces the folder new/ with a file, until the returned function is called.
func spoiled(t *testing.T, dir string) (mend func()) {
	t.Helper()
	fresh := filepath.Join(dir, dropbox.Hooks, "new")
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Rename(fresh, fresh+".away"))
	must(os.WriteFile(fresh, nil, 0o600))
	return func() {
		must(os.Remove(fresh))
		must(os.Rename(fresh+".away", fresh))
	}
}

// The loop sleeps until the earliest message is due, regardless of the order of the
// messages.
func TestTheNextMessageIsNotForgottenForALaterOne(t *testing.T) {
	for _, waits := range [][]time.Duration{{time.Minute, time.Hour}, {time.Hour, time.Minute}} {
		r, _ := newRun(t, dropbox.Options{}, len(waits))
		now := time.Now()
		for i, e := range r.waiting(t) {
			r.state.Waits[e.ID] = Waited{Next: now.Add(waits[i])}
		}
		if after, ok := r.begin(now); !ok || after != time.Minute {
			t.Errorf("waits of %v: the next in %v, %v; want a minute", waits, after, ok)
		}
	}
}

// Nothing is posted while HALT exists.
func TestNoAttemptBeginsWhileHalted(t *testing.T) {
	r, _ := newRun(t, dropbox.Options{}, 1)
	if err := r.o.Store.Halt("stop"); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.begin(time.Now()); ok || r.box.Busy("ops") != 0 {
		t.Errorf("begin: %v, %d attempts", ok, r.box.Busy("ops"))
	}
	if err := r.o.Store.Unhalt(); err != nil {
		t.Fatal(err)
	}
	r.box.LookAgain() // the watcher reports that HALT is gone
	if r.begin(time.Now()); r.busy != 1 {
		t.Errorf("then %d attempts, want one", r.busy)
	}
	r.tries.Wait()
}

// If the mailbox temporarily cannot be listed, its messages keep their waits.
func TestAListingThatFailsForgetsNoWait(t *testing.T) {
	r, dir := newRun(t, dropbox.Options{}, 1)
	now := time.Now()
	r.state.Waits[r.waiting(t)[0].ID] = Waited{Next: now.Add(time.Hour)}
	mend := spoiled(t, dir)
	if _, ok := r.begin(now); ok || len(r.state.Waits) != 1 {
		t.Errorf("begin: %v, waits %v", ok, r.state.Waits)
	}
	mend()
	if after, ok := r.begin(now); !ok || after != time.Hour {
		t.Errorf("then the next is in %v, %v; want an hour", after, ok)
	}
}

// A message that is put back just after the mailbox was listed keeps its wait.
func TestAListingBeforeThePutBackForgetsNoWait(t *testing.T) {
	r, _ := newRun(t, dropbox.Options{}, 1)
	a, err := r.box.Take(r.waiting(t)[0], "ops")
	if err == nil {
		err = r.box.Begin(a)
	}
	if err != nil {
		t.Fatal(err)
	}
	held, entries := r.box.Held(), r.waiting(t)
	r.state.Waits[a.ID] = Waited{Next: time.Now().Add(time.Hour)}
	if err := a.PutBack(true); err != nil {
		t.Fatal(err)
	}
	if r.forget(entries, held); len(entries) != 0 || len(r.state.Waits) != 1 {
		t.Errorf("listed %v, waits %v; want none, and the wait", entries, r.state.Waits)
	}
}

// A message that temporarily cannot be read is not posted. As soon as it can be read, it
// is posted to its webhook.
func TestAMessageThatCannotBeReadIsNotTried(t *testing.T) {
	var r *run
	var dir string
	var mend func()
	r, dir = newRun(t, dropbox.Options{Step: func(st dropbox.Step) error {
		// The service moves the stray file away after the listing and before the first
		// read.
		if st.Op == dropbox.OpMove && strings.HasSuffix(st.Name, "stray.txt") && mend == nil {
			mend = spoiled(t, dir)
		}
		return nil
	}}, 1)
	id := r.waiting(t)[0].ID
	if err := os.WriteFile(filepath.Join(dir, dropbox.Hooks, "new", "stray.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.begin(time.Now())
	if mend == nil || r.busy+len(r.hooks) != 0 || r.box.Holds(id) {
		t.Fatalf("%d attempts, webhooks %v; want none", r.busy, r.hooks)
	}
	mend()
	r.begin(time.Now())
	if r.busy != 1 || r.hooks[id] != "ops" {
		t.Errorf("%d attempts, webhooks %v; want one for ops", r.busy, r.hooks)
	}
	r.tries.Wait()
}

// If a claim fails on disk, the message keeps waiting, and its webhook pauses.
func TestARefusedClaimCostsNoTry(t *testing.T) {
	r, _ := newRun(t, dropbox.Options{Step: func(st dropbox.Step) error {
		if st.Op == dropbox.OpMove && strings.HasPrefix(st.To, "hooks/cur/") {
			return errors.New("disk full")
		}
		return nil
	}}, 1)
	e := r.waiting(t)[0]
	if after, ok := r.begin(time.Now()); !ok || after != diskAgain || r.busy != 0 {
		t.Errorf("%d attempts, the next in %v, %v; want none, and %v", r.busy, after, ok, diskAgain)
	}
	if waits := r.waiting(t); len(waits) != 1 || waits[0].Name != e.Name {
		t.Errorf("waiting %v, want %s", waits, e.Name)
	}
	if after, ok := r.begin(time.Now()); !ok || after <= 0 || after > diskAgain {
		t.Errorf("the next try in %v, %v; want within %v", after, ok, diskAgain)
	}
}

// The severity of the morning event is that of the most severe event of the night.
func TestTheMorningIsAsSevereAsTheWorst(t *testing.T) {
	const info, warning, bad = journal.AgentComplete, journal.LimitReached, journal.AgentError
	for _, test := range []struct {
		night []journal.Word
		want  journal.Severity
	}{
		{nil, journal.Info},
		{[]journal.Word{info}, journal.Info},
		{[]journal.Word{info, warning, info}, journal.Warning},
		{[]journal.Word{bad, warning, info}, journal.Error},
		{[]journal.Word{warning, bad}, journal.Error},
	} {
		ev := journal.Event{Gathers: test.night, Message: &journal.Message{}}
		if got := morningPayload(ev, "demo").Data.Severity; got != test.want {
			t.Errorf("%v: %s, want %s", test.night, got, test.want)
		}
	}
}

// A state that cannot be read is an error. If it were treated as an empty state, all
// waits would be lost.
func TestAStateThatCannotBeRead(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(StateFile(home), 0o700); err != nil {
		t.Fatal(err)
	}
	if st, err := ReadState(home); err == nil {
		t.Errorf("state %v, want an error", st)
	}
}

// A state that contains a time that JSON cannot represent does not replace the state on
// disk.
func TestAStateThatCannotBeWritten(t *testing.T) {
	home := t.TempDir()
	good := State{V: 1, Waits: map[string]Waited{"a": {Why: "it was away"}}}
	if err := good.write(home); err != nil {
		t.Fatal(err)
	}
	bad := State{V: 1, Waits: map[string]Waited{"a": {Next: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}}}
	if err := bad.write(home); err == nil {
		t.Error("a state of the year 10000 is written")
	}
	if st, err := ReadState(home); err != nil || st.Waits["a"].Why != "it was away" {
		t.Errorf("state %v, %v", st, err)
	}
}
