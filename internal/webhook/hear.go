package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Hear puts the events that have a notice, and those about a client's own task list, into the
// mailbox, with one message for each webhook that subscribes to the event. It skips events during the person's quiet hours. A
// single event at the end of those hours combines them, and goes to each webhook that
// subscribes to at least one of them. After an error, the caller must call Hear again with
// the same events. Repeating the call is harmless, because the mailbox recognizes a
// message by its key.
func (s *Service) Hear(_ context.Context, events []journal.Event) error {
	s.mu.Lock()
	hooks := s.hooks
	s.mu.Unlock()
	for _, ev := range events {
		words := wordsOf(ev)
		for _, h := range hooks {
			if !slices.ContainsFunc(words, h.wants) {
				continue
			}
			if err := s.put(h, ev); err != nil {
				return fmt.Errorf("webhook %s: %w", h.Name, err)
			}
		}
	}
	return nil
}

// wordsOf returns the words by which webhooks subscribe to an event. An event without any is
// posted to no webhook.
func wordsOf(ev journal.Event) []journal.Word {
	switch {
	case !ev.Quiet.IsZero(): // the morning alert gathers it
		return nil
	case ev.Notice != nil:
		return []journal.Word{ev.Notice.Word}
	case ev.Kind.IsOfList():
		return []journal.Word{journal.Word(ev.Kind)}
	}
	return ev.Gathers
}

// IsPosted reports whether a webhook may subscribe to an event.
func IsPosted(ev journal.Event) bool { return len(wordsOf(ev)) > 0 }

// put puts an event for a webhook into the mailbox as a message.
func (s *Service) put(h Hook, ev journal.Event) error {
	var p Payload
	switch {
	case ev.Notice != nil:
		p = payloadOf(ev, s.o.Notice(ev), s.o.Project)
	case ev.Kind.IsOfList():
		p = listPayload(ev, s.o.Project)
	default:
		p = morningPayload(ev, s.o.Project)
	}
	p.Data.Webhook = h.Name
	err := s.deliver(p, ev)
	if errors.Is(err, dropbox.ErrTooLarge) { // the message is longer than the policy allows
		p.Data.Details = ""
		err = s.deliver(p, ev)
	}
	if errors.Is(err, dropbox.ErrTooLarge) || errors.Is(err, dropbox.ErrInvalid) {
		s.o.Log.Error("event could not be posted", keyHook, h.Name, "event", string(p.Type), keyErr, err)
		return nil // a retry would also fail, and would delay the next events
	}
	return err
}

func (s *Service) deliver(p Payload, ev journal.Event) error {
	m := &dropbox.Message{
		From: dropbox.Swarm, To: []string{dropbox.Hooks}, Type: dropbox.Status,
		Subject: screen.Short(p.Data.Webhook+": "+p.Data.Text, 200),
		Key:     fmt.Sprintf("%s-%s-%s", dropbox.Hooks, p.Data.Webhook, ev.Key),
		Body:    s.o.Secrets.Hidden(p.JSON()),
	}
	if ev.Message != nil {
		m.Thread, m.Trace = ev.Message.Thread, ev.Message.Trace
	}
	m.Subject = s.o.Secrets.Redactor().Text(m.Subject)
	sign := func(m *dropbox.Message) string { return dropbox.Proof(s.o.Token, m, dropbox.Hooks) }
	_, err := s.o.Store.DeliverSigned(dropbox.Hooks, m, sign)
	if errors.Is(err, dropbox.ErrNoMailbox) { // the mailbox has been deleted
		if err = s.o.Store.MakeMailbox(dropbox.Hooks); err == nil {
			_, err = s.o.Store.DeliverSigned(dropbox.Hooks, m, sign)
		}
	}
	if err == nil {
		s.Wake()
	}
	return err
}
