package swarm

import (
	"errors"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A TopicPolicy says what happens to published work that nobody claims.
type TopicPolicy struct {
	// ClaimTimeout is how long each step waits for the next one; 0 means 120 s, the
	// source document's value. The steps are: it is offered once more, as urgent; it
	// goes to Fallback, if there is one; the lead is told.
	ClaimTimeout time.Duration
	Fallback     string // agent; "" and the lead are none
}

func (p TopicPolicy) claimTimeout() time.Duration {
	if p.ClaimTimeout == 0 {
		return 120 * time.Second
	}
	return p.ClaimTimeout
}

// missed files an offer that is not to be taken any more, because another agent
// was quicker, without a turn.
func (a *agent) missed(c *dropbox.Claim) (bool, error) {
	id := c.Message.Offer
	if id == "" {
		return false, nil
	}
	p, err := topic.Of(a.store).Find(id)
	taken, ok := errors.AsType[*topic.TakenError](err)
	switch {
	case errors.Is(err, dropbox.ErrNotFound):
		return true, a.bury(c, "it offers "+id+", which was never published")
	case ok:
	case err != nil:
		return false, err
	case p.Grant == nil || p.Grant.Agent == a.name:
		return false, nil
	default:
		taken = &topic.TakenError{Grant: *p.Grant}
	}
	a.log.Info("offer was taken by another", keyMessage, c.ID, "by", taken.Agent)
	r := journal.Receipt{ID: c.ID, Agent: a.name, Via: a.doors.of(c.ID), Outcome: "taken by " + taken.Agent, Ended: time.Now().UTC()}
	data, err := r.Encode()
	if err != nil {
		return true, err
	}
	if err := a.box.Commit(c.Entry, data); err != nil {
		return true, err
	}
	a.doors.forget(c.ID)
	return true, a.box.Finish(c.Entry)
}

// hasOffer tells whether this agent has claimed a publication.
func (a *agent) hasOffer(id string) bool {
	g, err := topic.Of(a.store).GrantOf(id)
	return err == nil && g.Agent == a.name
}

// closeOffer closes the publication that a turn was about, if its agent claimed
// it, and tells those who listen. It is harmless to repeat.
func (a *agent) closeOffer(m *dropbox.Message, r *journal.Receipt) error {
	if m.Offer == "" || !a.hasOffer(m.Offer) {
		return nil
	}
	closed := journal.Receipt{ID: m.Offer, Turn: r.Turn, Agent: a.name, Outcome: string(runner.Done), Ended: r.Ended, Text: r.Text}
	data, err := closed.Encode()
	if err != nil {
		return err
	}
	if err := topic.Of(a.store).Close(m.Offer, a.name, data); err != nil {
		return err
	}
	a.announce(m, topic.Completed, a.name+" has done it.")
	return nil
}

// dropOffer gives back the publication that a message was about which is given up.
func (a *agent) dropOffer(m *dropbox.Message, reason string) error {
	if m == nil || m.Offer == "" || !a.hasOffer(m.Offer) {
		return nil
	}
	if err := topic.Of(a.store).Release(m.Offer, a.name); err != nil {
		return err
	}
	a.announce(m, topic.Failed, a.name+" has given it up: "+cut(reason, maxReason))
	return nil
}

// announce tells those who listen how published work ended. Nobody waits for it.
func (a *agent) announce(m *dropbox.Message, end, text string) {
	if err := topic.Of(a.store).Announce(m, a.name, end, text, a.tokens.Sign); err != nil {
		a.log.Warn("nobody could be told how it ended", keyMessage, m.ID, keyErr, err)
	}
}
