package mail

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/policy"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// gated asks the gate about a claimed message, and sets the message aside if the gate
// does not let it pass. If there is no gate, it stops only loops.
func (in *Inbox) gated(c *dropbox.Claim) (refused bool, err error) {
	m := c.Message
	suspects, err := in.traceMessage(c)
	if err != nil {
		return false, err
	}
	if in.Gate == nil {
		if !in.Store.TooManyHops(m.Hops) {
			return false, nil
		}
		return true, in.GiveUp(c, fmt.Sprintf("passed on %d times: a loop", m.Hops))
	}
	q := policy.Question{Message: m, To: in.Name, Proven: in.Proves(m), Suspects: suspects, Now: time.Now()}
	halted, err := in.Store.Threads().Halted(m.Thread)
	if err != nil {
		return false, err
	} else if halted != nil {
		q.Halted = cmp.Or(halted.Why, "by hand")
	}
	v := in.Gate.Ask(q)
	if !v.Pass {
		if passes, err := in.Box.Refusals().Passes(c.Entry); passes || err != nil {
			return false, err // a person has let the message through
		}
	}
	if v.Halt {
		if err := in.haltThread(m, in.Name, v); err != nil {
			return false, err
		}
	}
	if v.Pass {
		return false, nil
	}
	return true, in.turnAway(c, v)
}

// turnAway refuses a claimed message. It tells the sender, and keeps the message with the
// reason. It can be repeated.
func (in *Inbox) turnAway(c *dropbox.Claim, v policy.Verdict) error {
	if err := in.tellRefused(c.Message, v); err != nil {
		return err
	}
	if err := in.dropOffer(c.Message, v.String()); err != nil {
		return err
	}
	in.Arrivals.Forget(c.ID)
	in.Log.Warn("message refused", keyMessage, c.ID, "rule", v.Rule, keyWhy, v.Reason)
	in.AgentLog.Line(c.ID, fmt.Sprintf("= refused, %s from %s: %s", c.Message.Type, in.Names().Called(c.Message.From), v))
	return in.Box.Refuse(c.Entry, v.String())
}

// tellRefused tells the sender that a message was refused. It tells an agent or a bridge
// only once per conversation, and in a note, because a message that wakes the agent could
// make it try again. It tells a person each time.
func (in *Inbox) tellRefused(m *dropbox.Message, v policy.Verdict) error {
	body := fmt.Sprintf("Refused on its way to %s. %s.\n\nTo do: %s\n\nThe message is kept: claude-swarm read %s\n", in.Name, v, v.Next, m.ID)
	subject := "refused: " + Describe(m)
	if m.From == dropbox.Swarm {
		in.Notices.Tell(notice.Refused{Agent: in.Name, About: m.ID, Subject: subject, Body: body}) // no agent or person reads swarm's mailbox
		return nil
	}
	note := &dropbox.Message{
		From: dropbox.Swarm, To: []string{m.From}, Type: dropbox.Note, Subject: screen.Short(subject, 200),
		Thread: m.Thread, Trace: m.Trace, ReplyTo: m.ID, Priority: dropbox.Normal,
	}
	about := m.Thread
	if m.From == dropbox.Lead {
		note.Type, about = dropbox.Status, m.ID
		if m.Type.WantsAnswer() {
			note.Type = dropbox.Result // a sender that is waiting for the answer must get a result
		}
	} else {
		body += "Further refusals in this conversation are not reported one by one.\n"
	}
	note.Key, note.Body = "refused:"+about, []byte(body)
	_, err := in.Deliver(dropbox.Swarm, m.From, note)
	if dropbox.IsUndeliverable(err) {
		in.Notices.Tell(notice.Refused{Agent: in.Name, About: about, Subject: subject, Body: body})
		return nil
	}
	return err
}

// offerTaken files an offer without a turn if another agent has claimed the work, and
// gives the offer up if the work was never published. It reports whether it did either.
func (in *Inbox) offerTaken(c *dropbox.Claim) (bool, error) {
	id := c.Message.Offer
	if id == "" {
		return false, nil
	}
	p, err := topic.Of(in.Store).Find(id)
	taken, ok := errors.AsType[*topic.TakenError](err)
	switch {
	case errors.Is(err, dropbox.ErrNotFound):
		return true, in.GiveUp(c, "it offers "+id+", which was never published")
	case ok:
	case err != nil:
		return false, err
	case p.Grant == nil || p.Grant.Agent == in.Name:
		return false, nil
	default:
		taken = &topic.TakenError{Grant: *p.Grant}
	}
	in.Log.Info("offer was taken by another agent", keyMessage, c.ID, "by", taken.Agent)
	r := journal.Receipt{ID: c.ID, Agent: in.Name, Via: in.Arrivals.Via(c.ID), Outcome: "taken by " + taken.Agent, Ended: time.Now().UTC()}
	data, err := r.Encode()
	if err != nil {
		return true, err
	}
	if err := in.Box.Commit(c.Entry, data); err != nil {
		return true, err
	}
	in.Arrivals.Forget(c.ID)
	return true, in.Box.Finish(c.Entry)
}
