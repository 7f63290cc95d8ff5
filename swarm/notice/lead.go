package notice

import (
	"context"
	"errors"
	"fmt"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// isForLead reports whether deliverAlerts does anything about an event.
func isForLead(ev journal.Event) bool { return ev.Kind == journal.Alert || !ev.Quiet.IsZero() }

// deliverAlerts is the listener that delivers the lead's mail.
func (t *Teller) deliverAlerts(_ context.Context, events []journal.Event) error {
	for _, ev := range events {
		if !ev.Quiet.IsZero() && t.Quiet != nil {
			if err := t.Quiet.keep(ev); err != nil {
				return err
			}
			continue
		}
		if ev.Kind != journal.Alert || ev.Message == nil {
			continue
		}
		if err := t.deliverAlert(ev); dropbox.IsUndeliverable(err) {
			t.Log.Error("lead could not be told", keyAgent, ev.Agent, "subject", ev.Message.Subject, keyErr, err)
		} else if err != nil {
			return fmt.Errorf("%s: %w", ev.Message.Subject, err)
		}
	}
	return nil
}

func (t *Teller) deliverAlert(ev journal.Event) error {
	m := ev.Message.Mail()
	d, err := t.Deliver(dropbox.Swarm, ev.To, m)
	if errors.Is(err, dropbox.ErrNoMailbox) && ev.To != dropbox.Lead {
		// The lead agent has been removed in the meantime.
		ev.To, m.To, m.Type = dropbox.Lead, []string{dropbox.Lead}, dropbox.Status
		d, err = t.Deliver(dropbox.Swarm, ev.To, m)
	}
	if err != nil {
		return err
	}
	if !d.Duplicate {
		t.Alerted(ev.At, ev.Agent, m.Subject)
	}
	if ev.To == dropbox.Lead {
		return nil // the person sees the alert in the mailbox
	}
	arrived := *m
	arrived.ID, arrived.Thread, arrived.Trace = d.ID, d.Thread, d.ID
	return t.Arrived(&arrived, ev.To, ev.Agent)
}

// Arrived tells that a message has arrived in the mailbox of the person or of the lead
// agent. agent is the agent that the message is about, or "". If it is a question to the
// person, it is told with its notice. After an error, the fact is not in the event list.
func (t *Teller) Arrived(m *dropbox.Message, to, agent string) error {
	f := arrived{Message: m, To: to, Agent: agent}
	switch {
	case to != dropbox.Lead || m.Type != dropbox.Question:
	case m.From == dropbox.Swarm && t.Question != nil:
		f.Notice = t.Question(m)
	case m.From != dropbox.Lead && dropbox.CheckAgent(m.From) == nil: // a question from a person or through a bridge has no notice
		f.Notice = questionOf(m)
	}
	return t.Add(f)
}
