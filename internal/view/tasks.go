package view

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A Task is something that a person asked for, with all that came of it: one trace that
// begins with a message from a person.
type Task struct {
	ID      string    `json:"id"` // the trace, which is the id of its first message
	State   TaskState `json:"state"`
	By      string    `json:"by"`                     // the mailbox of the person: lead, or that of a bridge
	Nick    string    `json:"nick,omitempty"`         // the person's nick on IRC
	Agent   string    `json:"agent"`                  // who works on it, or else who has it, or else who had it last; "" for nobody
	Agents  []string  `json:"agents"`                 // everybody who worked on it or has a message of it
	Subject string    `json:"subject"`                // the subject or the beginning of the text
	Asked   time.Time `json:"asked"`                  // when the person asked
	Since   time.Time `json:"since"`                  // start of the state; for a closed task, when its last turn ended
	CostUSD float64   `json:"cost_usd"`               // the known cost of the turns that have ended
	Turns   int       `json:"turns"`                  // that have ended
	Failed  int       `json:"failed_turns,omitempty"` // turns that did not end well
	// CostUnknown is the number of turns whose cost is unknown or only partly known.
	CostUnknown int `json:"cost_unknown_turns,omitempty"`

	Branch   string `json:"branch"`   // of the working tree of its last turn; "" if it ran in none
	Verified string `json:"verified"` // verified, unverified or failed; "" for a task that is open or was given up

	Result string `json:"result,omitempty"` // the newest result of it in the lead's mailbox that is not filed
	Why    string `json:"why,omitempty"`    // why it is in its state
	Next   string `json:"next,omitempty"`   // the command to type, or what happens next

	// Parts are the messages of which the state follows, those of the state first.
	Parts []TaskPart `json:"parts,omitempty"`
}

// MarshalJSON writes null for an unknown cost.
func (t Task) MarshalJSON() ([]byte, error) {
	type plain Task
	return json.Marshal(struct {
		plain
		CostUSD *float64 `json:"cost_usd"`
	}{plain(t), t.KnownUSD()})
}

// KnownUSD returns the known part of the task's cost in US dollars, or nil if no part is known.
func (t Task) KnownUSD() *float64 { return journal.KnownUSD(t.CostUSD, t.CostUnknown > 0) }

// Tasks is a list of tasks.
type Tasks struct {
	V     int    `json:"v"`
	Tasks []Task `json:"tasks"` // in the order in which people asked
}

// Cost returns the known cost of all tasks in the list, in US dollars, and whether a part of it
// is unknown.
func (t *Tasks) Cost() (usd float64, unknown bool) {
	for _, one := range t.Tasks {
		usd, unknown = usd+one.CostUSD, unknown || one.CostUnknown > 0
	}
	return usd, unknown
}

// A TaskQuery selects tasks.
type TaskQuery struct {
	Open   bool // those on which somebody may still work
	Closed bool // those that changed at or after Since
	Since  time.Time
	Agent  string // only those of which the agent has, or had, a message; "" for all
	Trace  string // only this one; "" for all
}

// TasksOf lists what people asked for. It keeps no file: it reads the ledger and the
// mailboxes, and the receipt or the records of those messages that the ledger does not name.
// st says who is working now and why mail waits; the daemon made it, or [swarm.Offline].
//
// It opens each message that is not finished, the first message of each task in the list, and
// the finished ones that the ledger does not name and that were filed at or after Since.
func TasksOf(c *client.Client, st swarm.Status, q TaskQuery) (*Tasks, error) {
	s := &taskScan{Client: c, status: st, since: q.Since, traces: map[string]*taskTrace{}, booked: map[string]bool{}, settled: map[string]bool{}, reasons: map[string]map[string]string{}}
	if err := s.read(); err != nil {
		return nil, err
	}
	list := &Tasks{V: 1, Tasks: []Task{}}
	for id, found := range s.traces {
		if q.Trace != "" && q.Trace != id || q.Agent != "" && !slices.Contains(found.agents, q.Agent) {
			continue
		}
		t, err := s.task(id, found)
		if err != nil {
			return nil, err
		}
		if t.State.IsOpen() && !q.Open || !t.State.IsOpen() && (!q.Closed || t.Since.Before(q.Since)) {
			continue
		}
		// The message of the person is read last, because it is the slowest step.
		if ok, err := s.begin(&t, found); err != nil {
			return nil, err
		} else if ok {
			list.Tasks = append(list.Tasks, t)
		}
	}
	slices.SortFunc(list.Tasks, func(a, b Task) int {
		return cmp.Or(a.Asked.Compare(b.Asked), strings.Compare(a.ID, b.ID))
	})
	return list, nil
}
