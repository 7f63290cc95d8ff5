package door

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/policy"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A DeliveryError says to whom a message could not be delivered.
type DeliveryError struct {
	To  string
	Err error
}

func (e *DeliveryError) Error() string { return e.Err.Error() }
func (e *DeliveryError) Unwrap() error { return e.Err }

// A TurnError says that the environment speaks of a turn which is not there.
type TurnError struct{ Err error }

func (e *TurnError) Error() string { return e.Err.Error() }
func (e *TurnError) Unwrap() error { return e.Err }

// ErrAlone says that a message to all has nobody to go to.
var ErrAlone = errors.New("there is no agent but the sender")

// ErrNobody says that a list of recipients has no name in it.
var ErrNobody = errors.New("the list of recipients is empty")

// Recipients are the names in a list with commas, checked: agents, lead or another
// name of it ([swarm.Plan.Leads]), or all for every agent but the sender. The error is
// a [*swarm.UnknownAgentError], [ErrAlone] or [ErrNobody].
func (d *Door) Recipients(list string) ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		switch {
		case name == "": // as behind a comma at the end
		case name == dropbox.All:
			others := slices.DeleteFunc(slices.Clone(d.Agents), func(n string) bool { return n == d.Me.Name })
			if len(others) == 0 {
				return nil, ErrAlone
			}
			names = append(names, others...)
		case d.lead().Leads(name):
			names = append(names, d.lead().LeadFor(d.Me.Name))
		case name == dropbox.IRC && d.Chat != nil:
			names = append(names, name)
		case !slices.Contains(d.Agents, name):
			return nil, &swarm.UnknownAgentError{Name: name, Near: dropbox.Nearest(name, d.addresses())}
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

// addresses are what a person may have meant by a name that is unknown.
func (d *Door) addresses() []string {
	names := append(slices.Clone(d.Agents), dropbox.Lead)
	if d.LeadName != "" {
		names = append(names, d.LeadName)
	}
	return names
}

// Send signs m and delivers it to everybody in To, and as a note to those in CC.
// Where the configuration wants it, the lead is one of these.
// All copies are in one thread. When one of them fails, those before it are
// delivered, and returned with the error, a [*DeliveryError]. Inside a turn it may
// be a [*TurnError]. What no rule lets pass is a [*RefusedError], and nothing of it is
// delivered.
//
// A text that halts its conversation arrives anyway, as a note, which wakes
// nobody.
func (d *Door) Send(m *dropbox.Message) ([]dropbox.Delivery, error) {
	if err := d.EnsureToken(); err != nil {
		return nil, err
	}
	if lead := d.lead().CopyFor(d.Me.Name, slices.Concat(m.To, m.CC)...); lead != "" {
		m.CC = append(m.CC, lead)
	}
	if err := d.Me.Envelope(m); err != nil {
		return nil, &TurnError{err}
	}
	if err := d.answersTurn(m); err != nil {
		return nil, err
	}
	d.hide(m)
	d.Halted = ""
	if err := d.MayPass(m); err != nil {
		refused, ok := errors.AsType[*RefusedError](err)
		if !ok || refused.Verdict.Rule != policy.RuleSentinel || d.Halted == "" {
			return nil, err
		}
		m.Type = dropbox.Note
	}
	sent, err := d.sendAll(m)
	if len(sent) > 0 {
		err = errors.Join(err, d.note(sent, m))
	}
	return sent, err
}

// hide takes the tokens of the project out of a message: whoever gets it writes it
// into receipts, logs and commits.
func (d *Door) hide(m *dropbox.Message) {
	r := d.Home.Secrets().Redactor()
	m.Body, m.Subject = r.Bytes(m.Body), r.Text(m.Subject)
}

// note tells the running turn what was sent in it. Only a result takes the place
// of the one that the daemon sends at the end: who was asked something, or told how
// things stand, still gets that.
func (d *Door) note(sent []dropbox.Delivery, m *dropbox.Message) error {
	noted := *m
	if m.Type != dropbox.Result {
		noted.ReplyTo = ""
	}
	mails := min(len(sent), len(m.To))
	if err := d.Me.Sent(sent[:mails], &noted); err != nil || mails == len(sent) {
		return err
	}
	noted.Type, noted.ReplyTo = dropbox.Note, ""
	return d.Me.Sent(sent[mails:], &noted) // a copy of a result answers nobody
}

// EnsureToken makes the lead's token, if no daemon has done so yet.
func (d *Door) EnsureToken() error {
	if d.Me.Name != dropbox.Lead || d.Me.Token != "" {
		return nil
	}
	_, err := d.Home.Tokens(dropbox.Lead)
	if err == nil {
		d.Me, err = swarm.WhoAmI(d.Home, func(string) string { return "" })
	}
	return err
}

// answersTurn notes that a result or a question that an agent sends back to
// whoever gave it the work of its turn answers that message: whoever waits for the
// answer waits for this one.
func (d *Door) answersTurn(m *dropbox.Message) error {
	if d.Me.Turn == "" || m.ReplyTo != "" || m.Type != dropbox.Result && m.Type != dropbox.Question {
		return nil
	}
	work, err := d.Work()
	if err == nil && work != nil && slices.Contains(m.To, work.From) {
		m.ReplyTo = work.ID
	}
	return err
}

// Work is the message that the turn works on in which we are; nil outside a turn,
// and when the message was removed under it.
func (d *Door) Work() (*dropbox.Message, error) {
	if d.Me.Turn == "" {
		return nil, nil
	}
	found, err := d.Store.Find(MessageOf(d.Me.Turn))
	if errors.Is(err, dropbox.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	m, err := d.Store.Load(found)
	if err != nil {
		return nil, nil // moved, or no message any more
	}
	return m, nil
}

// MessageOf is the message that a turn works on: ID-ATTEMPT.
func MessageOf(turn string) string {
	id, _, _ := strings.Cut(turn, "-")
	return id
}

func (d *Door) sendAll(m *dropbox.Message) ([]dropbox.Delivery, error) {
	var sent []dropbox.Delivery
	for i, name := range slices.Concat(m.To, m.CC) {
		one := *m
		if i >= len(m.To) {
			one.Type = dropbox.Note
		}
		delivery, err := d.deliver(name, &one)
		if err != nil {
			return sent, &DeliveryError{name, err}
		}
		sent = append(sent, delivery)
		m.Thread = cmp.Or(m.Thread, delivery.Thread)
		m.Trace = cmp.Or(m.Trace, delivery.ID)
	}
	return sent, nil
}

// deliver puts one copy into one mailbox, which it makes when no daemon has done so
// yet.
func (d *Door) deliver(to string, m *dropbox.Message) (dropbox.Delivery, error) {
	sign := func(m *dropbox.Message) string { return d.Me.Sign(m, to) }
	sent, err := d.Store.DeliverSigned(to, m, sign)
	if errors.Is(err, dropbox.ErrNoMailbox) {
		if err := d.Store.MakeMailbox(to); err != nil {
			return sent, err
		}
		sent, err = d.Store.DeliverSigned(to, m, sign)
	}
	return sent, err
}
