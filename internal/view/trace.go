package view

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/whisper"
)

// A TracedMessage is one message of a trace, with its turns and its state.
type TracedMessage struct {
	ID      string       `json:"id"`
	From    string       `json:"from"`
	To      string       `json:"to"` // its mailbox
	Type    dropbox.Type `json:"type"`
	Subject string       `json:"subject,omitempty"`
	Thread  string       `json:"thread"`
	ReplyTo string       `json:"reply_to,omitempty"`
	Turn    string       `json:"turn,omitempty"` // the turn that sent it
	Hops    int          `json:"hops"`
	Created time.Time    `json:"created"`

	State    string            `json:"state"`            // waiting, working, done, read, unread, dead, refused
	Reason   string            `json:"reason,omitempty"` // why it is dead or refused
	Parent   string            `json:"parent,omitempty"` // the message that caused it
	Copy     bool              `json:"copy,omitempty"`   // it only shows another message on IRC, or it is a request to the bridge
	Attempts []journal.Attempt `json:"attempts,omitempty"`
	Receipt  *journal.Receipt  `json:"receipt,omitempty"`
	// Whispers are the supervisor's latest whispers to the agent about the message's
	// turns, oldest first. Only people and the agent itself see them.
	Whispers []TracedWhisper `json:"whispers,omitempty"`

	Offer string           `json:"-"` // the publication that it offers
	About string           `json:"-"` // for a copy: the message that it shows
	Below []*TracedMessage `json:"-"` // the messages that it caused, ordered by time
}

// A TracedWhisper is a whisper from the supervisor.
type TracedWhisper struct {
	At   time.Time `json:"at"`
	Turn string    `json:"turn"`
	Text string    `json:"text"` // the text that the agent reads
}

// A TracedTurn is one turn of a message, either running or ended.
type TracedTurn struct {
	journal.Attempt // its Reason is "" if the turn ended well
	// These counts are known only for the last turn, from the receipt.
	ToolCalls, Compactions int
}

// Turns returns the turns of a message, oldest first.
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

// A Trace contains all messages of a trace, as a list and as a tree.
type Trace struct {
	V        int              `json:"v"`
	Trace    string           `json:"trace"`
	Messages []*TracedMessage `json:"messages"` // by time
	Turns    int              `json:"turns"`
	CostUSD  float64          `json:"cost_usd"` // the known part of the cost
	// CostUnknown is the number of turns whose cost is unknown or only partly known.
	CostUnknown int       `json:"cost_unknown_turns,omitempty"`
	Began       time.Time `json:"began"`
	Ended       time.Time `json:"ended"` // the last known event

	Roots  []*TracedMessage `json:"-"` // messages without a parent, ordered by time
	Copies int              `json:"-"` // the number of copies among the messages
}

// MarshalJSON writes null for an unknown cost.
func (t Trace) MarshalJSON() ([]byte, error) {
	type plain Trace
	return json.Marshal(struct {
		plain
		CostUSD *float64 `json:"cost_usd"`
	}{plain(t), journal.KnownUSD(t.CostUSD, t.CostUnknown > 0)})
}

// TraceOf collects all messages that belong to the trace or the thread of a message, if
// the caller may read them. It searches all mailboxes.
func TraceOf(c *client.Client, found dropbox.Found) (*Trace, error) {
	m, err := c.Store.Load(found)
	if errors.Is(err, dropbox.ErrInvalid) || errors.Is(err, dropbox.ErrTooLarge) {
		// A file that is not a valid message has no trace.
		t := &TracedMessage{ID: found.Entry.ID, To: found.Mailbox, From: "?", Type: "?", Created: found.Entry.Created, State: StateOf(found.Mailbox, found.State)}
		t.Reason = c.Reason(found)
		return NewTrace(found.Entry.ID, []*TracedMessage{t}), nil
	} else if err != nil {
		return nil, err
	}
	attempts, err := attempts(c)
	if err != nil {
		return nil, err
	}
	var family []*TracedMessage
	seen := map[string]int{}
	told := whispers{home: c.Home}
	err = c.Store.Walk(func(f dropbox.Found, one *dropbox.Message) bool {
		if one.Trace != m.Trace && one.Thread != m.Thread || c.MayReadMessage(f, one) != nil {
			return true
		}
		t := traced(c, f, one, attempts[one.ID])
		if c.MaySee(f.Mailbox) == nil {
			t.Whispers = told.about(f.Mailbox, one.ID)
		}
		if at, again := seen[one.ID]; again { // the file was moved in the meantime
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
	if told.err != nil {
		return nil, told.err
	}
	return NewTrace(m.Trace, family), nil
}

// whispers reads the whispers to each agent only once.
type whispers struct {
	home journal.Home
	read map[string][]whisper.Whisper
	err  error // the errors from files that could not be read
}

// about returns the whispers to an agent that concern the turns of a message.
func (w *whispers) about(agent, message string) (out []TracedWhisper) {
	all, ok := w.read[agent]
	if !ok {
		var err error
		if all, err = whisper.Of(w.home, agent); err != nil {
			w.err = errors.Join(w.err, err)
		}
		if w.read == nil {
			w.read = map[string][]whisper.Whisper{}
		}
		w.read[agent] = all
	}
	for _, one := range all {
		if client.MessageOf(one.About) == message {
			out = append(out, TracedWhisper{At: one.At, Turn: one.About, Text: one.Line()})
		}
	}
	return out
}

// attempts returns the ended turns from the ledger, by message id.
func attempts(c *client.Client) (map[string][]journal.Attempt, error) {
	all := map[string][]journal.Attempt{}
	err := journal.ReadLedger(c.Home.Ledger(), func(l journal.LedgerLine) bool {
		took := time.Duration(l.Seconds * float64(time.Second))
		all[l.Message] = append(all[l.Message], journal.Attempt{
			Start: l.At.Add(-took), End: l.At, Outcome: l.Outcome, Reason: l.Reason, CostUSD: l.CostUSD, CostUnknown: l.IsCostUnknown(),
		})
		return true
	})
	return all, err
}

// traced returns a message of a trace, with its turns and its state. The turns come from
// the message's receipt or, if it has none, from the ledger.
func traced(c *client.Client, f dropbox.Found, m *dropbox.Message, attempts []journal.Attempt) *TracedMessage {
	t := &TracedMessage{
		ID: m.ID, From: m.From, To: f.Mailbox, Type: m.Type, Subject: m.Gist(), Thread: m.Thread, ReplyTo: m.ReplyTo,
		Turn: m.Turn, Offer: m.Offer, Hops: m.Hops, Created: m.Created, State: StateOf(f.Mailbox, f.State), Attempts: attempts,
	}
	if n, ok := bridge.OriginOf(m, ircbridge.Name); ok && f.Mailbox == ircbridge.Name && (n.About != "" || n.Do != "") {
		t.Copy, t.About = true, n.About
	}
	if f.State == dropbox.Dead || f.State == dropbox.Refused {
		t.Reason = c.Reason(f)
	}
	if r, err := c.Receipt(f); err == nil {
		t.Receipt = r
		if len(r.Attempts) > 0 {
			t.Attempts = r.Attempts
			if last := &t.Attempts[len(t.Attempts)-1]; r.Attached {
				last.CostUnknown = true
			}
		}
	}
	return t
}

// NewTrace finds the parent of each message and computes the totals. The messages may be in
// any order. The parent of a message is the first of the following that is among the
// messages: the publication that it offers, the message that it shows as a copy, the
// message whose turn sent it, or the message that it answers. A message without a parent is
// a root.
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
		// A forged reply_to might name a later message, and two messages might name each
		// other. So a parent must be neither newer than the message nor its descendant.
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

// under reports whether m is a descendant of above.
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
		if a.CostUnknown {
			t.CostUnknown++
		}
		t.seen(a.End)
	}
}

func (t *Trace) seen(at time.Time) {
	if at.After(t.Ended) {
		t.Ended = at
	}
}
