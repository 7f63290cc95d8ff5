package journal

import (
	"cmp"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Decision is a receipt's line about a tool call that the client asked permission for.
type Decision struct {
	Kind    string    `yaml:"kind" json:"kind"`
	Command string    `yaml:"command,omitempty" json:"command,omitempty"` // the beginning
	Paths   []string  `yaml:"paths,omitempty" json:"paths,omitempty"`
	Tool    string    `yaml:"tool,omitempty" json:"tool,omitempty"`   // of an MCP server
	Title   string    `yaml:"title,omitempty" json:"title,omitempty"` // if there is neither command, path nor tool
	Allowed bool      `yaml:"allowed" json:"allowed"`
	Rule    string    `yaml:"rule,omitempty" json:"rule,omitempty"` // the entry that decided, or that says to ask
	By      string    `yaml:"by,omitempty" json:"by,omitempty"`     // who answered, or nobody
	Why     string    `yaml:"why,omitempty" json:"why,omitempty"`   // nobody answered
	At      time.Time `yaml:"at" json:"at"`
}

// About returns the tool call in one line.
func (d Decision) About() string {
	return d.Kind + " " + cmp.Or(d.Command, strings.Join(d.Paths, ", "), d.Tool, d.Title)
}

// Bounds of the decisions in a receipt: of their number, and of a string from the client,
// in bytes.
const (
	maxDecisions    = 100
	maxDecisionText = 1 << 10
	maxPaths        = 10
)

// decisionOf returns the line of a receipt for a decision.
func decisionOf(d runner.Decision) Decision {
	short := func(s string) string {
		if len(s) > maxDecisionText {
			return strings.ToValidUTF8(s[:maxDecisionText], "") + "…"
		}
		return s
	}
	r := d.Request
	out := Decision{Kind: r.Kind, Command: short(r.Command), Tool: short(r.Tool), Allowed: d.Allowed, Rule: d.Rule, By: d.By, Why: d.Why, At: d.At.UTC()}
	for _, p := range r.Paths[:min(len(r.Paths), maxPaths)] {
		out.Paths = append(out.Paths, short(p))
	}
	if r.Command == "" && len(r.Paths) == 0 && r.Tool == "" {
		out.Title = short(r.Title)
	}
	return out
}

// Decide keeps the decisions of a turn: the first ones that were denied or asked, and the
// first ones that a rule allowed, in their order. Decided counts all of them if there are
// more.
func (r *Receipt) Decide(all []runner.Decision) {
	told, quiet := 0, 0
	for _, d := range all {
		n := &told
		if d.Allowed && d.By == "" {
			n = &quiet
		}
		if *n++; *n <= maxDecisions {
			r.Decisions = append(r.Decisions, decisionOf(d))
		}
	}
	if len(all) > len(r.Decisions) {
		r.Decided = len(all)
	}
}
