package swarm

import (
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// GateStatus describes the messages and conversations that the gate has stopped.
type GateStatus struct {
	Refused RefusedCount   `json:"refused"`        // numbers of refused messages
	Threads []ThreadHalted `json:"halted_threads"` // halted conversations, newest first
}

// RefusedCount counts the messages that were refused.
type RefusedCount struct {
	Today int `json:"today"` // since midnight, UTC
	Kept  int `json:"kept"`  // in total
}

// ThreadHalted is a conversation that is halted.
type ThreadHalted struct {
	Thread string    `json:"thread"` // id of the conversation
	Why    string    `json:"why"`    // reason for the halt
	Since  time.Time `json:"since"`  // time of the halt
}

// gateStatus counts the agents' messages that the gate has refused, and lists the halted
// threads.
func gateStatus(store *dropbox.Store, agents []Spec, now time.Time) (GateStatus, error) {
	st := GateStatus{Threads: []ThreadHalted{}}
	midnight := now.UTC().Truncate(24 * time.Hour)
	for _, spec := range agents {
		box, err := store.Mailbox(spec.Name)
		if err != nil {
			continue // not created yet, or being recreated now
		}
		kept, today, err := box.Refusals().Count(midnight)
		if err != nil {
			return st, err
		}
		st.Refused.Kept += kept
		st.Refused.Today += today
	}
	halted, err := store.Threads().List()
	for _, h := range halted {
		st.Threads = append(st.Threads, ThreadHalted{h.Thread, h.Why, h.Since})
	}
	return st, err
}
