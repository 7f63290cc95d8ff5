package outbox_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/outbox"
)

// A step that the disk refuses is kept. TakeUp reports the error, and does not put the message
// back. The target is free for other messages in the meantime.
func TestARefusedLastStepIsKept(t *testing.T) {
	var full atomic.Bool
	wk, end := newWorld(t).start(func(dropbox.Step) error {
		if full.Load() {
			return errNoSpace
		}
		return nil
	}, alive)
	defer end()
	list := wk.beginAll()
	for _, a := range list[1:] {
		ok(t, a.Leave())
		wk.kept[a.ID] = true
	}
	a, target := list[0], list[0].ID[:1]
	if wk.box.Busy(target) != 1 {
		t.Errorf("%d attempts for the target, want 1", wk.box.Busy(target))
	}
	full.Store(true)
	if err := a.File(canceled(), []byte("receipt\n")); !errors.Is(err, errNoSpace) {
		t.Errorf("File = %v, want the disk's error", err)
	}
	if err := wk.box.TakeUp(); !errors.Is(err, errNoSpace) || !wk.box.Holds(a.ID) || wk.box.Busy(target) != 0 {
		t.Errorf("TakeUp = %v, holds %v, busy %d; want the error, the message, and none", err, wk.box.Holds(a.ID), wk.box.Busy(target))
	}
	if err := a.PutBack(false); !errors.Is(err, outbox.ErrOver) {
		t.Errorf("PutBack of a message whose outcome is known = %v", err)
	}
	full.Store(false)
	ok(t, wk.box.TakeUp())
	if wk.box.Holds(a.ID) || wk.count(dropbox.Done) != 1 || wk.count(dropbox.Waiting) != 0 {
		t.Errorf("%d done, %d waiting; want 1 and none", wk.count(dropbox.Done), wk.count(dropbox.Waiting))
	}
}

// A step that the disk always refuses holds up neither the other steps nor the messages that a
// crash left.
func TestOneRefusalHoldsUpNoOther(t *testing.T) {
	var bad, other string
	wk, end := newWorld(t).start(func(st dropbox.Step) error {
		if bad != "" && strings.Contains(st.To, bad) || other != "" && strings.Contains(st.To, other) {
			return errNoSpace
		}
		return nil
	}, alive)
	defer end()
	entries, err := wk.mailbox.List()
	ok(t, err)
	for i, e := range entries[:2] { // a crash left these
		c, err := wk.mailbox.Claim(e)
		ok(t, err)
		if i == 0 {
			ok(t, wk.mailbox.Commit(c.Entry, []byte("receipt\n")))
		}
	}
	list := wk.beginAll()
	bad, other = list[0].ID, list[1].ID
	for _, a := range list[:2] {
		if err := a.File(canceled(), []byte("receipt\n")); err == nil {
			t.Error("the disk refuses nothing")
		}
	}
	other = ""
	for wk.box.Holds(list[1].ID) {
		if err := wk.box.TakeUp(); !errors.Is(err, errNoSpace) {
			t.Fatalf("TakeUp = %v, want the disk's error", err)
		}
	}
	if done, waits := wk.count(dropbox.Done), wk.count(dropbox.Waiting); done != 2 || waits != 1 || !wk.box.Holds(bad) {
		t.Errorf("%d done, %d waiting, holds the first: %v; want 2, 1 and true", done, waits, wk.box.Holds(bad))
	}
}

// If the disk does not confirm the claims, Begin fails, and the messages are not tried.
func TestARefusedClaim(t *testing.T) {
	var full atomic.Bool
	wk, end := newWorld(t).start(func(st dropbox.Step) error {
		if full.Load() && st.Op == dropbox.OpSyncDir && st.Name == "out/cur" {
			return errNoSpace
		}
		return nil
	}, alive)
	defer end()
	list := wk.takeAll()
	full.Store(true)
	if err := wk.box.Begin(list...); !errors.Is(err, errNoSpace) {
		t.Errorf("Begin = %v, want the disk's error", err)
	}
	if err := list[0].GiveUp(t.Context(), "no"); !errors.Is(err, outbox.ErrOver) {
		t.Errorf("GiveUp before Begin = %v", err)
	}
	full.Store(false)
	for _, a := range list {
		ok(t, a.Release())
	}
	entries, err := wk.mailbox.List()
	ok(t, err)
	for _, e := range entries {
		if e.Begun != 0 || e.Failed != 0 {
			t.Errorf("%s: %d attempts began and %d failed, want none", e.Name, e.Begun, e.Failed)
		}
	}
}

// A step that the disk refuses is tried again after a pause, as often as the options say. A
// worker that ends does not pause.
func TestTheLastStepIsTriedAgain(t *testing.T) {
	world := newWorld(t)
	for refusals, want := range map[int64]struct {
		ended bool // the worker ends
		done  bool
		after time.Duration
	}{
		0: {done: true},
		1: {done: true, after: 100 * time.Millisecond},
		3: {done: true, after: 700 * time.Millisecond},
		2: {done: true, ended: true},
		4: {after: 700 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			store := world.again(t).open(nil)
			defer store.Close()
			mailbox, err := store.Mailbox("out")
			ok(t, err)
			tries := int64(0)
			box := outbox.New(mailbox, outbox.Options{Tries: 3, Tell: func(*dropbox.Claim, string, time.Time) error {
				if tries++; tries <= refusals {
					return errNoSpace
				}
				return nil
			}})
			entries, err := mailbox.List()
			ok(t, err)
			a, err := box.Take(entries[0], "")
			ok(t, err)
			ok(t, box.Begin(a))
			ctx := t.Context()
			if want.ended {
				ctx = canceled()
			}
			began := time.Now()
			err = a.GiveUp(ctx, "no")
			if took := time.Since(began); (err == nil) != want.done || took != want.after || box.Holds(a.ID) == want.done {
				t.Errorf("%d refusals: GiveUp = %v after %v, want done %v after %v", refusals, err, took, want.done, want.after)
			}
			if err == nil && tries != refusals+1 || err != nil && tries != 4 {
				t.Errorf("%d refusals: tried %d times", refusals, tries)
			}
		})
	}
}

// The sender is told only after the reason is durable.
func TestNoNoticeWithoutAReason(t *testing.T) {
	wk, end := newWorld(t).start(func(st dropbox.Step) error {
		if strings.HasPrefix(st.To, "out/dead/") {
			return errNoSpace
		}
		return nil
	}, alive)
	defer end()
	a := wk.beginAll()[0]
	if err := a.GiveUp(canceled(), "no"); !errors.Is(err, errNoSpace) {
		t.Errorf("GiveUp = %v, want the disk's error", err)
	}
	if told, _ := filepath.Glob(filepath.Join(wk.dir, "coder/new/*.md")); len(told) != 0 {
		t.Errorf("the sender was told %d times", len(told))
	}
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
