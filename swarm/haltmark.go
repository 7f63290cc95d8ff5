package swarm

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// haltDoubt is how long the daemon waits after HALT was removed before it believes that a
// person removed it. A program that deletes all files, such as git clean, deletes the
// store's other files in that time.
const haltDoubt = 200 * time.Millisecond

// A haltMark remembers that everything is halted. Removing HALT ends the halt, unless the
// store's other files are deleted with it. It is safe for concurrent use.
type haltMark struct {
	store *dropbox.Store

	mu   sync.Mutex
	on   bool
	why  string    // the content of HALT
	gone time.Time // when HALT was found to be missing; zero if it is there
}

// holds reports whether everything is halted. If it is, holds also returns how long to wait
// before the next check.
func (h *haltMark) holds(now time.Time) (again time.Duration, halted bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.store.Halted():
		if !h.on {
			h.on, h.why = true, h.store.HaltReason()
		}
		h.gone = time.Time{}
		return forever, true
	case !h.on:
		return 0, false
	case h.cleaned():
		return haltDoubt, true // the sweep recreates HALT
	case h.gone.IsZero():
		h.gone = now
	}
	if left := haltDoubt - now.Sub(h.gone); left > 0 && left <= haltDoubt {
		return left, true
	}
	h.on, h.gone = false, time.Time{}
	return 0, false
}

// whyHalted is the reason that the status shows for an agent that is held by HALT.
const whyHalted = "everything is halted"

// ends reports whether HALT was removed and the halt ends within haltDoubt, although it still
// holds the agents.
func (h *haltMark) ends() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.store.Halted() && !h.cleaned()
}

// cleaned reports whether the store's other files are missing too. A person removes HALT
// alone. The caller holds the mutex.
func (h *haltMark) cleaned() bool {
	return h.store.Deleted() || h.store.LockLost() || isMissing(filepath.Join(h.store.Dir(), ".lock"))
}

// restore creates HALT again if it was deleted together with the store's other files.
func (h *haltMark) restore() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.on || h.store.Halted() {
		return nil
	}
	return h.store.Halt(h.why)
}
