package outbox_test

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
)

func alive() bool { return false }

// takeAll takes all messages that wait.
func (wk *worker) takeAll() (list []*outbox.Attempt) {
	wk.t.Helper()
	entries, err := wk.mailbox.List()
	ok(wk.t, err)
	for _, e := range entries {
		a, err := wk.box.Take(e, string(e.ID[0]))
		ok(wk.t, err)
		list = append(list, a)
	}
	return list
}

// beginAll takes and begins all messages that wait.
func (wk *worker) beginAll() []*outbox.Attempt {
	wk.t.Helper()
	list := wk.takeAll()
	ok(wk.t, wk.box.Begin(list...))
	return list
}

// count returns how many messages are in a state.
func (w *world) count(s dropbox.State) (n int) {
	w.t.Helper()
	for _, at := range w.stages() {
		if at.states[0] == s {
			n++
		}
	}
	return n
}

// HALT prevents claims, but not the end of attempts that have begun.
func TestHaltWhileWorking(t *testing.T) {
	wk, end := newWorld(t).start(nil, alive)
	defer end()
	store := wk.open(nil)
	defer store.Close()
	list := wk.beginAll()
	ok(t, list[0].PutBack(true))
	ok(t, store.Halt("stop"))
	entries, err := wk.mailbox.List()
	ok(t, err)
	if wk.box.Halted() {
		t.Error("halted before a claim was tried")
	}
	if _, err := wk.box.Take(entries[0], ""); !errors.Is(err, dropbox.ErrHalted) || !wk.box.Halted() {
		t.Errorf("Take = %v, halted %v; want ErrHalted", err, wk.box.Halted())
	}
	ok(t, list[1].File(t.Context(), []byte("receipt\n")))
	ok(t, list[2].GiveUp(t.Context(), "no"))
	if done, dead := wk.count(dropbox.Done), wk.count(dropbox.Dead); done != 1 || dead != 1 {
		t.Errorf("%d done, %d dead while halted; want one of each", done, dead)
	}
	ok(t, store.Unhalt())
	ok(t, wk.box.TakeUp())
	if _, err := wk.box.Take(entries[0], ""); err != nil || wk.box.Halted() {
		t.Errorf("Take = %v after HALT, halted %v", err, wk.box.Halted())
	}
}

// Each step is allowed only in the states that the package comment shows.
func TestTheStepsOfAnAttempt(t *testing.T) {
	ctx := t.Context()
	steps := map[string]func(*worker, *outbox.Attempt) error{
		"Begin":   func(wk *worker, a *outbox.Attempt) error { return wk.box.Begin(a) },
		"File":    func(_ *worker, a *outbox.Attempt) error { return a.File(ctx, []byte("receipt\n")) },
		"GiveUp":  func(_ *worker, a *outbox.Attempt) error { return a.GiveUp(ctx, "no") },
		"PutBack": func(_ *worker, a *outbox.Attempt) error { return a.PutBack(false) },
		"Release": func(_ *worker, a *outbox.Attempt) error { return a.Release() },
		"Leave":   func(_ *worker, a *outbox.Attempt) error { return a.Leave() },
	}
	world := newWorld(t)
	for _, c := range []struct {
		before, allowed string
	}{
		{"", "Begin Release"},
		{"Begin", "File GiveUp PutBack Release Leave"},
		{"Begin File", ""}, {"Begin GiveUp", ""}, {"Begin PutBack", ""}, {"Begin Leave", ""}, {"Release", ""},
	} {
		for name, step := range steps {
			wk, end := world.again(t).start(nil, alive)
			entries, err := wk.mailbox.List()
			ok(t, err)
			a, err := wk.box.Take(entries[0], "")
			ok(t, err)
			if _, err := wk.box.Take(entries[0], ""); !errors.Is(err, outbox.ErrOver) {
				t.Errorf("the second Take = %v, want ErrOver", err)
			}
			for before := range strings.FieldsSeq(c.before) {
				ok(t, steps[before](wk, a))
			}
			want := strings.Contains(" "+c.allowed+" ", " "+name+" ")
			if err := step(wk, a); (err == nil) != want || err != nil && !errors.Is(err, outbox.ErrOver) {
				t.Errorf("%q, then %s: %v, want it allowed: %v", c.before, name, err, want)
			}
			end()
		}
	}
}

// A message whose file comes back, for example from a backup, is filed and not tried again.
func TestAMessageThatComesBack(t *testing.T) {
	world := newWorld(t)
	wk, end := world.start(nil, alive)
	defer end()
	a := wk.beginAll()[0]
	ok(t, a.File(t.Context(), []byte("receipt\n")))
	filed, err := filepath.Glob(filepath.Join(world.dir, "out/done/*", a.Base()+".md"))
	if err != nil || len(filed) != 1 {
		t.Fatal(filed, err)
	}
	ok(t, os.Rename(filed[0], filepath.Join(world.dir, "out/new", a.FileName())))
	back := wk.takeAll()
	if len(back) != 1 || !back[0].Done {
		t.Fatalf("taken %v, want the message, which is done", back)
	}
	ok(t, back[0].File(t.Context(), nil))
	if n := wk.count(dropbox.Done); n != 1 {
		t.Errorf("%d done, want 1", n)
	}
}

// A target pauses for a while. Other targets do not.
func TestATargetThatPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box := outbox.New(nil, outbox.Options{})
		if !box.PausedUntil("a").IsZero() || !box.Pause("a") || box.Pause("a") {
			t.Error("the first Pause begins a pause, and no other does")
		}
		if until := box.PausedUntil("a"); time.Until(until) != 5*time.Second || !box.PausedUntil("b").IsZero() {
			t.Errorf("it pauses until %v", until)
		}
		time.Sleep(5 * time.Second)
		if !box.PausedUntil("a").IsZero() || !box.Pause("a") {
			t.Error("it still pauses")
		}
	})
}

// Messages that begin together share one sync.
func TestClaimsShareASync(t *testing.T) {
	syncs := 0
	wk, end := newWorld(t).start(func(st dropbox.Step) error {
		if st.Op == dropbox.OpSyncDir && st.Name == "out/cur" {
			syncs++
		}
		return nil
	}, alive)
	defer end()
	if list := wk.beginAll(); syncs != 1 {
		t.Errorf("%d syncs for %d claims, want 1", syncs, len(list))
	}
}
