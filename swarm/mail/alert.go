package mail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Arrived records in the event list that a message has arrived in the mailbox of the
// person or of the lead agent. agent is the agent that the message is about, or "".
func (s *Service) Arrived(m *dropbox.Message, to, agent string) error {
	ev := journal.Event{
		Kind: journal.Mail, Key: eventKey(journal.Mail, m.ID), Agent: agent, To: to, About: m.ID, Message: journal.Keep(m),
	}
	if to == dropbox.Lead && m.Type == dropbox.Question {
		ev.Notice = s.questionNotice(m)
	}
	return s.happened(ev)
}

// questionNotice returns the notice of a question to the person, or nil if the question
// has no notice. A question from a person or through a bridge has no notice.
func (s *Service) questionNotice(m *dropbox.Message) *journal.Notice {
	switch {
	case m.From == dropbox.Swarm && s.noticeOf != nil:
		return s.noticeOf(m)
	case m.From == dropbox.Lead || !IsAgent(m.From):
		return nil
	}
	return &journal.Notice{Word: journal.AgentQuestion, Agent: m.From, Why: screen.Short(m.Gist(), 200)}
}

// TellLead sends the lead a message about an agent, or about the daemon itself if agent is
// "". It sends only one message per key. Messages about the lead agent go to the person.
// While the lead agent cannot work, all messages go to the person. Every message goes
// through the event list, so a crash does not lose any. If a message cannot be written,
// the status shows the error, and the daemon retries until the write succeeds.
func (s *Service) TellLead(agent, key, subject, body string) {
	s.tellLead(journal.Event{Key: key, Agent: agent}, subject, body)
}

// NoticedKey is the key prefix of messages from the daemon to the lead that also have a
// notice in the event list. IRC shows only the notice, not the message.
const NoticedKey = "notice:"

// TellNotice is like TellLead, but also adds a notice, which IRC and webhooks show. agent
// is as in TellLead; the notice may be about several agents.
func (s *Service) TellNotice(agent, key string, n journal.Notice, subject, body string) {
	s.tellLead(journal.Event{Key: NoticedKey + key, Agent: agent, Notice: &n}, subject, body)
}

// Raise adds a notice to the event list. IRC and webhooks show the notice, and the lead
// gets no mail. Listeners recognize a repeated notice by its key. about is the id of the
// message that the agent is working on, and details contains further lines for the
// person; both may be "". If Raise returns an error, the notice is not in the list.
func (s *Service) Raise(key string, n journal.Notice, about, details string) error {
	text := s.Secrets.Redactor().Text(n.Text())
	ev := journal.Event{
		Kind: journal.Noticed, Key: NoticedKey + key, Agent: n.Agent, To: dropbox.Lead, Notice: &n,
		Message: &journal.Message{From: dropbox.Swarm, To: []string{dropbox.Lead}, Type: dropbox.Status, Subject: screen.Short(text, 200), Body: text + "\n"},
	}
	if details != "" {
		ev.Message.Body = screen.Truncate(s.Secrets.Redactor().Text(details), maxTold) + "\n"
	}
	if about == "" {
		return s.happened(ev)
	}
	of, err := s.Store.Message(about)
	switch {
	case err == nil:
		ev.About, ev.Of, ev.Message.Thread, ev.Message.Trace = of.ID, journal.Keep(of), of.Thread, of.Trace
	case !errors.Is(err, dropbox.ErrNotFound) && !errors.Is(err, dropbox.ErrInvalid):
		return err
	}
	return s.happened(ev)
}

// Unpaused raises the notice that an agent can start turns again. since is when the
// agent's hold began. The caller ends the hold afterwards. If the daemon crashes between
// the two steps and repeats both, the notice has the same key as before.
func (s *Service) Unpaused(agent string, since time.Time, why, by string) {
	n := journal.Notice{Word: journal.Unpaused, Agent: agent, Why: why, By: by}
	if err := s.Raise(fmt.Sprintf("unpaused:%s:%s", agent, since.UTC().Format(time.RFC3339Nano)), n, "", ""); err != nil {
		s.Note(err)
	}
}

func (s *Service) tellLead(ev journal.Event, subject, body string) {
	agent, key := ev.Agent, ev.Key
	to := s.Names().LeadFor(agent)
	kind := dropbox.Status
	if to != dropbox.Lead && s.CanWork(to) {
		kind = dropbox.Task // a task wakes the agent; the daemon does not need the answer
	} else {
		to = dropbox.Lead
	}
	ev.Kind, ev.To, ev.At = journal.Alert, to, time.Now().UTC()
	ev.Message = &journal.Message{
		From: dropbox.Swarm, To: []string{to}, Type: kind, Subject: screen.Short(subject, 200), Key: key, Body: screen.Truncate(body, maxTold),
	}
	if err := s.happened(ev); err != nil {
		s.Log.Error("lead could not be told", keyAgent, agent, "subject", subject, keyErr, err)
		s.Trouble.Until("lead "+key, "the lead could not be notified of: "+ev.Message.Subject, func() error { return s.happened(ev) })
	}
}

// LeadListener returns the listener that delivers the alerts.
func (s *Service) LeadListener() Listener {
	return Listener{Name: "lead", Behind: "the lead could not be notified", Hear: s.deliverAlerts}
}

func (s *Service) deliverAlerts(_ context.Context, events []journal.Event) error {
	for _, ev := range events {
		if !ev.Quiet.IsZero() && s.Quiet != nil {
			if err := s.Quiet.keep(ev); err != nil {
				return err
			}
			continue
		}
		if ev.Kind != journal.Alert || ev.Message == nil {
			continue
		}
		if err := s.deliverAlert(ev); dropbox.IsUndeliverable(err) {
			s.Log.Error("lead could not be told", keyAgent, ev.Agent, "subject", ev.Message.Subject, keyErr, err)
		} else if err != nil {
			return fmt.Errorf("%s: %w", ev.Message.Subject, err)
		}
	}
	return nil
}

func (s *Service) deliverAlert(ev journal.Event) error {
	m := ev.Message.Mail()
	d, err := s.deliver(dropbox.Swarm, ev.To, m)
	if errors.Is(err, dropbox.ErrNoMailbox) && ev.To != dropbox.Lead {
		// The lead agent has been removed in the meantime.
		ev.To, m.To, m.Type = dropbox.Lead, []string{dropbox.Lead}, dropbox.Status
		d, err = s.deliver(dropbox.Swarm, ev.To, m)
	}
	if err != nil {
		return err
	}
	if !d.Duplicate {
		s.Alerted(ev.At, ev.Agent, m.Subject)
	}
	if ev.To == dropbox.Lead {
		return nil // the person sees the alert in the mailbox
	}
	told := *m
	told.ID, told.Thread, told.Trace = d.ID, d.Thread, d.ID
	return s.Arrived(&told, ev.To, ev.Agent)
}
