package view

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A PastTurn is one line of a history.
type PastTurn struct {
	Agent   string    `json:"agent"`
	At      time.Time `json:"at"` // when the turn ended
	Turn    string    `json:"turn"`
	Message string    `json:"message"`
	From    string    `json:"from"`
	Subject string    `json:"subject,omitempty"` // the subject or the beginning of the text
	Outcome string    `json:"outcome"`
	Client  string    `json:"client,omitempty"` // kind and version of the client
	Model   string    `json:"model,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	Seconds float64   `json:"seconds"`
	CostUSD float64   `json:"cost_usd"`
	// CostUnknown is set if the client did not report the full cost, or if the turn ran
	// in an attached session. CostUSD is then the known part.
	CostUnknown bool             `json:"cost_unknown,omitempty"`
	Receipt     *journal.Receipt `json:"receipt,omitempty"` // only for a turn that ended well
}

// A History lists an agent's last turns.
type History struct {
	V       int        `json:"v"`
	Agent   string     `json:"agent"` // "" means all agents
	Turns   []PastTurn `json:"turns"`
	CostUSD float64    `json:"cost_usd"` // the known cost of these turns
	// CostUnknown is the number of turns whose cost is unknown or only partly known.
	CostUnknown int `json:"cost_unknown_turns,omitempty"`
	Failed      int `json:"failed"`
}

// KnownUSD returns the known part of the turn's cost in US dollars, or nil if no part is
// known.
func (t PastTurn) KnownUSD() *float64 { return journal.KnownUSD(t.CostUSD, t.CostUnknown) }

// MarshalJSON writes null for an unknown cost.
func (t PastTurn) MarshalJSON() ([]byte, error) {
	type plain PastTurn
	return json.Marshal(struct {
		plain
		CostUSD *float64 `json:"cost_usd"`
	}{plain(t), t.KnownUSD()})
}

// MarshalJSON writes null for an unknown cost.
func (h History) MarshalJSON() ([]byte, error) {
	type plain History
	return json.Marshal(struct {
		plain
		CostUSD *float64 `json:"cost_usd"`
	}{plain(h), journal.KnownUSD(h.CostUSD, h.CostUnknown > 0)})
}

// These are the outcomes of turns that ended well. A refused turn did nothing, because
// everything that it tried was denied.
const (
	OutcomeDone    = journal.OutcomeDone
	OutcomeRefused = journal.OutcomeRefused
)

// HistoryOf reads the ledger, and the receipts of the turns that it returns. It returns the
// last n turns that ended at or after since. If n is 0, it returns all of them; if agent is
// "", it includes all agents.
func HistoryOf(c *client.Client, agent string, since time.Time, n int) (*History, error) {
	h := &History{V: 1, Agent: agent, Turns: []PastTurn{}}
	err := journal.ReadLedger(c.Home.Ledger(), func(l journal.LedgerLine) bool {
		if agent != "" && l.Agent != agent || l.At.Before(since) {
			return true
		}
		h.Turns = append(h.Turns, PastTurn{
			Agent: l.Agent, At: l.At, Turn: l.Turn, Message: l.Message, From: l.From, Subject: l.Subject,
			Outcome: l.Outcome, Client: l.Client, Model: l.Model, Reason: l.Reason, Seconds: l.Seconds, CostUSD: l.CostUSD,
			CostUnknown: l.IsCostUnknown(),
		})
		if n > 0 && len(h.Turns) > n {
			h.Turns = h.Turns[1:]
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	for i := range h.Turns {
		h.Turns[i].fillIn(c)
		h.CostUSD += h.Turns[i].CostUSD
		if h.Turns[i].CostUnknown {
			h.CostUnknown++
		}
		if o := h.Turns[i].Outcome; o != OutcomeDone && o != journal.OutcomeUnbooked {
			h.Failed++
		}
	}
	return h, nil
}

// fillIn adds data from the message and its receipt if they still exist. They may be
// gone, because the ledger is kept longer than the messages.
func (t *PastTurn) fillIn(c *client.Client) {
	found, err := c.Store.Find(t.Message)
	if err != nil {
		return
	}
	if t.Subject == "" {
		if m, err := c.Store.Load(found); err == nil {
			t.Subject = m.Gist()
		}
	}
	if !journal.EndedWell(t.Outcome) || found.State != dropbox.Done {
		return
	}
	if r, err := c.Receipt(found); err == nil && r.Turn == t.Turn {
		t.Receipt = r
	}
}
