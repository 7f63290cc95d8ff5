package client

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/policy"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A DeliveryError names the recipient to whom a message could not be delivered.
type DeliveryError struct {
	To  string
	Err error
}

func (e *DeliveryError) Error() string { return e.Err.Error() }
func (e *DeliveryError) Unwrap() error { return e.Err }

// A TurnError reports that the environment names a turn whose record cannot be read.
type TurnError struct{ Err error }

func (e *TurnError) Error() string { return e.Err.Error() }
func (e *TurnError) Unwrap() error { return e.Err }

// ErrAlone reports that a message to "all" has no recipient, because the sender is the
// only agent.
var ErrAlone = errors.New("there is no agent but the sender")

// ErrNobody reports that a list of recipients contains no name.
var ErrNobody = errors.New("the list of recipients is empty")

// Recipients checks and returns the names in a comma-separated list. Each name is the name
// of an agent, "lead" or an alias for it ([swarm.Plan.Leads]), "all" for every agent
// except the sender, @TAG for every agent with that tag except the sender, or "irc" if IRC
// is configured. The error is a [*swarm.UnknownAgentError], a [*TagError], [ErrOwnTag],
// [ErrAlone] or [ErrNobody].
func (c *Client) Recipients(list string) ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		switch {
		case name == "": // for example after a trailing comma
		case name == dropbox.All:
			others := slices.DeleteFunc(slices.Clone(c.Agents), func(n string) bool { return n == c.Me.Name })
			if len(others) == 0 {
				return nil, ErrAlone
			}
			names = append(names, others...)
		case strings.HasPrefix(name, TagMark):
			with, err := c.tagged(name[len(TagMark):])
			if err != nil {
				return nil, err
			}
			names = append(names, with...)
		case c.lead().Leads(name):
			names = append(names, c.lead().LeadFor(c.Me.Name))
		case name == ircbridge.Name && c.IRC != nil:
			names = append(names, name)
		case !slices.Contains(c.Agents, name):
			return nil, &swarm.UnknownAgentError{Name: name, Near: dropbox.Nearest(name, c.addresses())}
		default:
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, ErrNobody
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Leads reports whether a name means the lead.
func (c *Client) Leads(name string) bool { return c.lead().Leads(strings.TrimSpace(name)) }

// addresses returns the known names, from which suggestions for an unknown name are
// chosen.
func (c *Client) addresses() []string {
	names := append(slices.Clone(c.Agents), dropbox.Lead)
	if c.LeadName != "" {
		names = append(names, c.LeadName)
	}
	return names
}

// Send signs m and delivers it to all names in To, and as a note to all names in CC. It
// adds the lead to CC if the configuration requires a copy. All copies are in one thread.
// If a delivery fails, Send returns the earlier deliveries and a [*DeliveryError]. Inside a
// turn the error may be a [*TurnError]. A [*RefusedError] means that a rule refuses the
// message and nothing was delivered.
//
// A message that contains the stop sentinel halts its conversation, and is delivered as a
// note, which wakes no agent.
func (c *Client) Send(m *dropbox.Message) ([]dropbox.Delivery, error) {
	return c.SendNoted(m, func(string, string) {})
}

// SendNoted is like Send, but also calls note with the id and the mailbox of each copy
// before anybody can see the copy.
func (c *Client) SendNoted(m *dropbox.Message, note func(id, to string)) ([]dropbox.Delivery, error) {
	if err := c.EnsureToken(); err != nil {
		return nil, err
	}
	if lead := c.lead().CopyFor(c.Me.Name, slices.Concat(m.To, m.CC)...); lead != "" {
		m.CC = append(m.CC, lead)
	}
	if err := c.Me.Envelope(m); err != nil {
		return nil, &TurnError{err}
	}
	if err := c.answersTurn(m); err != nil {
		return nil, err
	}
	c.redact(m)
	c.Halted = ""
	if err := c.MayPass(m); err != nil {
		refused, ok := errors.AsType[*RefusedError](err)
		if !ok || refused.Verdict.Rule != policy.RuleSentinel || c.Halted == "" {
			return nil, err
		}
		m.Type = dropbox.Note
	}
	sent, err := c.sendAll(m, note)
	if len(sent) > 0 {
		err = errors.Join(err, c.noteInTurn(sent, m))
	}
	return sent, err
}

// redact removes the project's tokens from a message, because its text ends up in
// receipts, logs and commits.
func (c *Client) redact(m *dropbox.Message) {
	r := c.Home.Secrets().Redactor()
	m.Body, m.Subject = r.Bytes(m.Body), r.Text(m.Subject)
}

// noteInTurn records in the running turn that the message was sent in it. A result
// replaces the one that the daemon would send at the end of the turn. A question or a
// status does not replace it.
func (c *Client) noteInTurn(sent []dropbox.Delivery, m *dropbox.Message) error {
	noted := *m
	if m.Type != dropbox.Result {
		noted.ReplyTo = ""
	}
	mails := min(len(sent), len(m.To))
	if err := c.Me.Sent(sent[:mails], &noted); err != nil || mails == len(sent) {
		return err
	}
	noted.Type, noted.ReplyTo = dropbox.Note, ""
	return c.Me.Sent(sent[mails:], &noted) // a CC copy of a result is not an answer
}

// EnsureToken creates the lead's token if no daemon has done so yet.
func (c *Client) EnsureToken() error {
	if c.Me.Name != dropbox.Lead || c.Me.Token != "" {
		return nil
	}
	_, err := c.Home.Tokens(dropbox.Lead)
	if err == nil {
		c.Me, err = c.Home.IdentityOf(journal.Caller{}, func(string) string { return "" })
	}
	return err
}

// answersTurn makes m an answer to the message of the turn if m is a result or a question
// and goes to the sender of that message, who may be waiting for an answer.
func (c *Client) answersTurn(m *dropbox.Message) error {
	if c.Me.Turn == "" || m.ReplyTo != "" || m.Type != dropbox.Result && m.Type != dropbox.Question {
		return nil
	}
	work, err := c.Work()
	if err == nil && work != nil && slices.Contains(m.To, work.From) {
		m.ReplyTo = work.ID
	}
	return err
}

// Work returns the message that the caller's turn is working on. It returns nil outside a
// turn, or if the message has been removed in the meantime.
func (c *Client) Work() (*dropbox.Message, error) {
	if c.Me.Turn == "" {
		return nil, nil
	}
	found, err := c.Store.Find(MessageOf(c.Me.Turn))
	if errors.Is(err, dropbox.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	m, err := c.Store.Load(found)
	if err != nil {
		return nil, nil // moved in the meantime, or replaced by something else
	}
	return m, nil
}

// MessageOf returns the id of a turn's message. It is part of the turn's id, which has
// the form ID-ATTEMPT.
func MessageOf(turn string) string {
	id, _, _ := strings.Cut(turn, "-")
	return id
}

func (c *Client) sendAll(m *dropbox.Message, note func(id, to string)) ([]dropbox.Delivery, error) {
	var sent []dropbox.Delivery
	for i, name := range slices.Concat(m.To, m.CC) {
		one := *m
		if i >= len(m.To) {
			one.Type = dropbox.Note
		}
		delivery, err := c.deliver(name, &one, note)
		if err != nil {
			return sent, &DeliveryError{name, err}
		}
		sent = append(sent, delivery)
		m.Thread = cmp.Or(m.Thread, delivery.Thread)
		m.Trace = cmp.Or(m.Trace, delivery.ID)
	}
	return sent, nil
}

// deliver puts one copy into one mailbox, and creates the mailbox if no daemon has done so
// yet.
func (c *Client) deliver(to string, m *dropbox.Message, note func(id, to string)) (dropbox.Delivery, error) {
	sign := func(m *dropbox.Message) string {
		note(m.ID, to)
		return c.Me.Sign(m, to)
	}
	sent, err := c.Store.DeliverSigned(to, m, sign)
	if errors.Is(err, dropbox.ErrNoMailbox) {
		if err := c.Store.MakeMailbox(to); err != nil {
			return sent, err
		}
		sent, err = c.Store.DeliverSigned(to, m, sign)
	}
	return sent, err
}
