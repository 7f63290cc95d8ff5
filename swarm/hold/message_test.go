package hold_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

func itoa(n int) string { return strconv.Itoa(n) }

// book blocks one turn.
type book struct {
	t     *testing.T
	want  budget.Turn
	block *budget.Block
}

func (b book) Check(turn budget.Turn) *budget.Block {
	if turn != b.want {
		b.t.Errorf("asked about %+v, want %+v", turn, b.want)
	}
	return b.block
}

func TestBudget(t *testing.T) {
	day := budget.Scope{Kind: budget.KindAgent, Name: "coder"}
	task := budget.Scope{Kind: budget.KindTask, Name: "t1"}
	end := noon.Add(12 * time.Hour)
	own := budget.Of(2.5, 40, time.Hour)
	alone := at(12 * time.Hour)
	for name, c := range map[string]struct {
		block   *budget.Block
		want    want
		message bool
	}{
		"free": {},
		"a day's cap in dollars": {
			&budget.Block{Scope: day, Unit: budget.USD, Own: own, Until: end},
			want{kind: hold.KindBudget, state: "parked", until: 12 * time.Hour, why: "at its cap", next: "claude-swarm budget raise coder.day 2.5; continues on its own at " + alone}, false,
		},
		"a day's cap in turns": {
			&budget.Block{Scope: day, Unit: budget.Turns, Own: own, Until: end},
			want{kind: hold.KindBudget, state: "parked", until: 12 * time.Hour, why: "at its cap", next: "claude-swarm budget raise coder.day 40turns; continues on its own at " + alone}, false,
		},
		"a task's cap in time": {
			&budget.Block{Scope: task, Unit: budget.Time, Own: own},
			want{kind: hold.KindBudget, state: "parked", why: "at its cap", next: "claude-swarm budget raise task.t1 1h0m0s"}, true,
		},
		"the rest of a day is reserved": {
			&budget.Block{Scope: day, Unit: budget.USD, Own: own, Until: end, Waits: true},
			want{kind: hold.KindBudget, state: "queued", until: 12 * time.Hour, why: "coder.day: the rest is reserved for running turns", next: "runs when one of them has ended"}, false,
		},
		"the rest of a task is reserved": {
			&budget.Block{Scope: task, Unit: budget.USD, Own: own, Waits: true},
			want{kind: hold.KindBudget, state: "queued", why: "task.t1: the rest is reserved for running turns", next: "runs when one of them has ended"}, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := hold.Budget{Book: book{t, budget.Turn{Agent: "coder", Message: "m1", Trace: "t1"}, c.block}, Text: func(b *budget.Block) string {
				if b != c.block {
					t.Errorf("text of %+v", b)
				}
				return "at its cap"
			}}
			q := about(journal.Hold{})
			q.Message = &dropbox.Message{ID: "m1", Trace: "t1"}
			if got := check(t, h, q, c.want); got.OneMessage != c.message || got.Block != c.block {
				t.Errorf("only one message: %v; block %+v", got.OneMessage, got.Block)
			}
		})
	}
	if got := hold.TurnOn("coder", &dropbox.Message{ID: "m1"}); got.Trace != "m1" {
		t.Errorf("the first message of a task has the trace %q", got.Trace)
	}
}

// Too many turns begin a pause that only a person ends. A person's message is not held.
func TestTurns(t *testing.T) {
	var counts journal.TurnCounts
	for range 3 {
		counts.Count("coder", noon.Add(-time.Minute), false)
	}
	const why = "3 turns within an hour without a message from a person (policy.turns_per_hour)"
	over := want{kind: hold.KindTurns, state: "paused", why: why, next: "claude-swarm resume coder"}
	for name, c := range map[string]struct {
		perHour int
		agent   string
		byLead  bool
		want    want
	}{
		"no limit":             {0, "coder", false, want{}},
		"below the limit":      {4, "coder", false, want{}},
		"at the limit":         {3, "coder", false, over},
		"a message of a lead":  {3, "coder", true, want{}},
		"another agent's turn": {3, "tester", false, want{}},
	} {
		t.Run(name, func(t *testing.T) {
			q := about(journal.Hold{})
			q.Agent, q.ByLead = c.agent, c.byLead
			got := check(t, hold.Turns{Counts: &counts, PerHour: func() int { return c.perHour }}, q, c.want)
			if got.Kind == "" {
				return
			}
			if p := got.Pause; p.By != dropbox.Swarm || p.Why != why || !p.Since.Equal(noon) || !p.Turns || !p.Until.IsZero() {
				t.Errorf("the pause is %+v", p)
			}
		})
	}
}
