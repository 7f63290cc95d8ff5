package journal

import (
	"cmp"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Decision is the entry in a receipt for a tool call for which the client asked
// permission.
type Decision struct {
	Kind    string    `yaml:"kind" json:"kind"`
	Command string    `yaml:"command,omitempty" json:"command,omitempty"` // the beginning
	Paths   []string  `yaml:"paths,omitempty" json:"paths,omitempty"`
	Tool    string    `yaml:"tool,omitempty" json:"tool,omitempty"`   // the tool of an MCP server
	Title   string    `yaml:"title,omitempty" json:"title,omitempty"` // set only if there is no command, path or tool
	Allowed bool      `yaml:"allowed" json:"allowed"`
	Rule    string    `yaml:"rule,omitempty" json:"rule,omitempty"` // the configuration entry that made the decision, or that required a question
	By      string    `yaml:"by,omitempty" json:"by,omitempty"`     // the person who answered, or "nobody"
	Why     string    `yaml:"why,omitempty" json:"why,omitempty"`   // why nobody answered, or why nobody was asked
	At      time.Time `yaml:"at" json:"at"`
}

// About describes the tool call on one line.
func (d Decision) About() string {
	return d.Kind + " " + cmp.Or(d.Command, strings.Join(d.Paths, ", "), d.Tool, d.Title)
}

// Limits on the decisions in a receipt. maxDecisions is the maximum number of decisions
// of each kind that [Receipt.Decide] keeps, maxDecisionText is the maximum size of a
// string from the client in bytes, and maxPaths is the maximum number of paths in one
// decision.
const (
	maxDecisions    = 100
	maxDecisionText = 1 << 10
	maxPaths        = 10
)

// decisionOf returns the receipt's entry for a decision.
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

// Decide adds decisions from a turn to the receipt in their original order: the first
// ones that were denied or that somebody was asked about, and the first ones that a rule
// allowed. If it omits some decisions, it sets Decided to the total number.
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
