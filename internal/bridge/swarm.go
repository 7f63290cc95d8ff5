package bridge

import (
	"context"
	"time"
)

// A Swarm is what the bridge asks of the daemon when a person commands. It is called
// from several goroutines. Its errors are shown to that person, so they are texts for
// people, with the next step on a second line.
type Swarm interface {
	// Status says how things stand with an agent, or with all when it is "": lines
	// for people.
	Status(ctx context.Context, agent string) (string, error)

	// Held says in one line why a message for an agent waits for something other than
	// the agent's turn, and what to do; "" when nothing holds it up.
	Held(ctx context.Context, agent string) (string, error)

	// Steer does what a person ordered, and says what came of it in one line. by
	// names the person for the journal, as in "ann on IRC", of Halt with what they said of
	// it: "ann on IRC: the disk is full". Halt and Unhalt have no agent.
	Steer(ctx context.Context, order Order, agent, by string) (string, error)
}

// An Order is what a person with [Control] may have done.
type Order string

// The orders.
const (
	Pause  Order = "pause"
	Resume Order = "resume"
	Abort  Order = "abort"
	Halt   Order = "halt"
	Unhalt Order = "unhalt"
)

// commandPatience is how long the daemon may take for an order.
const commandPatience = 10 * time.Second
