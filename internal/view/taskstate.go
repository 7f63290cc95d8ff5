package view

import (
	"slices"
	"time"
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
	TaskGivenUp    TaskState = "given up"   // closed: what the person asked for is a dead letter, or was refused
	TaskFailed     TaskState = "failed"     // closed: that happened to a message that it led to, or its last turn was permitted nothing
	TaskUnverified TaskState = "unverified" // closed: its agents say that it is done
)

// TaskStates returns all states, in the order in which they win over each other.
func TaskStates() []TaskState {
	return []TaskState{TaskAsking, TaskWorking, TaskParked, TaskWaiting, TaskGivenUp, TaskFailed, TaskUnverified}
}

// IsOpen reports whether a task in this state is open.
func (s TaskState) IsOpen() bool {
	return slices.Contains([]TaskState{TaskAsking, TaskWorking, TaskParked, TaskWaiting}, s)
}

// verified returns what is known about the result of a task: "unverified" if it was done, and
// "" otherwise.
func (s TaskState) verified() string {
	if s == TaskUnverified {
		return string(s)
	}
	return ""
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
	denied bool // its last turn did nothing, because nothing was permitted
}

// state returns the state of the task: the first one for which there is a fact. A further
// fact, such as a verdict or a merge, is one more case at its place.
func (f taskFacts) state() TaskState {
	for _, s := range TaskStates() {
		if slices.ContainsFunc(f.parts, func(p TaskPart) bool { return p.State == s }) ||
			s == TaskFailed && f.denied || s == TaskUnverified {
			return s
		}
	}
	return TaskUnverified
}
