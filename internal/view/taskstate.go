package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A TaskState says how far a task came.
type TaskState string

// The states of a task. A task is open if one of its messages waits for an agent or for a
// person's answer, or if a turn works on one.
const (
	TaskAsking     TaskState = "asking"     // open: it waits for a person's answer
	TaskWorking    TaskState = "working"    // open: a turn works on it
	TaskParked     TaskState = "parked"     // open: a budget is used up, so its mail waits
	TaskWaiting    TaskState = "waiting"    // open: its mail waits for a turn
	TaskMerged     TaskState = "merged"     // closed: a person merged the commit of its last turn
	TaskGivenUp    TaskState = "given up"   // closed: what the person asked for is a dead letter, or was refused
	TaskFailed     TaskState = "failed"     // closed: that happened to a message that it led to, its last turn was permitted nothing, or its verifiers are red
	TaskVerified   TaskState = "verified"   // closed: the verifiers of its agent are green at the commit of its last turn
	TaskUnverified TaskState = "unverified" // closed: its agents say that it is done
)

// TaskStates returns all states, in the order in which they win over each other.
func TaskStates() []TaskState {
	return []TaskState{TaskAsking, TaskWorking, TaskParked, TaskWaiting, TaskMerged, TaskGivenUp, TaskFailed, TaskVerified, TaskUnverified}
}

// IsOpen reports whether a task in this state is open.
func (s TaskState) IsOpen() bool {
	return slices.Contains([]TaskState{TaskAsking, TaskWorking, TaskParked, TaskWaiting}, s)
}

// A TaskPart is a message of a task that waits, that a turn works on, or that was given up.
type TaskPart struct {
	ID      string    `json:"id"`    // the message
	Agent   string    `json:"agent"` // who has it; for a question, who asked; "" for published work that nobody has claimed
	State   TaskState `json:"state"` // as of a task
	Since   time.Time `json:"since"` // when it was sent, asked, or its turn began
	Subject string    `json:"subject,omitempty"`
	Why     string    `json:"why,omitempty"`  // why it waits or was given up
	Next    string    `json:"next,omitempty"` // the command to type, or what happens next
}

// taskFacts are the facts from which the state of a task follows.
type taskFacts struct {
	parts  []TaskPart
	denied bool   // its last turn did nothing, because nothing was permitted
	merged bool   // a person merged the commit of its last turn
	word   string // of the verification of its last turn; "" if there was none
}

// state returns the state of the task: the first one for which there is a fact.
func (f taskFacts) state() TaskState {
	for _, s := range TaskStates() {
		if slices.ContainsFunc(f.parts, func(p TaskPart) bool { return p.State == s }) || f.has(s) {
			return s
		}
	}
	return TaskUnverified
}

// has reports whether a fact that is no message says that the task is in a state.
func (f taskFacts) has(s TaskState) bool {
	switch s {
	case TaskMerged:
		return f.merged
	case TaskFailed:
		return f.denied || f.word == journal.WorkFailed
	case TaskVerified:
		return f.word == journal.WorkVerified
	}
	return false
}

// verified returns what is known about the result of a closed task: verified, unverified or
// failed; "" if it was given up.
func (f taskFacts) verified() string {
	switch s := f.state(); {
	case s.IsOpen(), s == TaskGivenUp, s == TaskFailed && f.word == "":
		return ""
	}
	return cmp.Or(f.word, string(TaskUnverified))
}
