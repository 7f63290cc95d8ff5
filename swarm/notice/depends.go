package notice

import (
	"fmt"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// LostDependency: a message waits for another message, which will not come to a good end without
// a person.
type LostDependency struct {
	Agent          string
	Message, Title string // the waiting message
	Dependency     string // id of the other message
	Why, Next      string // what happened to it, and the command that may help; Next may be ""
}

func (f LostDependency) told() told {
	retry := ""
	if f.Next != "" {
		retry = "To have the other message done after all: " + f.Next + "\n"
	}
	return told{
		Event:   journal.Event{Key: "depends:" + f.Message + ":" + f.Dependency, Agent: f.Agent},
		subject: f.Message + " waits for " + f.Dependency + ", which " + f.Why,
		body: fmt.Sprintf("The message %s for %s waits: %s\nIt depends on %s, which %s.\n\n%sTo take the waiting message back: claude-swarm cancel %s\nThen send it again without --depends-on to have it done anyway.\n",
			f.Message, f.Agent, f.Title, f.Dependency, f.Why, retry, f.Message),
	}
}
