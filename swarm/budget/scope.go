package budget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/hours"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Kind is the kind of a scope.
type Kind string

// The kinds.
const (
	KindTurn  Kind = "turn"  // one turn of a message, whose id is the name of the scope
	KindTask  Kind = "task"  // everything that results from one message, whose id is the name of the scope
	KindAgent Kind = "agent" // the day of an agent
	KindSwarm Kind = "swarm" // the day of the swarm
)

// A Scope is what a cap limits.
type Scope struct {
	Kind Kind
	Name string
}

// day is the suffix of the names of daily scopes.
const day = ".day"

// String returns the name of the scope, as a person types it: swarm.day, coder.day,
// task.ID, turn.ID.
func (s Scope) String() string {
	switch s.Kind {
	case KindSwarm:
		return string(KindSwarm) + day
	case KindAgent:
		return s.Name + day
	}
	return string(s.Kind) + "." + s.Name
}

// ScopeNamed parses a name that [Scope.String] returned.
func ScopeNamed(name string) (Scope, bool) {
	whole, daily := strings.CutSuffix(name, day)
	switch kind, id, _ := strings.Cut(name, "."); {
	case daily && whole == string(KindSwarm):
		return Scope{Kind: KindSwarm}, true
	case daily:
		return Scope{KindAgent, whole}, true
	case Kind(kind) == KindTask || Kind(kind) == KindTurn:
		return Scope{Kind(kind), id}, id != ""
	}
	return Scope{}, false
}

// Daily reports whether the scope ends with the day.
func (s Scope) Daily() bool { return s.Kind == KindAgent || s.Kind == KindSwarm }

// An UnknownScopeError reports that no scope has the given name.
type UnknownScopeError struct {
	Name string
	Near []string // similar names of existing scopes, closest first
}

func (e *UnknownScopeError) Error() string {
	s := fmt.Sprintf("no budget named %q here", e.Name)
	if len(e.Near) > 0 {
		s += "; did you mean " + e.Near[0] + "?"
	}
	return s
}

// Rules are the caps that are currently in effect. The zero value contains no caps.
type Rules struct {
	Billing runner.Billing // of all agents; if unknown, each client reports its own
	Warn    float64        // the fraction of a cap at which people are warned; 0 means 0.8
	Zone    *time.Location // the time zone in which days begin and end; nil means the system's time zone
	Swarm   Amount         // for one day
	// Judge is the name of the supervisor's model. Other turns leave a sixteenth of the
	// swarm's remaining daily amount for its judgements, which count in dollars and time
	// but not as turns. "" means no model.
	Judge  string
	Task   Amount
	Agents map[string]AgentRules
}

// judges reports whether a name is the name of the supervisor's model.
func (r Rules) judges(agent string) bool { return agent != "" && agent == r.Judge }

// AgentRules are the caps of an agent.
type AgentRules struct {
	Day, Turn Amount
}

// Bounds reports whether any cap is set.
func (r Rules) Bounds() bool {
	for _, a := range r.Agents {
		if !a.Day.IsZero() || !a.Turn.IsZero() {
			return true
		}
	}
	return !r.Swarm.IsZero() || !r.Task.IsZero()
}

func (r Rules) warn() float64 { return cmp.Or(r.Warn, 0.8) }

func (r Rules) zone() *time.Location { return cmp.Or(r.Zone, time.Local) }

// cap returns the configured cap of a scope. agent is the agent of the turn.
func (r Rules) cap(s Scope, agent string) Amount {
	switch s.Kind {
	case KindTurn:
		return r.Agents[agent].Turn
	case KindTask:
		return r.Task
	case KindAgent:
		return r.Agents[s.Name].Day
	}
	return r.Swarm
}

// midnight returns the time when the day of t begins.
func (r Rules) midnight(t time.Time) time.Time {
	from, _ := hours.Day(t, r.zone())
	return from
}

// NextDay returns the time when the day of t ends.
func (r Rules) NextDay(t time.Time) time.Time {
	_, to := hours.Day(t, r.zone())
	return to
}

// date returns the day of t, such as 2026-11-23.
func (r Rules) date(t time.Time) string { return t.In(r.zone()).Format(time.DateOnly) }

// A Turn contains the properties of a turn that determine its scopes.
type Turn struct {
	Agent   string
	Message string // the id of its message, or the name of a turn without a message
	Trace   string // the id of the task's first message; "" for a turn without a task
}

// In reports whether the turn belongs to a scope.
func (t Turn) In(s Scope) bool { return slices.Contains(t.scopes(), s) }

// scopes returns the scopes of a turn, widest first.
func (t Turn) scopes() []Scope {
	all := []Scope{{Kind: KindSwarm}, {KindAgent, t.Agent}}
	if t.Trace != "" {
		all = append(all, Scope{KindTask, t.Trace})
	}
	if t.Message != "" {
		all = append(all, Scope{KindTurn, t.Message})
	}
	return all
}
