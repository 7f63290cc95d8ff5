package hold

import (
	"iter"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/hours"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A Hold is one reason why an agent begins no turn. Several goroutines may ask it at the
// same time.
type Hold interface {
	// Now reports whether the hold keeps the agent from beginning a turn, and if so, how.
	Now(q Query) (Held, bool)
}

// An Ender is a hold with a record that must be removed when the hold is over.
type Ender interface {
	Hold
	// Over returns what is left to do if the hold is over, or nil. The agent's loop calls it
	// before Now.
	Over(q Query) *End
}

// A Query asks about one agent at one time.
type Query struct {
	Agent    string
	Now      time.Time
	Record   journal.Hold  // the agent's record, as it applies now
	Attached bool          // a person's own session handles the agent's mail
	Hours    hours.Hours   // the agent's hours
	Account  func() string // returns the account that the agent's client uses

	// Message is the message whose turn would begin, for the holds of a message.
	Message *dropbox.Message
	ByLead  bool // the message is from a person

	// Passes reports whether the next turn may begin outside the agent's hours. Nil means
	// that it may not.
	Passes func() bool
	// Answered reports whether an answer that ends the pause has arrived. Nil means that it
	// has not.
	Answered func(*journal.Pause) bool
}

// A Kind names a hold.
type Kind string

// A State is the state that the status shows for a held agent. The words are those of State
// in package swarm, which describes them.
type State string

const (
	away    State = "attached"
	stopped State = "stopped"
	paused  State = "paused"
	off     State = "off"
	limited State = "limited"
	backoff State = "backoff"
	parked  State = "parked"
	queued  State = "queued"
)

// Held describes how a hold keeps an agent from beginning a turn.
type Held struct {
	Kind  Kind
	State State
	Since time.Time // when it began; zero if the hold does not know
	Until time.Time // when the agent can be asked again; zero if only a change can end the hold
	Why   string
	Next  string // what happens next, or the command to type

	// OneMessage says that only the message of the query is held. Messages of other tasks
	// may get a turn.
	OneMessage bool

	// The fields below are set by the holds of their name.

	Breaker bool           // Stopped: the breaker stopped the agent
	Limit   *AccountLimit  // Limited
	Block   *budget.Block  // Budget
	Pause   *journal.Pause // Turns: the pause that begins now
	Depends *Dependency    // Depends
}

// An End is what is left to do when a hold is over.
type End struct {
	Why    string              // the reason to tell people; "" if nobody needs to know
	Since  time.Time           // when the hold began
	Forget func(*journal.Hold) // removes the hold from the agent's record, unless it was replaced
}

// A List contains holds in the order in which they are asked.
type List []Hold

// First returns the first hold that keeps the agent from beginning a turn.
func (l List) First(q Query) (Held, bool) {
	for held := range l.All(q) {
		return held, true
	}
	return Held{}, false
}

// All returns every hold that keeps the agent from beginning a turn, in order.
func (l List) All(q Query) iter.Seq[Held] {
	return func(yield func(Held) bool) {
		for _, h := range l {
			if held, ok := h.Now(q); ok && !yield(held) {
				return
			}
		}
	}
}

// Ask is like First for the agent's loop. If a hold before the first one that keeps the agent
// is over, Ask returns its end instead. The loop carries it out, and asks again.
func (l List) Ask(q Query) (end *End, held Held, ok bool) {
	for _, h := range l {
		if e, is := h.(Ender); is {
			if end := e.Over(q); end != nil {
				return end, Held{}, false
			}
		}
		if held, ok := h.Now(q); ok {
			return nil, held, true
		}
	}
	return nil, Held{}, false
}
