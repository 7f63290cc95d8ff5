package notice

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// The keys of log attributes.
const (
	keyAgent   = "agent"
	keyMessage = "message"
	keyErr     = "err"
)

// Size limits, in bytes. A message from the daemon cannot become an attachment, so its body
// must fit in the message.
const (
	MaxBody  = 6 << 10 // of a body
	MaxQuote = 1 << 10 // of what a body quotes from a message, and of a reason
)

// A Teller tells facts. Only Announcer, Quiet and Question may be nil. A Teller is safe for
// concurrent use.
type Teller struct {
	Home      journal.Home
	Store     *dropbox.Store
	Events    *journal.Events
	Log       *slog.Logger
	Announcer *Announcing // nil means that nothing is announced
	Quiet     *Quiet      // the facts kept until the person's quiet hours end; nil in programs other than the daemon
	Trouble   Trouble     // the daemon's own problems, for the status
	// Hide removes the secrets from a text.
	Hide func(text string) string
	// Deliver delivers a message as the daemon or as an agent. The result is that of
	// [dropbox.Store.DeliverSigned].
	Deliver func(as, to string, m *dropbox.Message) (dropbox.Delivery, error)
	// LeadFor returns the mailbox for mail to the lead about an agent.
	LeadFor func(agent string) string
	// CanWork reports whether the lead agent can start turns.
	CanWork func(agent string) bool
	// Question returns the notice of a question from the daemon, or nil if it has none.
	Question func(m *dropbox.Message) *journal.Notice
	// Alerted is called after an alert has been delivered. agent is "" if the alert is
	// about the daemon itself.
	Alerted func(at time.Time, agent, subject string)
	// Wake is called when there are new events for the listeners.
	Wake func()
	// Filed is called when a message was filed or given up whose event the listeners may
	// already have.
	Filed func()
}

// Tell tells a fact of which the lead gets mail. If the fact cannot be written to the event
// list, the status shows the error, and the daemon retries until the write succeeds. Mail
// about the lead agent goes to the person, and so does all mail while the lead agent cannot
// work. A fact with a key that was told before is not told again.
func (t *Teller) Tell(f Fact) {
	ev, err := t.eventOf(f)
	if err == nil {
		err = t.record(ev)
	}
	if err == nil {
		return
	}
	t.Log.Error("lead could not be told", keyAgent, ev.Agent, "subject", ev.Message.Subject, keyErr, err)
	t.Trouble.Until("lead "+ev.Key, "the lead could not be notified of: "+ev.Message.Subject, func() error { return t.record(ev) })
}

// Add tells a fact for a caller that repeats its own step if that fails. After an error, the
// fact is not in the event list.
func (t *Teller) Add(f Fact) error {
	ev, err := t.eventOf(f)
	if err != nil {
		return err
	}
	return t.record(ev)
}

// Text returns the line that IRC, webhooks and mail show for a fact that has a notice.
func Text(f Fact) string { return withWord(f.told()).Notice.Text() }

// record adds an event to the list, and wakes the listeners. After an error, the event is
// not in the list.
func (t *Teller) record(ev journal.Event) error {
	t.Quiet.mark(&ev)
	if err := t.Events.Add(ev); err != nil {
		return fmt.Errorf("what happened could not be recorded: %w", err)
	}
	t.Wake()
	return nil
}

// eventOf returns the event of a fact. A fact that the lead gets mail of causes no error.
func (t *Teller) eventOf(f Fact) (journal.Event, error) {
	about, err := withWord(f.told()), error(nil)
	switch {
	case about.subject != "":
		t.address(&about)
	case about.Message == nil:
		err = t.complete(&about)
	}
	return about.Event, err
}

// withWord returns a fact with the word and the key of its notice.
func withWord(f told) told {
	if f.Notice == nil {
		return f
	}
	n := *f.Notice
	if n.Word == "" {
		kind, _ := kindOf(f.Key)
		n.Word = catalogue[kind].word
	}
	if n.Agent == "" {
		n.Agent = f.Agent
	}
	if f.Kind == "" {
		f.Kind, f.Key = journal.Noticed, noticedKey+f.Key
	}
	f.Notice = &n
	return f
}

// address makes a fact mail for the lead.
func (t *Teller) address(f *told) {
	to, kind := t.LeadFor(f.Agent), dropbox.Status
	if to != dropbox.Lead && t.CanWork(to) {
		kind = dropbox.Task // a task wakes the agent; the daemon does not need the answer
	} else {
		to = dropbox.Lead
	}
	f.Kind, f.To, f.At = journal.Alert, to, time.Now().UTC()
	f.Message = &journal.Message{
		From: dropbox.Swarm, To: []string{to}, Type: kind, Subject: screen.Short(f.subject, 200), Key: f.Key, Body: screen.Truncate(f.body, MaxBody),
	}
}

// complete makes the text of its notice the message of a fact of which the lead gets no
// mail. It fails if the message that the fact is about cannot be read now.
func (t *Teller) complete(f *told) error {
	text := t.Hide(f.Notice.Text())
	f.To = dropbox.Lead
	f.Message = &journal.Message{From: dropbox.Swarm, To: []string{dropbox.Lead}, Type: dropbox.Status, Subject: screen.Short(text, 200), Body: text + "\n"}
	if f.details != "" {
		f.Message.Body = screen.Truncate(t.Hide(f.details), MaxBody) + "\n"
	}
	if f.of == "" {
		return nil
	}
	of, err := t.Store.Message(f.of)
	switch {
	case err == nil:
		f.About, f.Of, f.Message.Thread, f.Message.Trace = of.ID, journal.Keep(of), of.Thread, of.Trace
	case !errors.Is(err, dropbox.ErrNotFound) && !errors.Is(err, dropbox.ErrInvalid):
		return err
	}
	return nil
}
