package view

import (
	"cmp"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
)

// A Message is one message with its text, its mailbox and its state.
type Message struct {
	ID          string       `json:"id"`
	Mailbox     string       `json:"mailbox,omitempty"`
	State       string       `json:"state,omitempty"`
	From        string       `json:"from"`
	Proven      bool         `json:"proven"`
	To          []string     `json:"to,omitempty"`
	CC          []string     `json:"cc,omitempty"`
	Type        dropbox.Type `json:"type"`
	Priority    string       `json:"priority"`
	Subject     string       `json:"subject,omitempty"`
	Outcome     string       `json:"outcome,omitempty"` // refused, if its turn, or the turn whose result it is, did nothing
	Topic       string       `json:"topic,omitempty"`   // the topic on which it was published
	Offer       string       `json:"offer,omitempty"`   // the published work that it offers
	Thread      string       `json:"thread,omitempty"`
	ReplyTo     string       `json:"reply_to,omitempty"`
	DependsOn   []string     `json:"depends_on,omitempty"` // the messages that must be done first
	WaitsFor    string       `json:"waits_for,omitempty"`  // the one of them for which a waiting message waits, and why it may wait forever
	Trace       string       `json:"trace,omitempty"`
	Key         string       `json:"key,omitempty"`
	Turn        string       `json:"turn,omitempty"`
	Hops        int          `json:"hops"`
	Path        []string     `json:"path,omitempty"`
	Created     time.Time    `json:"created"`
	Expires     *time.Time   `json:"expires,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
	Reason      string       `json:"reason,omitempty"` // why the message is dead or refused, or why it cannot be parsed
	Body        string       `json:"body"`
}

// An Attachment is a file that was sent with a message.
type Attachment struct {
	Name   string `json:"name"`
	Path   string `json:"path"` // absolute
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// MessageIn returns the view of a message in a mailbox. It checks the sender's proof.
func MessageIn(c *client.Client, mailbox string, state dropbox.State, m *dropbox.Message) *Message {
	v := &Message{
		ID: m.ID, Mailbox: mailbox, State: StateOf(mailbox, state),
		From: m.From, Proven: proven(c, mailbox, m), To: m.To, CC: m.CC,
		Type: m.Type, Priority: m.Priority.String(), Subject: m.Subject, Outcome: m.Outcome, Topic: m.Topic, Offer: m.Offer,
		Thread: m.Thread, ReplyTo: m.ReplyTo, DependsOn: m.DependsOn, Trace: m.Trace, Key: m.Key, Turn: m.Turn,
		Hops: m.Hops, Path: m.Path, Created: m.Created, Body: string(m.Body),
	}
	if !m.Expires.IsZero() {
		v.Expires = &m.Expires
	}
	for _, a := range m.Attachments {
		v.Attachments = append(v.Attachments, Attachment{a.Name, c.AttachmentPath(a), a.Size, a.SHA256})
	}
	return v
}

// Found returns the view of a message that was found in the store. If the turn on the message
// did nothing, the view has the outcome of that turn.
func Found(c *client.Client, found dropbox.Found, m *dropbox.Message) *Message {
	v := MessageIn(c, found.Mailbox, found.State, m)
	if found.State == dropbox.Done {
		if r, err := c.Receipt(found); err == nil && r.Outcome == OutcomeRefused {
			v.Outcome = r.Outcome
		}
	}
	if found.State == dropbox.Waiting {
		if d, err := c.WaitsFor(m); err == nil && d != nil {
			v.WaitsFor = d.Text()
		}
	}
	return v
}

// proven reports whether a message has a valid proof of its sender.
func proven(c *client.Client, mailbox string, m *dropbox.Message) bool {
	if m.Proof == "" {
		return false
	}
	tokens, err := c.Home.Tokens()
	token := tokens[cmp.Or(m.From, dropbox.Lead)]
	return err == nil && token != "" && dropbox.Proven(token, m, mailbox)
}

// Gist returns the subject of a message, or the beginning of its text if it has no subject,
// on one line. The gist may contain control characters.
func (v *Message) Gist() string {
	return (&dropbox.Message{From: v.From, Subject: v.Subject, Body: []byte(v.Body)}).Gist()
}

// These are the states of a message as shown to people.
const (
	StateWaiting = "waiting"
	StateWorking = "working"
	StateUnread  = "unread"
	StateRead    = "read"
	StateDone    = "done"
	StateDead    = "dead"
	StateRefused = "refused"
)

// StateOf returns the state of a message as shown to people. Messages to the lead have no
// turns: a waiting message is unread, and a claimed message is read.
func StateOf(mailbox string, state dropbox.State) string {
	lead := mailbox == dropbox.Lead
	switch {
	case state == dropbox.Waiting && lead:
		return StateUnread
	case state == dropbox.Claimed && lead:
		return StateRead
	case state == dropbox.Waiting:
		return StateWaiting
	case state == dropbox.Claimed:
		return StateWorking
	case state == dropbox.Dead:
		return StateDead
	case state == dropbox.Refused:
		return StateRefused
	}
	return StateDone
}
