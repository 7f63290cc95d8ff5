package hold

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// haltDoubt is how long the daemon waits after HALT was removed before it believes that a
// person removed it. A program that deletes all files, such as git clean, deletes the
// store's other files in that time.
const haltDoubt = 200 * time.Millisecond

// WhyHalted is the reason that the status shows for an agent that [Halted] holds.
const WhyHalted = "everything is halted"

// KindHalted is the kind of [Halted].
const KindHalted Kind = "halted"

// Halted holds all agents while the file HALT exists. It remembers that everything is halted:
// removing HALT ends the halt, unless the store's other files are deleted with it. It is safe
// for concurrent use.
type Halted struct {
	store *dropbox.Store

	mu   sync.Mutex
	on   bool
	why  string    // the content of HALT
	gone time.Time // when HALT was found to be missing; zero if it is there
}

// NewHalted returns the hold of a store's file HALT.
func NewHalted(store *dropbox.Store) *Halted { return &Halted{store: store} }

// Now implements [Hold].
func (h *Halted) Now(q Query) (Held, bool) {
	again, halted := h.holds(q.Now)
	return Held{Kind: KindHalted, State: paused, Until: again, Why: WhyHalted, Next: "claude-swarm unhalt"}, halted
}

// holds reports whether everything is halted. If it is and the answer may change without
// another event, holds also returns when.
func (h *Halted) holds(now time.Time) (again time.Time, halted bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.store.Halted():
		if !h.on {
			h.on, h.why = true, h.store.HaltReason()
		}
		h.gone = time.Time{}
		return time.Time{}, true
	case !h.on:
		return time.Time{}, false
	case h.cleaned():
		return now.Add(haltDoubt), true // the sweep recreates HALT
	case h.gone.IsZero():
		h.gone = now
	}
	if left := haltDoubt - now.Sub(h.gone); left > 0 && left <= haltDoubt {
		return now.Add(left), true
	}
	h.on, h.gone = false, time.Time{}
	return time.Time{}, false
}

// Ends reports whether HALT was removed and the halt ends within haltDoubt, although it still
// holds the agents.
func (h *Halted) Ends() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.store.Halted() && !h.cleaned()
}

// cleaned reports whether the store's other files are missing too. A person removes HALT
// alone. The caller holds the mutex.
func (h *Halted) cleaned() bool {
	return h.store.Deleted() || h.store.LockLost() || isMissing(filepath.Join(h.store.Dir(), ".lock"))
}

// Restore creates HALT again if it was deleted together with the store's other files.
func (h *Halted) Restore() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.on || h.store.Halted() {
		return nil
	}
	return h.store.Halt(h.why)
}

func isMissing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}
