package swarm

import (
	"cmp"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// view contains the facts that the status shows about one agent, except those about the
// agent's turns. The agent writes these facts. A view is safe for concurrent use.
type view struct {
	mu sync.Mutex
	s  AgentStatus
	// question is the key of the question that keeps the agent parked. The question is
	// addressed to the person.
	question string
}

// set changes the state, and reports whether anything changed. If only the reason changed,
// the time of the last state change is kept.
func (v *view) set(to State, since time.Time, why, next string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.s.State == to && v.s.Why == why {
		v.s.Next = next
		return false
	}
	if v.s.State != to {
		v.s.Since = new(since.UTC())
	}
	v.s.State, v.s.Why, v.s.Next = to, why, next
	return true
}

func (v *view) waiting(w mail.Waiting) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.s.Waiting = w
}

// held records what keeps the agent from beginning a turn. The status shows it until the
// agent's state changes.
func (v *view) held(h hold.Held) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.s.CircuitOpen, v.s.Limit, v.s.Off = h.Breaker, nil, nil
	if h.Limit != nil {
		v.s.Limit = &LimitStatus{Account: h.Limit.Account, Until: h.Until.UTC(), Hint: h.Limit.Hint}
	}
	v.question = ""
	if h.Block != nil && !h.Block.Waits {
		v.question = budgetKey(h.Block.Question)
	}
	if h.Kind == hold.KindOff {
		v.s.Off = &OffStatus{Until: h.Until.UTC()}
	}
}

// asked returns the key of the question that keeps the agent parked, or "" if the agent
// is not parked.
func (v *view) asked() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.s.State != Parked {
		return ""
	}
	return v.question
}

// described records the facts about the agent that come from its settings.
func (v *view) described(s Spec) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.s.Role, v.s.Backend, v.s.Channels, v.s.Tags = s.Role, s.Backend, append([]string{}, s.Channels...), append([]string{}, s.Tags...)
}

// state returns the agent's state.
func (v *view) state() State {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.s.State
}

// status returns a copy of the facts, combined with the picture of the agent's turns and
// the values derived from both.
func (v *view) status(p turn.Picture) AgentStatus {
	v.mu.Lock()
	s := v.s
	v.mu.Unlock()
	s.paint(p)
	if s.State != Stopped {
		s.CircuitOpen = false
	}
	if s.State != Limited {
		s.Limit = nil
	}
	if s.State != Off {
		s.Off = nil
	}
	s.Running = s.State == Working
	if s.Running && s.Message != nil {
		s.Since = new(s.Message.Since.UTC()) // the state does not change when one turn immediately follows another
	}
	if s.Running && p.Retries != "" {
		s.Why = p.Retries
	}
	s.Paused = s.State == Paused
	switch {
	case s.Running:
		s.Activity = "working"
	case s.State.Lasting():
		s.Activity = "paused"
	default:
		s.Activity = "idle"
	}
	return s
}

// paint adds the known facts about the agent's turns. If the configuration has since changed
// the kind of client, paint omits the facts about the old client, unless its turn is still
// running.
func (a *AgentStatus) paint(p turn.Picture) {
	kind, _, _ := strings.Cut(p.Client, " ")
	if kind != "" && a.Backend != "" && kind != a.Backend && p.Message == nil {
		p.Client, p.Session, p.Model, p.Billing, p.Context = "", "", "", runner.BillingUnknown, journal.Context{}
	}
	a.Message, a.Turn, a.Description, a.PID, a.Streams, a.Warm = p.Message, p.Progress, p.Description, p.PID, p.Streams, p.Warm
	a.Client = cmp.Or(p.Client, a.Backend)
	a.Session, a.Model, a.Billing, a.Context, a.Last = p.Session, p.Model, p.Billing, p.Context, p.Last
	a.TurnCount, a.LastActivation = p.Turns, p.Begun
	if p.Begun != nil {
		a.LastActivationAt = new(time.UnixMilli(int64(math.Round(*p.Begun * 1000))).UTC())
	}
}
