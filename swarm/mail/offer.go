package mail

import (
	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// hasOffer reports whether this agent has claimed a publication.
func (in *Inbox) hasOffer(id string) bool {
	g, err := topic.Of(in.Store).GrantOf(id)
	return err == nil && g.Agent == in.Name
}

// closeOffer closes the publication that a turn worked on, if the turn's agent claimed
// it, and tells the subscribers. It can safely be called again.
func (in *Inbox) closeOffer(m *dropbox.Message, r *journal.Receipt) error {
	if m.Offer == "" || !in.hasOffer(m.Offer) {
		return nil
	}
	closed := journal.Receipt{ID: m.Offer, Turn: r.Turn, Agent: in.Name, Outcome: r.Outcome, Ended: r.Ended, Text: r.Text}
	data, err := closed.Encode()
	if err != nil {
		return err
	}
	if err := topic.Of(in.Store).Close(m.Offer, in.Name, data); err != nil {
		return err
	}
	if r.Outcome == journal.OutcomeRefused {
		in.announce(m, topic.Failed, in.Name+" has done nothing: "+nothingPermitted+".")
		return nil
	}
	in.announce(m, topic.Completed, in.Name+" has done it.")
	return nil
}

// dropOffer releases the publication of a message that is given up.
func (in *Inbox) dropOffer(m *dropbox.Message, reason string) error {
	if m == nil || m.Offer == "" || !in.hasOffer(m.Offer) {
		return nil
	}
	if err := topic.Of(in.Store).Release(m.Offer, in.Name); err != nil {
		return err
	}
	in.announce(m, topic.Failed, in.Name+" has given it up: "+screen.Truncate(reason, notice.MaxQuote))
	return nil
}

// announce publishes the outcome of published work. It does not wait for the subscribers.
func (in *Inbox) announce(m *dropbox.Message, end, text string) {
	if err := topic.Of(in.Store).Announce(m, in.Name, end, text, in.Tokens.Sign); err != nil {
		in.Log.Warn("the outcome of published work could not be announced", keyMessage, m.ID, keyErr, err)
	}
}
