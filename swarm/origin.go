package swarm

import (
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// clockSlack is how much older than it is a file may look: file systems stamp
// by a clock that ticks every few milliseconds.
const clockSlack = 20 * time.Millisecond

// A pastTurn is the turn that an agent ended last.
type pastTurn struct {
	rec   *record
	ended time.Time // its client
}

// turnAt is the turn of the agent in which a file was written at that time: the
// running one, or the one before; nil when it was neither.
func (r *reins) turnAt(written time.Time) *record {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.current != nil && !written.Before(r.current.Begun.Add(-clockSlack)):
		return r.current
	case r.past.rec != nil && !written.Before(r.past.rec.Begun.Add(-clockSlack)) && !written.After(r.past.ended):
		return r.past.rec
	}
	return nil
}

// inherited is what a file that was laid into an agent's folder takes over when
// a turn wrote it, its own or that of an agent whose tools named the folder:
// thread, trace and one hop more, so that agents that write files to themselves
// and each other are stopped as those that send messages are. Any other file
// begins a conversation of its own. Who wrote it is not known, so it comes from
// the lead all the same, and the answer goes there.
func (a *agent) inherited(st dropbox.Stray) dropbox.Defaults {
	d := dropbox.Defaults{From: dropbox.Lead}
	rec := a.reins.turnAt(st.ModTime)
	// Where both may have written it, the longer way counts: it ends sooner.
	if other := a.reach.turnAt(a.name, st.ModTime); rec == nil || other != nil && other.Hops > rec.Hops {
		rec = other
	}
	if rec != nil {
		d.Thread, d.Trace, d.Hops = rec.Thread, rec.Trace, rec.Hops+1
		d.Path = append(slices.Clone(rec.Path), rec.Agent)
	}
	return d
}

// reach remembers whose turn last named the folder of a mailbox in a call of a
// tool. It is safe for several goroutines, and holds one entry a mailbox.
type reach struct {
	folder *regexp.Regexp // finds a mailbox's name behind the store's folder
	mu     sync.Mutex
	by     map[string]*agent
}

func newReach(store string) *reach {
	return &reach{
		folder: regexp.MustCompile(regexp.QuoteMeta(filepath.Base(store)) + `/([a-z0-9][a-z0-9_-]{0,31})`),
		by:     map[string]*agent{},
	}
}

// called notes the mailboxes that a call of one of an agent's tools names.
func (r *reach) called(by *agent, input []byte) {
	found := r.folder.FindAllSubmatch(input, 16)
	if len(found) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range found {
		if name := string(m[1]); name != by.name && dropbox.CheckAgent(name) == nil {
			r.by[name] = by
		}
	}
}

// turnAt is the turn that wrote a file into a mailbox at that time, as far as
// is known.
func (r *reach) turnAt(mailbox string, written time.Time) *record {
	r.mu.Lock()
	by := r.by[mailbox]
	r.mu.Unlock()
	if by == nil {
		return nil
	}
	return by.reins.turnAt(written)
}
