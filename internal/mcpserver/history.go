package mcpserver

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
)

type historyArguments struct {
	Agent string `json:"agent,omitempty" jsonschema:"default: you"`
	N     int    `json:"n,omitempty" jsonschema:"how many; default: 10" minimum:"1" maximum:"100"`
}

// pastTurns is the result of history.
type pastTurns struct {
	Agent string     `json:"agent"`
	Turns []pastTurn `json:"turns" jsonschema:"oldest first"`
}

type pastTurn struct {
	Ended   string  `json:"ended"`
	Message string  `json:"message"`
	From    string  `json:"from"`
	About   string  `json:"about"`
	Outcome string  `json:"outcome" jsonschema:"done, refused (nothing was permitted, so nothing was done), or how it failed"`
	Why     string  `json:"why,omitempty"`
	Seconds float64 `json:"seconds"`
	// CostUSD is nil if the cost is completely unknown.
	CostUSD     *float64 `json:"cost_usd,omitempty" jsonschema:"missing if unknown"`
	CostUnknown bool     `json:"cost_unknown,omitempty" jsonschema:"cost_usd is only part of the cost, or missing"`

	Files   []string `json:"files,omitempty" jsonschema:"that were changed"`
	Summary string   `json:"summary,omitempty" jsonschema:"the beginning of its last words"`
}

// maxSummary is the maximum length of the excerpt from a turn's last words, in bytes.
const maxSummary = 400

func (c crew) history(_ context.Context, in historyArguments) (*pastTurns, error) {
	name := cmp.Or(in.Agent, c.Me.Name)
	if _, ok := c.spec(name); !ok {
		return nil, &swarm.UnknownAgentError{Name: name, Near: dropbox.Nearest(name, c.Agents)}
	}
	h, err := view.HistoryOf(c.Client, name, time.Time{}, cmp.Or(in.N, 10))
	if err != nil {
		return nil, err
	}
	p := &pastTurns{Agent: name, Turns: []pastTurn{}}
	for _, t := range h.Turns {
		turn := pastTurn{
			Ended: stamp(t.At), Message: t.Message, From: c.Called(t.From), About: t.Subject, Outcome: t.Outcome,
			Seconds: t.Seconds, CostUSD: t.KnownUSD(), CostUnknown: t.CostUnknown,
		}
		if t.Outcome != view.OutcomeDone {
			turn.Why = t.Reason
		}
		if t.Receipt != nil {
			turn.Files = t.Receipt.Files
			turn.Summary = strings.ToValidUTF8(t.Receipt.Text[:min(len(t.Receipt.Text), maxSummary)], "")
		}
		p.Turns = append(p.Turns, turn)
	}
	return p, nil
}

func (p *pastTurns) readable() string {
	var t text
	if len(p.Turns) == 0 {
		t.line("%s has done nothing yet.", p.Agent)
	}
	for _, turn := range p.Turns {
		t.line("%s %s %s, from %s: %s", turn.Ended, turn.Message, turn.Outcome, cmp.Or(turn.From, "nobody"), turn.About)
		if turn.Why != "" {
			t.add(" (%s)", turn.Why)
		}
		if len(turn.Files) > 0 {
			t.add(" [%s]", strings.Join(turn.Files, ", "))
		}
	}
	return t.String()
}
