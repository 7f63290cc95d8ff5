package mcpserver

import (
	"context"
	"errors"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
)

// A mailbox lets the tools read the caller's mail.
type mailbox struct {
	*client.Client
	daemon daemonLink
}

func mailboxOf(c *call) mailbox { return mailbox{c.Client, c.daemon} }

type inboxArguments struct {
	Unread bool   `json:"unread,omitempty" jsonschema:"omit messages that are read or being worked on"`
	Since  string `json:"since,omitempty" jsonschema:"only messages later than this one"`
}

// An inbox is the result of inbox.
type inbox struct {
	Mailbox  string `json:"mailbox"`
	Messages []gist `json:"messages"`
	Left     int    `json:"left_out,omitempty" jsonschema:"further waiting messages"`
	Note     string `json:"note,omitempty"`
}

// maxListed limits a list of messages, because the whole list becomes part of the agent's
// context.
const maxListed = 50

func (c mailbox) list(ctx context.Context, in inboxArguments) (*inbox, error) {
	var after *dropbox.Message
	if in.Since != "" {
		var err error
		if _, after, err = c.Message(in.Since); err != nil {
			return nil, err
		}
	}
	views, err := view.Inbox(c.Client, c.Me.Name, in.Unread)
	if err != nil {
		return nil, err
	}
	box := &inbox{Mailbox: c.Me.Name, Messages: []gist{}}
	for _, v := range views {
		switch {
		case after != nil && (!v.Created.After(after.Created) || v.ID == after.ID):
		case len(box.Messages) == maxListed:
			box.Left++
		default:
			box.Messages = append(box.Messages, gistOf(c.Client, v))
		}
	}
	box.Note, err = c.daemon.hindrance(ctx)
	return box, err
}

func (b *inbox) readable() string {
	var t text
	if len(b.Messages) == 0 {
		t.line("The mailbox of %s is empty.", b.Mailbox)
	}
	for _, m := range b.Messages {
		t.line("%s %s from %s, %s: %s", m.ID, m.Type, m.From, m.State, m.About)
		if m.Priority == dropbox.Urgent.String() {
			t.add(" (urgent)")
		}
		if m.Offer != "" {
			t.add(" (offers %s on %s: claim it before you do it)", m.Offer, m.Topic)
		}
	}
	if b.Left > 0 {
		t.line("And %s.", screen.Several(b.Left, "further message", "further messages"))
	}
	t.remark(b.Note)
	return t.String()
}

type readArguments struct {
	ID string `json:"id" jsonschema:"the message, or published work; the start or end of its id is enough"`
}

// A wholeMessage is a message with its full text.
type wholeMessage struct {
	gist
	To       []string `json:"to,omitempty"`
	ReplyTo  string   `json:"reply_to,omitempty"`
	Text     string   `json:"text"`
	Attached []string `json:"attached,omitempty" jsonschema:"paths of files"`
	Why      string   `json:"why,omitempty" jsonschema:"why it was given up"`
}

func (c mailbox) read(_ context.Context, in readArguments) (*wholeMessage, error) {
	found, m, err := c.Message(in.ID)
	if err != nil {
		return nil, err
	}
	if err := c.MayReadMessage(found, m); err != nil {
		return nil, err
	}
	v := view.Found(c.Client, found, m)
	r := &wholeMessage{gist: gistOf(c.Client, v), To: v.To, ReplyTo: v.ReplyTo, Text: v.Body}
	for _, a := range v.Attachments {
		r.Attached = append(r.Attached, a.Path)
	}
	if found.State == dropbox.Dead {
		r.Why = c.Reason(found)
	}
	return r, c.markRead(found)
}

// markRead marks a message as read by the lead. Reading a message in an agent's mailbox
// does not claim it, because each message gets its own turn.
func (c mailbox) markRead(found dropbox.Found) error {
	if found.State != dropbox.Waiting || found.Mailbox != dropbox.Lead || c.Me.Name != dropbox.Lead {
		return nil
	}
	box, err := c.Own()
	if err != nil {
		return err
	}
	if err := box.MarkRead(found.Entry); err != nil && !errors.Is(err, dropbox.ErrGone) {
		return err
	}
	return nil
}

func (r *wholeMessage) readable() string {
	var t text
	from := r.From
	if !r.Proven && r.From != dropbox.Swarm {
		from += " (unverified)"
	}
	t.line("%s %s from %s, %s, %s", r.ID, r.Type, from, r.State, r.Time)
	if r.State == view.StateDead && r.Why != "" {
		t.line("Given up: %s", r.Why)
	}
	for _, path := range r.Attached {
		t.line("Attached: %s", path)
	}
	t.line("")
	t.line("%s", strings.TrimRight(r.Text, "\n"))
	return t.String()
}
