package hold_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A halt ends 200 ms after a person removed HALT. If another program removed the store's other
// files too, the halt goes on, and HALT can be restored with its reason.
func TestHalted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t)
		h := hold.NewHalted(store)
		held := func(want bool, wait time.Duration) {
			t.Helper()
			q := about(journal.Hold{})
			q.Now = time.Now()
			got, is := h.Now(q)
			switch {
			case is != want:
				t.Fatalf("halted: %v, want %v", is, want)
			case !is:
			case got.Kind != hold.KindHalted || got.State != "paused" || got.Why != hold.WhyHalted || got.Next != "claude-swarm unhalt":
				t.Errorf("shown as %+v", got)
			case wait == 0 && !got.Until.IsZero(), wait != 0 && !got.Until.Equal(q.Now.Add(wait)):
				t.Errorf("until %v at %v, want %v", got.Until, q.Now, wait)
			}
		}
		do := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		held(false, 0)
		do(h.Restore()) // nothing to restore
		held(false, 0)

		do(store.Halt("lunch"))
		held(true, 0)
		if h.Ends() {
			t.Error("the halt ends, although HALT is there")
		}
		do(store.Unhalt())
		if !h.Ends() {
			t.Error("the halt does not end, although a person removed HALT")
		}
		held(true, 200*time.Millisecond)
		time.Sleep(150 * time.Millisecond)
		held(true, 50*time.Millisecond)
		time.Sleep(50 * time.Millisecond)
		held(false, 0)

		do(store.Halt("the whole folder is cleaned"))
		held(true, 0)
		do(store.Unhalt())
		held(true, 200*time.Millisecond)
		lock := filepath.Join(store.Dir(), ".lock")
		aside := lock + ".aside"
		do(os.Rename(lock, aside))
		time.Sleep(time.Second)
		held(true, 200*time.Millisecond)
		if h.Ends() {
			t.Error("the halt ends, although the lock's file is gone too")
		}
		do(h.Restore())
		if why := store.HaltReason(); why != "the whole folder is cleaned" {
			t.Errorf("restored as %q", why)
		}
		do(os.Rename(aside, lock))
		held(true, 0)
		do(store.Unhalt())
		held(true, 200*time.Millisecond) // the time counts from the last removal
	})
}

// A clock that is set back while HALT is missing does not lengthen the halt.
func TestAClockThatIsSetLengthensNoHalt(t *testing.T) {
	store := newStore(t)
	h := hold.NewHalted(store)
	q := about(journal.Hold{})
	if err := store.Halt(""); err != nil {
		t.Fatal(err)
	}
	if _, is := h.Now(q); !is {
		t.Fatal("not halted")
	}
	if err := store.Unhalt(); err != nil {
		t.Fatal(err)
	}
	if _, is := h.Now(q); !is {
		t.Fatal("the halt ended at once")
	}
	q.Now = noon.Add(-time.Hour)
	if _, is := h.Now(q); is {
		t.Error("halted for another hour")
	}
}
