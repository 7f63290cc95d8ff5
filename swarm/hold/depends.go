package hold

import (
	"github.com/claude-swarm/claude-swarm/dropbox"
)

// KindDepends is the kind of [Depends].
const KindDepends Kind = "depends"

// A Dependency is a message for which another message waits.
type Dependency struct {
	ID   string
	Lost string // why it will not come to a good end without a person; "" if it may
	Next string // for a lost one, the command that may help
}

// Depends holds a message until the messages on which it depends have come to a good end.
type Depends struct {
	// On returns the message for which m waits, or nil.
	On func(m *dropbox.Message) *Dependency
}

// Now implements [Hold].
func (h Depends) Now(q Query) (Held, bool) {
	if len(q.Message.DependsOn) == 0 {
		return Held{}, false
	}
	d := h.On(q.Message)
	if d == nil {
		return Held{}, false
	}
	held := Held{
		Kind: KindDepends, State: queued, Since: q.Message.Created, OneMessage: true, Depends: d,
		Why: q.Message.ID + " waits for " + d.ID, Next: "begins when " + d.ID + " is done; claude-swarm trace " + d.ID,
	}
	if d.Lost != "" {
		held.Why += ", which " + d.Lost
		held.Next = "claude-swarm cancel " + q.Message.ID
		if d.Next != "" {
			held.Next = d.Next + ", or " + held.Next
		}
	}
	return held, true
}
