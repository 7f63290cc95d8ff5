package view

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A TracedMessage is one message of a trace, with everything that became of it.
type TracedMessage struct {
	ID      string       `json:"id"`
	From    string       `json:"from"`
	To      string       `json:"to"` // the mailbox it lies in
	Type    dropbox.Type `json:"type"`
	Subject string       `json:"subject,omitempty"`
	Thread  string       `json:"thread"`
	ReplyTo string       `json:"reply_to,omitempty"`
	Turn    string       `json:"turn,omitempty"` // the turn it was sent in
	Hops    int          `json:"hops"`
	Created time.Time    `json:"created"`

	State    string            `json:"state"`            // waiting, working, done, read, unread, dead, refused
	Reason   string            `json:"reason,omitempty"` // why it is dead or refused
	Parent   string            `json:"parent,omitempty"` // the message that it came of
	Copy     bool              `json:"copy,omitempty"`   // it only shows another message on IRC, or asks the bridge for something
	Attempts []journal.Attempt `json:"attempts,omitempty"`
	Receipt  *journal.Receipt  `json:"receipt,omitempty"`

	Offer string           `json:"-"` // the publication that it offers
	About string           `json:"-"` // of a copy: the message that it shows
	Below []*TracedMessage `json:"-"` // what came of it, by time
}

// A TracedTurn is one begun turn of a message.
type TracedTurn struct {
	journal.Attempt // its reason is "" where it is done
	// The receipt counts these for the last turn alone.
	ToolCalls, Compactions int
}

// Turns are the turns of a message, oldest first.
func (m *TracedMessage) Turns() []TracedTurn {
	turns := make([]TracedTurn, len(m.Attempts))
	for i, a := range m.Attempts {
		if a.Outcome == OutcomeDone {
			a.Reason = ""
		}
		turns[i].Attempt = a
	}
	if r := m.Receipt; r != nil && len(turns) > 0 {
		last := &turns[len(turns)-1]
		last.ToolCalls, last.Compactions = r.ToolCalls, r.Compactions
	}
	return turns
}

// A Trace is one message with its whole family, as a list and as a tree.
type Trace struct {
	V        int              `json:"v"`
	Trace    string           `json:"trace"`
	Messages []*TracedMessage `json:"messages"` // by time
	Turns    int              `json:"turns"`
	CostUSD  float64          `json:"cost_usd"`
	Began    time.Time        `json:"began"`
	Ended    time.Time        `json:"ended"` // the last thing known

	Roots  []*TracedMessage `json:"-"` // what came of no other message, by time
	Copies int              `json:"-"` // of the messages
}

// TraceOf collects the messages that share the trace or the thread of one, from all
// mailboxes, as far as who is asking may read them.
func TraceOf(d *client.Client, found dropbox.Found) (*Trace, error) {
	m, err := d.Store.Load(found)
	if errors.Is(err, dropbox.ErrInvalid) || errors.Is(err, dropbox.ErrTooLarge) {
		// What is not a message has no family.
		t := &TracedMessage{ID: found.Entry.ID, To: found.Mailbox, From: "?", Type: "?", Created: found.Entry.Created, State: StateOf(found.Mailbox, found.State)}
		t.Reason = d.Reason(found)
		return NewTrace(found.Entry.ID, []*TracedMessage{t}), nil
	} else if err != nil {
		return nil, err
	}
	attempts, err := attempts(d)
	if err != nil {
		return nil, err
	}
	var family []*TracedMessage
	seen := map[string]int{}
	err = d.Store.Walk(func(f dropbox.Found, one *dropbox.Message) bool {
		if one.Trace != m.Trace && one.Thread != m.Thread || d.MayReadMessage(f, one) != nil {
			return true
		}
		t := traced(d, f, one, attempts[one.ID])
		if at, again := seen[one.ID]; again { // it moved while we walked
			family[at] = t
			return true
		}
		seen[one.ID] = len(family)
		family = append(family, t)
		return true
	})
	if err != nil {
		return nil, err
	}
	return NewTrace(m.Trace, family), nil
}

// attempts are the turns that ended, by message, as the ledger has them.
func attempts(d *client.Client) (map[string][]journal.Attempt, error) {
	all := map[string][]journal.Attempt{}
	err := journal.ReadLedger(d.Home.Ledger(), func(l journal.LedgerLine) bool {
		took := time.Duration(l.Seconds * float64(time.Second))
		all[l.Message] = append(all[l.Message], journal.Attempt{
			Start: l.At.Add(-took), End: l.At, Outcome: l.Outcome, Reason: l.Reason, CostUSD: l.CostUSD,
		})
		return true
	})
	return all, err
}

// traced is a message with what became of it. A receipt knows all attempts;
// without one the ledger does.
func traced(d *client.Client, f dropbox.Found, m *dropbox.Message, attempts []journal.Attempt) *TracedMessage {
	t := &TracedMessage{
		ID: m.ID, From: m.From, To: f.Mailbox, Type: m.Type, Subject: m.Gist(), Thread: m.Thread, ReplyTo: m.ReplyTo,
		Turn: m.Turn, Offer: m.Offer, Hops: m.Hops, Created: m.Created, State: StateOf(f.Mailbox, f.State), Attempts: attempts,
	}
	if n, ok := ircbridge.OriginOf(m); ok && f.Mailbox == dropbox.IRC && (n.About != "" || n.Do != "") {
		t.Copy, t.About = true, n.About
	}
	if f.State == dropbox.Dead || f.State == dropbox.Refused {
		t.Reason = d.Reason(f)
	}
	if r, err := d.Receipt(f); err == nil {
		t.Receipt = r
		if len(r.Attempts) > 0 {
			t.Attempts = r.Attempts
		}
	}
	return t
}

// NewTrace finds out which message came of which, and adds up. The messages
// may be in any order. A message belongs under the publication that it
// offers, else under the one whose turn sent it, else under the one it answers; what
// belongs to none is a root.
func NewTrace(id string, messages []*TracedMessage) *Trace {
	slices.SortStableFunc(messages, func(a, b *TracedMessage) int {
		return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID))
	})
	t := &Trace{V: 1, Trace: id, Messages: messages}
	byID := map[string]*TracedMessage{}
	sentBy := map[string]*TracedMessage{}
	for _, m := range messages {
		byID[m.ID] = m
		if m.Receipt != nil {
			for _, sent := range m.Receipt.Sent {
				sentBy[sent] = m
			}
		}
	}
	for _, m := range messages {
		parent := byID[cmp.Or(m.Offer, m.About)]
		if parent == nil {
			parent = sentBy[m.ID]
		}
		if parent == nil {
			parent = byID[client.MessageOf(m.Turn)]
		}
		if parent == nil {
			parent = byID[m.ReplyTo]
		}
		// A forged reply_to could name a later message, and two of them each
		// other: only an older one can be where a message came from.
		if parent != nil && !parent.Created.After(m.Created) && parent != m && !parent.under(m) {
			m.Parent = parent.ID
			parent.Below = append(parent.Below, m)
		} else {
			t.Roots = append(t.Roots, m)
		}
		t.count(m)
	}
	return t
}

// under tells whether m stands somewhere below above.
func (m *TracedMessage) under(above *TracedMessage) bool {
	for _, s := range above.Below {
		if s == m || m.under(s) {
			return true
		}
	}
	return false
}

func (t *Trace) count(m *TracedMessage) {
	if t.Began.IsZero() || m.Created.Before(t.Began) {
		t.Began = m.Created
	}
	if m.Copy {
		t.Copies++
	}
	t.seen(m.Created)
	for _, a := range m.Attempts {
		t.Turns++
		t.CostUSD += a.CostUSD
		t.seen(a.End)
	}
}

func (t *Trace) seen(at time.Time) {
	if at.After(t.Ended) {
		t.Ended = at
	}
}
