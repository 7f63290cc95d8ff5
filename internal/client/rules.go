package client

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/policy"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// A RefusedError names the rule that refuses a message.
type RefusedError struct {
	Verdict policy.Verdict
	To      string // the recipient that the rule refuses
	Thread  string // the conversation; "" for a new one
}

func (e *RefusedError) Error() string { return "refused by a rule: " + e.Verdict.String() }

// MayPass checks a message against the policy before its delivery, so that the sender
// learns of a refusal immediately. The daemon checks the message again. MayPass halts the
// conversation of a message that has been passed on too many times, that agents are
// passing around in a circle, or that contains the stop sentinel. The daemon cannot do
// this, because it never sees a message that is refused here. If a rule refuses the
// message, the error is a [*RefusedError].
func (c *Client) MayPass(m *dropbox.Message) error {
	q := policy.Question{Proven: c.Me.Token != "", Now: time.Now(), BeforeDelivery: true}
	halted, err := c.Store.Threads().Halted(m.Thread)
	if err != nil {
		return err
	} else if halted != nil {
		if q.Halted = halted.Why; q.Halted == "" {
			q.Halted = "by hand"
		}
	}
	names := slices.Concat(m.To, m.CC)
	if len(names) == 0 {
		names = []string{""} // a topic, which has no recipient yet
	}
	for i, name := range names {
		one := *m
		if i >= len(m.To) && m.Topic == "" {
			one.Type = dropbox.Note
		}
		q.Message, q.To = &one, name
		v := c.Rules.Decide(nil, q)
		if v.Halt && m.Thread != "" {
			if err := c.Store.Threads().Halt(m.Thread, c.why(v.String())); err != nil {
				return err
			}
			c.Halted = m.Thread
		}
		if !v.Pass {
			return &RefusedError{v, name, m.Thread}
		}
	}
	return nil
}

// why returns the reason for halting a conversation. If the caller is the lead, the
// reason has the prefix ByLead, so that the daemon does not tell the lead about the
// lead's own action.
func (c *Client) why(reason string) string {
	if c.Me.Name == dropbox.Lead {
		return mail.ByLead + ": " + reason
	}
	return reason
}

// HaltThread halts a conversation. why is the reason, or "" for none.
func (c *Client) HaltThread(thread, why string) error {
	text := "by " + c.Me.Name
	if why = strings.TrimSpace(why); why != "" {
		text += ": " + why
	}
	return c.Store.Threads().Halt(thread, text)
}

// UnhaltThread lets a conversation continue. It puts back the messages that were refused
// only because the conversation was halted, and returns their number. It recognizes them by
// their recorded reason, not by the thread in the message, because, under the rules, a file
// that an agent wrote belongs to the conversation of the turn that wrote it.
func (c *Client) UnhaltThread(thread string) (back int, err error) {
	if err := c.Store.Threads().Unhalt(thread); err != nil {
		return 0, err
	}
	names, err := c.Store.Mailboxes()
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		box, err := c.Store.Mailbox(name)
		if err != nil {
			return back, err
		}
		refusals, err := box.Refusals().List()
		if err != nil {
			return back, err
		}
		for _, r := range refusals {
			if !policy.WasHalted(r.Reason, thread) {
				continue
			}
			err := box.Refusals().Readmit(r.Entry, false)
			if errors.Is(err, dropbox.ErrGone) {
				continue // readmitted in the meantime
			} else if err != nil {
				return back, fmt.Errorf("put back %s: %w", r.ID, err)
			}
			back++
		}
	}
	return back, nil
}
