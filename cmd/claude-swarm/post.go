package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/mailslot"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A post is what the mail verbs work with: the project, its mailboxes, and who
// is asking. The caller closes it.
type post struct {
	*project
	store *dropbox.Store
	me    swarm.Identity
}

func openPost(c *cli.Context) (*post, error) {
	proj, err := loadProject(c)
	if err != nil {
		return nil, err
	}
	p := &post{project: proj}
	if p.store, err = proj.openStore(); err != nil {
		return nil, err
	}
	if p.me, err = proj.whoAmI(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *post) close() { p.store.Close() }

// own is the sender's own mailbox.
func (p *post) own() (*dropbox.Mailbox, error) { return p.mailbox(p.me.Name) }

// mailbox opens the mailbox of an agent or the lead, and makes it where no
// daemon has done so yet.
func (p *post) mailbox(name string) (*dropbox.Mailbox, error) {
	box, err := p.store.Mailbox(name)
	if errors.Is(err, dropbox.ErrNoMailbox) {
		if err = p.store.MakeMailbox(name); err == nil {
			box, err = p.store.Mailbox(name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("mailbox of %s: %w", name, err)
	}
	return box, nil
}

// ownName says whose mailbox it is, for a person: "your mailbox" for the
// sender's own.
func (p *post) ownName(mailbox string) string {
	if mailbox == p.me.Name {
		return "your mailbox"
	}
	return "the mailbox of " + mailbox
}

// send signs m and delivers it to everybody in To, and as a note to those in CC.
// All copies are in one thread. When one of them fails, those before it are
// delivered, and returned with the error.
func (p *post) send(m *dropbox.Message) ([]dropbox.Delivery, error) {
	if err := p.sign(); err != nil {
		return nil, err
	}
	if err := p.me.Envelope(m); err != nil {
		return nil, hint(err, "unset %s %s", runner.AgentVar, runner.MarkVar)
	}
	if err := p.answersTurn(m); err != nil {
		return nil, err
	}
	var sent []dropbox.Delivery
	err := p.sendAll(m, &sent)
	if len(sent) > 0 {
		err = errors.Join(err, p.note(sent, m))
	}
	return sent, err
}

// note tells the running turn what was sent in it. Only a result takes the
// place of the one that the daemon sends at the end: who was asked something, or
// told how things stand, still gets that.
func (p *post) note(sent []dropbox.Delivery, m *dropbox.Message) error {
	noted := *m
	if m.Type != dropbox.Result {
		noted.ReplyTo = ""
	}
	return p.me.Sent(sent, &noted)
}

// sign makes the lead's token, if no daemon has done so yet.
func (p *post) sign() error {
	if p.me.Name != dropbox.Lead || p.me.Token != "" {
		return nil
	}
	if _, err := p.home.Tokens(dropbox.Lead); err != nil {
		return err
	}
	var err error
	p.me, err = p.whoAmI()
	return err
}

// answersTurn notes that a result or a question that an agent sends back to
// whoever gave it the work of its turn answers that message: whoever waits for
// the answer waits for this one.
func (p *post) answersTurn(m *dropbox.Message) error {
	if p.me.Turn == "" || m.ReplyTo != "" || m.Type != dropbox.Result && m.Type != dropbox.Question {
		return nil
	}
	found, err := p.store.Find(messageOf(p.me.Turn))
	if errors.Is(err, dropbox.ErrNotFound) {
		return nil // removed under the running turn
	} else if err != nil {
		return err
	}
	work, err := p.store.Load(found)
	if err == nil && slices.Contains(m.To, work.From) {
		m.ReplyTo = work.ID
	}
	return nil
}

func (p *post) sendAll(m *dropbox.Message, sent *[]dropbox.Delivery) error {
	for i, name := range slices.Concat(m.To, m.CC) {
		one := *m
		if i >= len(m.To) {
			one.Type = dropbox.Note
		}
		d, err := p.deliver(name, &one)
		if err != nil {
			return refused(err, name)
		}
		*sent = append(*sent, d)
		m.Thread = cmp.Or(m.Thread, d.Thread)
		m.Trace = cmp.Or(m.Trace, d.ID)
	}
	return nil
}

// deliver puts one copy into one mailbox, which it makes when no daemon has
// done so yet.
func (p *post) deliver(to string, m *dropbox.Message) (dropbox.Delivery, error) {
	sign := func(m *dropbox.Message) string { return p.me.Sign(m, to) }
	d, err := p.store.DeliverSigned(to, m, sign)
	if errors.Is(err, dropbox.ErrNoMailbox) {
		if err := p.store.MakeMailbox(to); err != nil {
			return d, err
		}
		d, err = p.store.DeliverSigned(to, m, sign)
	}
	return d, err
}

// refused gives the errors of a delivery their exit status and the next step.
func refused(err error, to string) error {
	switch {
	case errors.Is(err, dropbox.ErrFull):
		return &hintError{err: err, code: exitRefused, hint: "claude-swarm status " + to}
	case errors.Is(err, dropbox.ErrTooLarge):
		return &hintError{err: err, code: exitRefused, hint: "put it where the agent can read it, and send the path"}
	case errors.Is(err, dropbox.ErrHops):
		return &hintError{err: err, code: exitRefused, hint: "let the lead decide how to go on: claude-swarm send lead \"…\""}
	case errors.Is(err, dropbox.ErrInvalid):
		return &hintError{err: err, code: exitUsage, hint: "claude-swarm help send"}
	case errors.Is(err, os.ErrPermission):
		return hint(err, "claude-swarm doctor")
	}
	return err
}

// message finds a message by the end of its id, wherever it lies, and reads it.
func (p *post) message(id string) (dropbox.Found, *dropbox.Message, error) {
	found, err := p.find(id)
	if err != nil {
		return found, nil, err
	}
	m, err := p.store.Load(found)
	if err != nil {
		return found, nil, fmt.Errorf("message %s: %w", found.Entry.ID, err)
	}
	return found, m, nil
}

func (p *post) find(id string) (dropbox.Found, error) {
	found, err := p.store.Find(id)
	switch amb, ok := errors.AsType[*dropbox.AmbiguousError](err); {
	case ok:
		return found, fail(exitUnknown, "claude-swarm trace "+amb.IDs[0], "%q fits %d messages: %s", id, len(amb.IDs), strings.Join(amb.IDs, ", "))
	case errors.Is(err, dropbox.ErrNotFound):
		return found, fail(exitUnknown, "claude-swarm inbox", "no message %q here", id)
	case err != nil:
		return found, err
	}
	return found, nil
}

// sayIfNobodyWorks warns that what was sent to these mailboxes waits.
func (p *post) sayIfNobodyWorks(c *cli.Context, to ...string) {
	mailslot.SayIfNobodyWorks(c.App.ErrWriter, p.dir, p.store, to...)
}

// The places of a message, in our words for a person.
const (
	stateWaiting = "waiting"
	stateWorking = "working"
	stateUnread  = "unread"
	stateRead    = "read"
	stateDone    = "done"
	stateDead    = "dead"
)

// stateOf names the place of a message. The lead's mailbox has no turns: new
// and cur are unread and read there.
func stateOf(mailbox string, state dropbox.State) string {
	lead := mailbox == dropbox.Lead
	switch {
	case state == dropbox.Waiting && lead:
		return stateUnread
	case state == dropbox.Claimed && lead:
		return stateRead
	case state == dropbox.Waiting:
		return stateWaiting
	case state == dropbox.Claimed:
		return stateWorking
	case state == dropbox.Dead:
		return stateDead
	}
	return stateDone
}

// receiptOf reads what became of a message. The error is
// [dropbox.ErrNotFound] for one that had no turn.
func (p *post) receiptOf(found dropbox.Found) (*swarm.Receipt, error) {
	box, err := p.mailbox(found.Mailbox)
	if err != nil {
		return nil, err
	}
	data, err := box.Receipt(found.Entry)
	if err != nil {
		return nil, err
	}
	return swarm.ParseReceipt(data)
}

// reasonOf reads why a dead letter was given up; "" when nobody noted it.
func (p *post) reasonOf(found dropbox.Found) string {
	box, err := p.mailbox(found.Mailbox)
	if err != nil {
		return ""
	}
	letters, err := box.Dead()
	if err != nil {
		return ""
	}
	for _, d := range letters {
		if d.ID == found.Entry.ID {
			return d.Reason
		}
	}
	return ""
}

// attachmentPath is where the file lies, absolute.
func (p *post) attachmentPath(a dropbox.Attachment) string {
	return filepath.Join(p.store.Dir(), filepath.FromSlash(a.Path))
}

// gist is what a message is about, on one line: its subject, else the
// beginning of its text.
func gist(m *dropbox.Message) string {
	if m.Subject != "" {
		return oneLine(m.Subject)
	}
	return gistOf(&messageView{Body: string(m.Body)})
}

// gistOf is gist of what is shown.
func gistOf(m *messageView) string {
	if m.Subject != "" {
		return oneLine(m.Subject)
	}
	return oneLine(strings.ToValidUTF8(m.Body[:min(len(m.Body), 400)], ""))
}

// A messageView is a message as --json prints it.
type messageView struct {
	ID          string           `json:"id"`
	Mailbox     string           `json:"mailbox,omitempty"`
	State       string           `json:"state,omitempty"`
	From        string           `json:"from"`
	Proven      bool             `json:"proven"`
	To          []string         `json:"to,omitempty"`
	CC          []string         `json:"cc,omitempty"`
	Type        dropbox.Type     `json:"type"`
	Priority    string           `json:"priority"`
	Subject     string           `json:"subject,omitempty"`
	Thread      string           `json:"thread,omitempty"`
	ReplyTo     string           `json:"reply_to,omitempty"`
	Trace       string           `json:"trace,omitempty"`
	Key         string           `json:"key,omitempty"`
	Turn        string           `json:"turn,omitempty"`
	Hops        int              `json:"hops"`
	Path        []string         `json:"path,omitempty"`
	Created     time.Time        `json:"created"`
	Expires     *time.Time       `json:"expires,omitempty"`
	Attachments []attachmentView `json:"attachments,omitempty"`
	Reason      string           `json:"reason,omitempty"` // of a dead letter
	Body        string           `json:"body"`
}

type attachmentView struct {
	Name   string `json:"name"`
	Path   string `json:"path"` // absolute
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// view is a message where it lies, with its proof looked at.
func (p *post) view(mailbox string, state dropbox.State, m *dropbox.Message) *messageView {
	v := &messageView{
		ID: m.ID, Mailbox: mailbox, State: stateOf(mailbox, state),
		From: m.From, Proven: p.proven(mailbox, m), To: m.To, CC: m.CC,
		Type: m.Type, Priority: m.Priority.String(), Subject: m.Subject,
		Thread: m.Thread, ReplyTo: m.ReplyTo, Trace: m.Trace, Key: m.Key, Turn: m.Turn,
		Hops: m.Hops, Path: m.Path, Created: m.Created, Body: string(m.Body),
	}
	if !m.Expires.IsZero() {
		v.Expires = &m.Expires
	}
	for _, a := range m.Attachments {
		v.Attachments = append(v.Attachments, attachmentView{a.Name, p.attachmentPath(a), a.Size, a.SHA256})
	}
	return v
}

// proven tells whether the sender of a message is who it says.
func (p *post) proven(mailbox string, m *dropbox.Message) bool {
	if m.Proof == "" {
		return false
	}
	tokens, err := p.home.Tokens()
	token := tokens[cmp.Or(m.From, dropbox.Lead)]
	return err == nil && token != "" && dropbox.Proven(token, m, mailbox)
}
