package swarm

import (
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// view is what the status shows of one agent. Its agent writes it, anybody may
// read it.
type view struct {
	mu      sync.Mutex
	s       AgentStatus
	limitOf string // the model whose context limit is known, without what stands in brackets
	again   string // why the client of the running turn asks the API again; "" when it does not
}

// set changes the state; it tells whether anything is new. The time of the
// change stays when only the reason changed.
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

func (v *view) waiting(w Waiting) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.s.Waiting = w
}

func (v *view) breaker(open bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.s.CircuitOpen = open
}

// limited notes what parks the agent, until its state is another one.
func (v *view) limited(l *LimitStatus) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.s.Limit = l
}

// begin notes that a turn begins.
func (v *view) begin(m *MessageStatus, description string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.s.Message, v.s.Description = m, description
	v.s.TurnCount++
	epoch := float64(m.Since.UnixMilli()) / 1000
	v.s.LastActivation = &epoch
}

// process notes the client of the running turn; 0 when it runs no more, while what it
// has done is still written down.
func (v *view) process(pid int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.s.PID = nil
	if pid != 0 {
		v.s.PID = &pid
	}
}

// streams notes whether the running turn tells its text while it is written.
func (v *view) streams(does bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.s.Streams = does
}

// asksAgain notes why the client of the running turn asks the API again; "" when it
// does not.
func (v *view) asksAgain(why string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.again = why
}

// setWarm notes the client that waits; nil when none does.
func (v *view) setWarm(w *WarmStatus) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.s.Warm = w
}

// end notes that no turn runs any more.
func (v *view) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.s.Message, v.s.PID, v.s.Description, v.again, v.s.Streams = nil, nil, "", "", false
}

// learn notes what the client said of itself. Empty values and zeros are "not
// said".
func (v *view) learn(session, model string, tokens, limit int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if session != "" {
		v.s.Session = session
	}
	if model != "" {
		v.s.Model = model
	}
	if tokens > 0 {
		v.s.Context.Tokens = tokens
	}
	if limit > 0 {
		v.s.Context.Limit = limit
	}
}

// limitFor is the context limit to go by when the client says that it is limit tokens.
// named tells that the configuration names the model. Where it does not, Claude Code
// 2.1.197 takes claude-opus-4-8[1m], and calls it claude-opus-4-8, with a smaller window,
// in every session that it resumes: the largest that was said of the model stays.
func (v *view) limitFor(limit int, named bool) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	if limit == 0 {
		return 0
	}
	model, _, _ := strings.Cut(v.s.Model, "[")
	if !named && model == v.limitOf {
		limit = max(limit, v.s.Context.Limit)
	}
	v.limitOf = model
	return limit
}

// cleared notes that the client's conversation was let go.
func (v *view) cleared() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.s.Session, v.s.Context.Tokens = "", 0
}

// said notes the agent's last words.
func (v *view) said(at time.Time, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.s.Last = &LastText{At: at.UTC(), Text: screen.Short(text, maxLastText)}
}

// recall fills in what an earlier daemon knew, from the newest line of the
// ledger and the number of its lines.
func (v *view) recall(l LedgerLine, turns int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.s.TurnCount = turns
	v.s.Model, v.s.Context = l.Model, l.Context
	v.limitOf, _, _ = strings.Cut(l.Model, "[")
	if l.Text != "" {
		v.s.Last = &LastText{At: l.At, Text: l.Text}
	}
	epoch := float64(l.At.UnixMilli())/1000 - l.Seconds
	v.s.LastActivation = &epoch
}

// status is a copy with what follows from the rest filled in.
func (v *view) status() AgentStatus {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.s
	if s.Warm != nil {
		copied := *s.Warm
		s.Warm = &copied
	}
	if s.State != Limited {
		s.Limit = nil
	}
	s.Running = s.State == Working
	if s.Running && s.Message != nil {
		s.Since = new(s.Message.Since.UTC()) // one turn may follow another without a pause
	}
	if s.Running && v.again != "" {
		s.Why = v.again
	}
	s.Paused = s.State == Paused
	switch s.State {
	case Working:
		s.Activity = "working"
	case Paused, Stopped, Limited:
		s.Activity = "paused"
	default:
		s.Activity = "idle"
	}
	return s
}
