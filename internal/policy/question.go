package policy

import (
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A Question is everything that a decision looks at besides the rules and the past.
type Question struct {
	Message *dropbox.Message // complete, or as it is about to be delivered
	To      string           // the mailbox that this copy is for
	Proven  bool             // the proof shows that the sender is who it says
	Now     time.Time
	// Suspects are the agents that were at work when a message appeared which is not
	// proven: one of them may have left it.
	Suspects []string

	// BeforeDelivery says that the message is not delivered yet. The rules that depend on the
	// past then wait for the daemon, which asks again at the claim.
	BeforeDelivery bool
	// Halted is why the conversation is halted; "" when it is not. Anyone who asks looks
	// at the file: see [dropbox.Threads.Halted].
	Halted string
	// Spent is why nothing more may be spent on this message; "" when something may.
	Spent string
}

// daemon says whether the message is the daemon's own, which nobody asks about before its
// delivery.
func (q *Question) daemon() bool {
	return q.Message.From == dropbox.Swarm && q.Proven && !q.BeforeDelivery
}

// person says whether a message is the lead's: it is proven to be, or it claims to be,
// no agent passed it on, and none was at work when it appeared. A file that a turn left
// in a mailbox has the hops and the path of that turn, and so is not a person's.
func (q *Question) person() bool {
	m := q.Message
	return m.From == dropbox.Lead && (q.Proven || m.Hops == 0 && len(m.Path) == 0 && len(q.Suspects) == 0)
}

// dropped says whether a message claims to be the lead's, and nothing shows that an
// agent passed it on. A person may leave a hundred files in one go, also while agents
// work, so no rate or echo refuses one; a loop of such messages ends at the bound on
// turns without a person.
func (q *Question) dropped() bool {
	m := q.Message
	return m.From == dropbox.Lead && !q.Proven && m.Hops == 0 && len(m.Path) == 0
}

// speaker is the name that answers for a message: the sender, or the agent in whose turn a
// file in the name of the lead appeared.
func (q *Question) speaker() string {
	m := q.Message
	if m.From == dropbox.Lead && !q.Proven && len(m.Path) > 0 {
		return m.Path[len(m.Path)-1]
	}
	return m.From
}

// authors are the possible authors of a message: the speaker, and the agents that were at
// work when it appeared without a proof.
func (q *Question) authors() []string {
	who := []string{q.speaker()}
	if q.Proven {
		return who
	}
	for _, s := range q.Suspects {
		if s != who[0] {
			who = append(who, s)
		}
	}
	return who
}

// wakes says whether the message begins a turn of an agent.
func (q *Question) wakes() bool { return q.Message.Type.Wakes() && q.To != dropbox.Lead }

// at is when the message was delivered, which the name of its file says; never later
// than now, whatever that name says.
func (q *Question) at() time.Time {
	if c := q.Message.Created; !q.BeforeDelivery && !c.IsZero() && c.Before(q.Now) {
		return c
	}
	return q.Now
}
