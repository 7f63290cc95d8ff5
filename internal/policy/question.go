package policy

import (
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A Question is the input of a decision, apart from the rules and the message history.
type Question struct {
	Message *dropbox.Message // as delivered or, before delivery, as it will be delivered
	To      string           // the mailbox that receives this copy
	Proven  bool             // a proof confirms the sender's name
	Now     time.Time
	// Suspects are the agents that were working when an unproven message appeared. Any of
	// them may have written it.
	Suspects []string

	// BeforeDelivery is set if the message has not been delivered yet. In that case, the
	// rules that depend on the past are skipped; the daemon applies them when it asks
	// again at the claim.
	BeforeDelivery bool
	// Halted is the reason why the conversation is halted; "" if it is not. The caller
	// determines it with [dropbox.Threads.Halted].
	Halted string
	// Spent is the reason why nothing more may be spent on this message, or "" if more may
	// be spent.
	Spent string
}

// daemon reports whether the daemon sent the message. It returns false before delivery,
// because the daemon does not ask then.
func (q *Question) daemon() bool {
	return q.Message.From == dropbox.Swarm && q.Proven && !q.BeforeDelivery
}

// person reports whether a message in the lead's name counts as a person's. It does if it
// is proven, or if no agent passed it on and no agent was working when it appeared. A file
// that a turn put into a mailbox has the hops and the path of that turn, so it does not
// count as a person's.
func (q *Question) person() bool {
	m := q.Message
	return m.From == dropbox.Lead && (q.Proven || m.Hops == 0 && len(m.Path) == 0 && len(q.Suspects) == 0)
}

// dropped reports whether a message claims to be from the lead without proof, and nothing
// shows that an agent passed it on. A person may drop a hundred files at once, even while
// agents are working, so the rate and echo rules do not apply to such files. A loop of
// such messages ends when it reaches the limit on turns without a person.
func (q *Question) dropped() bool {
	m := q.Message
	return m.From == dropbox.Lead && !q.Proven && m.Hops == 0 && len(m.Path) == 0
}

// speaker returns the name to which the rules attribute a message: the sender or, for an
// unproven file in the lead's name, the agent in whose turn it appeared.
func (q *Question) speaker() string {
	m := q.Message
	if m.From == dropbox.Lead && !q.Proven && len(m.Path) > 0 {
		return m.Path[len(m.Path)-1]
	}
	return m.From
}

// authors returns the possible authors of a message: the speaker and, if the message has
// no proof, the agents that were working when it appeared.
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

// wakes reports whether the message starts a turn of an agent.
func (q *Question) wakes() bool { return q.Message.Type.Wakes() && q.To != dropbox.Lead }

// at returns the time of delivery, which is part of the message file's name; a time in
// the future is treated as now.
func (q *Question) at() time.Time {
	if c := q.Message.Created; !q.BeforeDelivery && !c.IsZero() && c.Before(q.Now) {
		return c
	}
	return q.Now
}
