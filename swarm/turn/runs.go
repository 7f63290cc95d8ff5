package turn

import (
	"slices"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// maxPastTurns is the maximum number of past turns remembered for an agent. A file that
// is waiting in a mailbox may have been written during one of them.
const maxPastTurns = 64

// ownFileMemory is how long the daemon remembers that an agent wrote a file. This is
// enough, because the file stops changing within seconds of the tool call.
const ownFileMemory = 10 * time.Minute

// Runs provides information about the running and past turns of one agent, and about its
// client. It is safe for concurrent use.
type Runs struct {
	mu      sync.Mutex
	current *journal.Record      // a copy of the running turn's record, which does not change; nil if no turn is running
	past    []pastTurn           // earlier turns, oldest first, at most maxPastTurns
	client  *liveClient          // the client that is working or waiting; nil if there is none
	wrote   map[string]time.Time // files that the agent's turns wrote into the mailbox folder, by name
}

// A pastTurn is a finished turn of an agent.
type pastTurn struct {
	rec   *journal.Record
	ended time.Time // time at which its client ended or began to wait
}

// A liveClient is the client of an agent, from its start until all its processes have
// ended.
type liveClient struct {
	mark string
	gone chan struct{} // closed when all its processes have ended
}

// begin records which attempt is running. Messages that the agent sends by writing a file
// inherit fields from the attempt's record.
func (r *Runs) begin(rec *journal.Record) {
	copied := *rec
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = &copied
}

// started records the process of the running attempt's client.
func (r *Runs) started(p runner.Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil {
		return
	}
	copied := *r.current // At may have returned r.current, which does not change
	copied.Process = p
	r.current = &copied
}

// restore calls write with the record of the running attempt if there is one. The attempt
// does not end before write returns.
func (r *Runs) restore(write func(*journal.Record) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil {
		return nil
	}
	return write(r.current)
}

// end records that the client of the attempt has ended, or is waiting for the next turn.
func (r *Runs) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != nil {
		if len(r.past) >= maxPastTurns {
			r.past = slices.Delete(r.past, 0, 1)
		}
		r.past = append(r.past, pastTurn{r.current, time.Now()})
	}
	r.current = nil
}

// Turn returns the id of the running attempt, or "" if no turn is running.
func (r *Runs) Turn() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil {
		return ""
	}
	return r.current.Turn
}

// At returns the record of the agent's turn that was running when a file was written. It
// returns nil if no turn was running at that time.
func (r *Runs) At(written time.Time) *journal.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != nil && r.current.BegunBy(written) {
		return r.current
	}
	for _, past := range slices.Backward(r.past) {
		if !written.After(past.ended) && past.rec.BegunBy(written) {
			return past.rec
		}
	}
	return nil
}

// setClient records the mark of the agent's client. An empty mark means that all
// processes of the client have ended.
func (r *Runs) setClient(mark string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.client; c != nil {
		if c.mark == mark {
			return
		}
		close(c.gone)
	}
	r.client = nil
	if mark != "" {
		r.client = &liveClient{mark, make(chan struct{})}
	}
}

// ClientGone returns a channel that is closed when all processes of the agent's client
// have ended. It returns nil if the agent has no client.
func (r *Runs) ClientGone() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.client == nil {
		return nil
	}
	return r.client.gone
}

// HasMark reports whether the mark belongs to the agent's client or to its running turn.
func (r *Runs) HasMark(mark string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.client != nil && r.client.mark == mark || r.current != nil && r.current.Mark() == mark
}

// noteFile records that a tool is about to write a file into the mailbox's folder. The
// finished file is not mail for the agent, because it is the agent's own work.
func (r *Runs) noteFile(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wrote == nil {
		r.wrote = map[string]time.Time{}
	}
	r.wrote[name] = time.Now()
}

// WroteFile reports whether the agent wrote the file into the mailbox's folder with its
// tools.
func (r *Runs) WroteFile(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for n, at := range r.wrote {
		if now.Sub(at).Abs() > ownFileMemory {
			delete(r.wrote, n)
		}
	}
	_, ok := r.wrote[name]
	return ok
}

// ForgetFile is called after the file has been moved. A later file with the same name is
// mail, unless the agent writes that file too.
func (r *Runs) ForgetFile(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.wrote, name)
}
