package swarm

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A TopicPolicy says what happens to published work that nobody claims.
type TopicPolicy struct {
	// ClaimTimeout is how long it may wait; 0 means 120 s, the source document's
	// value. Then it is offered once more, as urgent; after twice that time it goes
	// to Fallback, and if that fails too, or there is none, the lead is told.
	ClaimTimeout time.Duration
	Fallback     string // agent; "" is none
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
	p, err := a.store.OfferOf(id)
	taken, ok := errors.AsType[*dropbox.TakenError](err)
	switch {
	case errors.Is(err, dropbox.ErrNotFound):
		return true, a.bury(c, "it offers "+id+", which was never published")
	case ok:
	case err != nil:
		return false, err
	case p.Grant == nil || p.Grant.Agent == a.name:
		return false, nil
	default:
		taken = &dropbox.TakenError{Grant: *p.Grant}
	}
	a.log.Info("offer was taken by another", keyMessage, c.ID, "by", taken.Agent)
	r := Receipt{ID: c.ID, Agent: a.name, Via: a.doors.of(c.ID), Outcome: "taken by " + taken.Agent, Ended: time.Now().UTC()}
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

// holds tells whether this agent has claimed a publication.
func (a *agent) holds(id string) bool {
	g, err := a.store.GrantOf(id)
	return err == nil && g.Agent == a.name
}

// closeOffer closes the publication that a turn was about, if its agent claimed
// it, and tells those who listen. It is harmless to repeat.
func (a *agent) closeOffer(m *dropbox.Message, r *Receipt) error {
	if m.Offer == "" || !a.holds(m.Offer) {
		return nil
	}
	closed := Receipt{ID: m.Offer, Turn: r.Turn, Agent: a.name, Outcome: string(runner.Done), Ended: r.Ended, Text: r.Text}
	data, err := closed.Encode()
	if err != nil {
		return err
	}
	if err := a.store.CloseOffer(m.Offer, a.name, data); err != nil {
		return err
	}
	a.announce(m, dropbox.Completed, a.name+" has done it.")
	return nil
}

// dropOffer gives back the publication that a message was about which is given up.
func (a *agent) dropOffer(m *dropbox.Message, reason string) error {
	if m == nil || m.Offer == "" || !a.holds(m.Offer) {
		return nil
	}
	if err := a.store.ReleaseOffer(m.Offer, a.name); err != nil {
		return err
	}
	a.announce(m, dropbox.Failed, a.name+" has given it up: "+cut(reason, maxReason))
	return nil
}

// announce tells those who listen how published work ended. Nobody waits for it.
func (a *agent) announce(m *dropbox.Message, end, text string) {
	if err := a.store.Announce(m, a.name, end, text, a.books.sign); err != nil {
		a.log.Warn("nobody could be told how it ended", keyMessage, m.ID, keyErr, err)
	}
}

// sign proves a message in the name of its sender; "" where nothing does.
func (b *books) sign(m *dropbox.Message, to string) string {
	token := b.token(m.From)
	if token == "" {
		return ""
	}
	return dropbox.Proof(token, m, to)
}

// signAgain signs copies of a publication if its sender had signed it.
func (b *books) signAgain(m *dropbox.Message) func(*dropbox.Message, string) string {
	token := b.token(m.From)
	if token == "" || len(m.To) != 1 || !dropbox.Proven(token, m, m.To[0]) {
		return nil
	}
	return b.sign
}

// followUp sees to the published work that nobody has claimed for too long.
func (s *Swarm) followUp(now time.Time) {
	s.note(s.store.FinishOffers())
	open, err := s.store.OpenOffers()
	if err != nil {
		s.log.Warn("publications could not be looked at", keyErr, err)
		return
	}
	for _, p := range open {
		if p.Grant != nil {
			s.abandoned(p)
			continue
		}
		if err := s.unclaimed(p, now.Sub(p.Message.Created)); err != nil {
			s.log.Warn("publication could not be passed on", keyMessage, p.ID, keyErr, err)
		}
	}
}

// abandoned takes a claim back from an agent that has left the swarm.
func (s *Swarm) abandoned(p dropbox.Publication) {
	if _, err := s.member(p.Grant.Agent); err == nil || p.Grant.Agent == dropbox.Lead {
		return
	}
	s.log.Info("claim of an agent that has left is taken back", keyMessage, p.ID, keyAgent, p.Grant.Agent)
	s.note(s.store.ReleaseOffer(p.ID, p.Grant.Agent))
}

// unclaimed passes a publication on that nobody has claimed for so long. Each step
// is harmless to repeat.
func (s *Swarm) unclaimed(p dropbox.Publication, age time.Duration) error {
	plan := s.Plan()
	patience := plan.Topics.claimTimeout()
	subscribers, err := s.store.Subscribers(p.Message.Topic)
	if err != nil {
		return err
	}
	subscribers = slices.DeleteFunc(subscribers, func(name string) bool { return name == p.Message.From })
	_, fallback := plan.spec(plan.Topics.Fallback)
	switch {
	case age < patience:
		return nil
	case age < 2*patience && len(subscribers) > 0:
		_, err := s.store.OfferAgain(p, dropbox.Urgent, s.books.signAgain(p.Message))
		return err
	case fallback && age < 3*patience && plan.Topics.Fallback != p.Message.From:
		return s.fallBack(p, plan.Topics.Fallback)
	}
	s.tellLead("", "unclaimed:"+p.ID, "nobody takes "+p.ID, fmt.Sprintf(
		"%s published work on %s that nobody has claimed for %s:\n\n%s\n\nTo give it to an agent: claude-swarm claim %s --for AGENT\nTo close it: claude-swarm ack %s\n",
		p.Message.From, p.Message.Topic, seconds(age), cut(string(p.Message.Body), maxReason), p.ID, p.ID))
	return nil
}

// fallBack gives a publication to the agent that gets what nobody takes.
func (s *Swarm) fallBack(p dropbox.Publication, agent string) error {
	if _, err := s.store.ClaimOffer(p.ID, agent, ""); err != nil {
		return err
	}
	return s.store.Assign(p, agent, s.books.signAgain(p.Message))
}
