package policy

import (
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A Question is the input of a decision, without the rules and the past.
type Question struct {
	Message *dropbox.Message // complete, or as it will be delivered
	To      string           // the mailbox of this copy
	Proven  bool             // the proof confirms the sender's name
	Now     time.Time
	// Suspects are the agents that were working when an unproven message appeared: one of
	// them may have written it.
	Suspects []string

	// BeforeDelivery says that the message has not been delivered yet. The rules that
	// depend on the past then wait for the daemon, which asks again at the claim.
	BeforeDelivery bool
	// Halted is the reason why the conversation is halted; "" if it is not. The caller
	// reads it: see [dropbox.Threads.Halted].
	Halted string
	// Spent is the reason why nothing more may be spent on this message, or "" if more may
	// be spent.
	Spent string
}

// daemon reports whether the message is the daemon's own. The daemon does not ask before a
// delivery.
func (q *Question) daemon() bool {
	return q.Message.From == dropbox.Swarm && q.Proven && !q.BeforeDelivery
}

// person reports whether a message in the lead's name counts as a person's. It does if it
// is proven, or if no agent passed it on and no agent was working when it appeared. A file
// that a turn left in a mailbox has the hops and the path of that turn, and so is not from
// a person.
func (q *Question) person() bool {
	m := q.Message
	return m.From == dropbox.Lead && (q.Proven || m.Hops == 0 && len(m.Path) == 0 && len(q.Suspects) == 0)
}

// dropped reports whether a message claims to be from the lead, and nothing shows that an
// agent passed it on. A person may drop a hundred files at once, even while agents work, so
// the rules about rates and echoes do not refuse them. A loop of such messages ends at the
// limit of turns without a person.
func (q *Question) dropped() bool {
	m := q.Message
	return m.From == dropbox.Lead && !q.Proven && m.Hops == 0 && len(m.Path) == 0
}

// speaker returns the name to which the rules attribute a message: the sender, or the
// agent in whose turn a file in the name of the lead appeared.
func (q *Question) speaker() string {
	m := q.Message
	if m.From == dropbox.Lead && !q.Proven && len(m.Path) > 0 {
		return m.Path[len(m.Path)-1]
	}
	return m.From
}

// authors returns the possible authors of a message: the speaker, and the agents that were
// working when it appeared without a proof.
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

// wakes reports whether the message begins a turn of an agent.
func (q *Question) wakes() bool { return q.Message.Type.Wakes() && q.To != dropbox.Lead }

// at returns the time of delivery, from the name of the message's file; a time in the
// future counts as now.
func (q *Question) at() time.Time {
	if c := q.Message.Created; !q.BeforeDelivery && !c.IsZero() && c.Before(q.Now) {
		return c
	}
	return q.Now
}
