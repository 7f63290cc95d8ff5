package swarm_test

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A turn that was permitted nothing is refused, and so is the urgent message that was handled
// in it. Both are done and answered once.
func TestATurnThatWasPermittedNothing(t *testing.T) {
	f := newField(t, "coder")
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.TakeIn(), runnertest.Deny(runnertest.Shell, "make"), runnertest.Say("I may not")}
	}
	f.start()
	task := f.send("coder", "build it")
	f.untilState("coder", "working")
	now := f.send("coder", "at once", urgent)
	for _, id := range []string{task, now} {
		m := f.answer(id)
		if m.Outcome != journal.OutcomeRefused || !strings.HasPrefix(string(m.Body), "Not done: ") || strings.Count(string(m.Body), "Not done: ") != 1 ||
			!strings.HasPrefix(m.Subject, "not permitted: ") {
			t.Errorf("the answer to %s is %+v: %s", id, m, m.Body)
		}
		if r := f.receipt("coder", id); r.Outcome != journal.OutcomeRefused || r.ID != id {
			t.Errorf("the receipt is %+v", r)
		}
	}
	f.until("all is filed", func() bool {
		return len(f.files("coder", "new"))+len(f.files("coder", "cur"))+len(f.files("coder", "dead")) == 0
	})
	if n := len(f.backend.Runs()); n != 1 {
		t.Errorf("%d turns, want 1", n)
	}
	lines := 0
	if err := journal.ReadLedger(journal.HomeOf(f.dir).Ledger(), func(l journal.LedgerLine) bool {
		lines++
		return l.Outcome == journal.OutcomeRefused
	}); err != nil || lines == 0 {
		t.Errorf("%d lines, %v", lines, err)
	}
}
