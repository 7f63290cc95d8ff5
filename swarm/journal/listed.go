package journal

import (
	"fmt"
	"slices"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// A ListedTask is a task on the list that a client keeps for itself during a session. Only
// the hooks of an attached session report such tasks. They are no tasks of a person.
type ListedTask struct {
	ID      string `json:"id"`           // the client's number of the task in its session
	Subject string `json:"subject"`      // on one line
	By      string `json:"by,omitempty"` // the teammate that the client names; "" means the session itself
	Done    bool   `json:"done,omitempty"`
}

// String returns the task as a line for people.
func (t ListedTask) String() string {
	text := fmt.Sprintf("task %s: %s", t.ID, t.Subject)
	if t.By != "" {
		text += " (by " + t.By + ")"
	}
	return text
}

// mostListed is the maximum number of tasks in a [Binding]. A longer list loses its oldest
// tasks.
const mostListed = 200

// Lists records a task of the session's list. It returns false if the task is recorded already
// in that state, or as done.
func (b *Binding) Lists(t ListedTask) bool {
	i := slices.IndexFunc(b.List, func(have ListedTask) bool { return have.ID == t.ID })
	switch {
	case i < 0:
		b.List = append(b.List, t)
		b.List = b.List[max(0, len(b.List)-mostListed):]
	case b.List[i].Done || !t.Done:
		return false
	default:
		b.List[i] = t
	}
	return true
}

// Listed returns how far the session has come with its list, as the second part of a sentence,
// or "" if the list is empty.
func (b *Binding) Listed() string {
	if len(b.List) == 0 {
		return ""
	}
	done := 0
	for _, t := range b.List {
		if t.Done {
			done++
		}
	}
	return fmt.Sprintf("%d of %s on its list done", done, screen.Count(len(b.List), "task"))
}
