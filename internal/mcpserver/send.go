package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
)

// mail contains what the tools that send messages have in common.
type mail struct {
	*client.Client
	files  folders
	daemon daemonLink
}

func mailOf(c *call) mail { return mail{c.Client, foldersOf(c), c.daemon} }

type sendArguments struct {
	To        string   `json:"to" jsonschema:"agents, comma-separated; @TAG for those with it; all; or lead"`
	Text      string   `json:"text" jsonschema:"at most 8192 bytes; attach longer text as a file"`
	Type      string   `json:"type,omitempty" jsonschema:"default: task" enum:"task,question,result,status,handoff,note"`
	Subject   string   `json:"subject,omitempty" jsonschema:"one line"`
	Priority  string   `json:"priority,omitempty" jsonschema:"default: normal" enum:"urgent,normal,low"`
	Thread    string   `json:"thread,omitempty" jsonschema:"default: that of your turn"`
	ReplyTo   string   `json:"reply_to,omitempty" jsonschema:"id of the message that it answers"`
	DependsOn []string `json:"depends_on,omitempty" jsonschema:"ids of messages that must be done first"`
	CC        []string `json:"cc,omitempty" jsonschema:"names that get a copy as a note"`
	Attach    []string `json:"attach,omitempty" jsonschema:"paths of files"`
	Key       string   `json:"key,omitempty" jsonschema:"no other message is sent with this key within 7 days"`
}

// sentMessages is the result of send and reply.
type sentMessages struct {
	Sent []sentTo `json:"sent"`
	Note string   `json:"note,omitempty"`
}

type sentTo struct {
	ID        string `json:"id"`
	To        string `json:"to"`
	Duplicate bool   `json:"duplicate,omitempty" jsonschema:"it was sent before with this key, and not again"`
}

func (w mail) send(ctx context.Context, in sendArguments) (*sentMessages, error) {
	m := &dropbox.Message{
		Type: dropbox.Type(cmp.Or(in.Type, string(dropbox.Task))), Subject: strings.Join(strings.Fields(in.Subject), " "), Key: in.Key,
	}
	var err error
	if m.Priority, err = dropbox.ParsePriority(cmp.Or(in.Priority, dropbox.Normal.String())); err != nil {
		return nil, err
	}
	if m.To, err = w.Recipients(in.To); err != nil {
		return nil, err
	}
	for _, name := range in.CC {
		names, err := w.Recipients(name)
		if err != nil {
			return nil, err
		}
		m.CC = append(m.CC, names...)
	}
	for _, id := range in.DependsOn {
		found, err := w.Find(id)
		if err != nil {
			return nil, fmt.Errorf("depends_on: %w", err)
		}
		m.DependsOn = append(m.DependsOn, found.Entry.ID)
	}
	if err := w.goesOn(m, in.Thread, in.ReplyTo); err != nil {
		return nil, err
	}
	return w.post(ctx, m, in.Text, in.Attach)
}

// goesOn adds a message to the conversation of the messages with the given ids.
func (w mail) goesOn(m *dropbox.Message, thread, replyTo string) error {
	for _, id := range []string{thread, replyTo} {
		if id == "" {
			continue
		}
		_, old, err := w.Message(id)
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		if id == replyTo {
			m.ReplyTo = old.ID
		}
		m.Thread, m.Trace = cmp.Or(m.Thread, old.Thread), old.Trace
	}
	return nil
}

// post adds the text and the attachments to a message, and sends it.
func (w mail) post(ctx context.Context, m *dropbox.Message, body string, attach []string) (*sentMessages, error) {
	return w.postNoted(ctx, m, body, attach, func(string, string) {})
}

// postNoted is like post. It also calls note with the id and the mailbox of each copy,
// before anyone can see that copy.
func (w mail) postNoted(ctx context.Context, m *dropbox.Message, body string, attach []string, note func(id, to string)) (*sentMessages, error) {
	if err := w.fill(m, body, attach); err != nil {
		return nil, err
	}
	sent, err := w.SendNoted(m, note)
	s := &sentMessages{Sent: delivered(sent)}
	if err != nil {
		if len(s.Sent) > 0 {
			err = fmt.Errorf("%w (sent: %s)", err, s.who())
		}
		return nil, withNext(err)
	}
	if w.Halted != "" {
		s.Note = "The text halts the conversation " + w.Halted + ": it no longer wakes any agent."
		return s, nil
	}
	if slices.ContainsFunc(sent, func(d dropbox.Delivery) bool { return d.To != dropbox.Lead }) {
		s.Note, err = w.daemon.hindrance(ctx)
	}
	if err == nil && s.Note == "" && m.Priority == dropbox.Urgent && m.Type.Wakes() {
		s.Note = w.daemon.readsLater(ctx, sent[:len(m.To)])
	}
	return s, err
}

// fill adds the text and the attachments to a message.
func (w mail) fill(m *dropbox.Message, body string, attach []string) error {
	m.Body = client.Body([]string{body}, w.Rules.BodyLimit())
	if err := checkBody(m.Body, w.Rules.BodyLimit(), "write it to a file, and name the file in attach"); err != nil {
		return err
	}
	for _, path := range attach {
		a, err := w.attach(path)
		if err != nil {
			return err
		}
		m.Attachments = append(m.Attachments, a)
	}
	return nil
}

func delivered(sent []dropbox.Delivery) []sentTo {
	list := []sentTo{}
	for _, d := range sent {
		list = append(list, sentTo{d.ID, d.To, d.Duplicate})
	}
	return list
}

// attach copies a file into the store. Package client decides what an agent may attach. A
// client that a person runs acts as the lead, and can attach only files in the project's
// folders.
func (w mail) attach(path string) (dropbox.Attachment, error) {
	path = w.files.absolute(path)
	if w.Me.Name == dropbox.Lead {
		var err error
		if path, err = w.files.within(path); err != nil {
			return dropbox.Attachment{}, fmt.Errorf("attach: %w", err)
		}
	}
	a, err := w.Attach(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("attach: %s does not exist", path)
	}
	return a, err
}

func (s *sentMessages) who() string {
	var list []string
	for _, one := range s.Sent {
		text := one.ID + " to " + one.To
		if one.Duplicate {
			text = "not again, a duplicate of " + text
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

func (s *sentMessages) readable() string {
	var t text
	t.line("Sent: %s.", s.who())
	t.remark(s.Note)
	return t.String()
}
