package door

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A View is a message as a door shows it, as JSON.
type View struct {
	ID          string         `json:"id"`
	Mailbox     string         `json:"mailbox,omitempty"`
	State       string         `json:"state,omitempty"`
	From        string         `json:"from"`
	Proven      bool           `json:"proven"`
	To          []string       `json:"to,omitempty"`
	CC          []string       `json:"cc,omitempty"`
	Type        dropbox.Type   `json:"type"`
	Priority    string         `json:"priority"`
	Subject     string         `json:"subject,omitempty"`
	Topic       string         `json:"topic,omitempty"` // it was published on
	Offer       string         `json:"offer,omitempty"` // the published work that it offers
	Thread      string         `json:"thread,omitempty"`
	ReplyTo     string         `json:"reply_to,omitempty"`
	Trace       string         `json:"trace,omitempty"`
	Key         string         `json:"key,omitempty"`
	Turn        string         `json:"turn,omitempty"`
	Hops        int            `json:"hops"`
	Path        []string       `json:"path,omitempty"`
	Created     time.Time      `json:"created"`
	Expires     *time.Time     `json:"expires,omitempty"`
	Attachments []AttachedView `json:"attachments,omitempty"`
	Reason      string         `json:"reason,omitempty"` // of a dead letter, or one that was refused
	Body        string         `json:"body"`
}

// An AttachedView is an attachment of a message.
type AttachedView struct {
	Name   string `json:"name"`
	Path   string `json:"path"` // absolute
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// View is a message where it lies, with its proof looked at.
func (d *Door) View(mailbox string, state dropbox.State, m *dropbox.Message) *View {
	v := &View{
		ID: m.ID, Mailbox: mailbox, State: StateOf(mailbox, state),
		From: m.From, Proven: d.proven(mailbox, m), To: m.To, CC: m.CC,
		Type: m.Type, Priority: m.Priority.String(), Subject: m.Subject, Topic: m.Topic, Offer: m.Offer,
		Thread: m.Thread, ReplyTo: m.ReplyTo, Trace: m.Trace, Key: m.Key, Turn: m.Turn,
		Hops: m.Hops, Path: m.Path, Created: m.Created, Body: string(m.Body),
	}
	if !m.Expires.IsZero() {
		v.Expires = &m.Expires
	}
	for _, a := range m.Attachments {
		v.Attachments = append(v.Attachments, AttachedView{a.Name, d.AttachmentPath(a), a.Size, a.SHA256})
	}
	return v
}

// proven tells whether the sender of a message is who it says.
func (d *Door) proven(mailbox string, m *dropbox.Message) bool {
	if m.Proof == "" {
		return false
	}
	tokens, err := d.Home.Tokens()
	token := tokens[cmp.Or(m.From, dropbox.Lead)]
	return err == nil && token != "" && dropbox.Proven(token, m, mailbox)
}

// Gist is what a message is about, on one line: its subject, else the beginning of
// its text. It may steer a terminal.
func (v *View) Gist() string {
	return (&dropbox.Message{From: v.From, Subject: v.Subject, Body: []byte(v.Body)}).Gist()
}

// The places of a message, in our words for a person.
const (
	StateWaiting = "waiting"
	StateWorking = "working"
	StateUnread  = "unread"
	StateRead    = "read"
	StateDone    = "done"
	StateDead    = "dead"
	StateRefused = "refused"
)

// StateOf names the place of a message. The lead's mailbox has no turns: new and
// cur are unread and read there.
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

// List reads the messages of a mailbox that are not finished, those in the lead's
// in the order in which they came. unread leaves out what is being worked on, or
// was read. What cannot be read is there with the reason.
func (d *Door) List(mailbox string, unread bool) ([]*View, error) {
	box, err := d.Mailbox(mailbox)
	if err != nil {
		return nil, err
	}
	list := []*View{}
	add := func(state dropbox.State, entries []dropbox.Entry) {
		for _, e := range entries {
			m, err := box.Read(e)
			if errors.Is(err, dropbox.ErrGone) {
				continue // taken while we looked
			} else if err != nil {
				list = append(list, &View{ID: e.ID, Mailbox: mailbox, State: StateOf(mailbox, state), Created: e.Created, Priority: e.Priority.String(), Reason: err.Error()})
				continue
			}
			list = append(list, d.View(mailbox, state, m))
		}
	}
	if !unread {
		read, err := box.Claimed()
		if err != nil {
			return nil, err
		}
		add(dropbox.Claimed, read)
	}
	fresh, err := box.Peek()
	if err != nil {
		return nil, err
	}
	add(dropbox.Waiting, fresh)
	if mailbox == dropbox.Lead { // agents work by priority, people read by time
		slices.SortStableFunc(list, func(a, b *View) int {
			return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID))
		})
	}
	return list, nil
}
