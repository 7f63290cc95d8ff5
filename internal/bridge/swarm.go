package bridge

import (
	"context"
	"time"
)

// A Swarm is the part of the daemon that the bridge uses to carry out people's orders. It
// is called from several goroutines. The bridge shows people the errors from a Swarm, so
// each error must be easy for them to understand. The second line of an error, if any, is
// the next step to take.
type Swarm interface {
	// Status returns the status of an agent, or of all agents if agent is "", as lines of
	// text for people.
	Status(ctx context.Context, agent string) (string, error)

	// Held returns one line that explains why a message for an agent is waiting for
	// something other than the agent's turn, and what to do. It returns "" if nothing
	// holds the message up.
	Held(ctx context.Context, agent string) (string, error)

	// Steer carries out a person's order, and returns the outcome in a few lines. object is
	// the agent of the order, or as the constants say. by names the person for the journal,
	// as in "ann on IRC". For Halt, it also contains the reason, as in "ann on IRC: the disk
	// is full".
	Steer(ctx context.Context, order Order, object, by string) (string, error)
}

// An Order is an order that a person may give; orderLines says with which right.
type Order string

// The orders.
const (
	Pause  Order = "pause"
	Resume Order = "resume"
	Abort  Order = "abort"
	Start  Order = "start"
	Clear  Order = "clear"
	Halt   Order = "halt"   // object is ""
	Unhalt Order = "unhalt" // object is ""
	Retry  Order = "retry"  // object is the id of a dead letter, or a part of it
	Budget Order = "budget" // object is "" to show the caps, or "raise SCOPE AMOUNT"
	Logs   Order = "logs"   // the last lines of the agent's log
)

// commandPatience is the timeout for an order to the daemon.
const commandPatience = 10 * time.Second
