package swarm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// seen is a backend that runs client processes and records their prompts.
type seen struct {
	runner.Resident
	mu      sync.Mutex
	prompts []string
}

func newSeenField(t *testing.T, agents ...string) (*field, *seen) {
	t.Helper()
	f := newClientField(t, agents...)
	s := &seen{Resident: f.clients.(runner.Resident)}
	f.clients = s
	return f, s
}

func (s *seen) Run(ctx context.Context, t runner.Turn) runner.Outcome {
	s.mu.Lock()
	s.prompts = append(s.prompts, t.Prompt)
	s.mu.Unlock()
	return s.Resident.Run(ctx, t)
}

func (s *seen) CompactPrompt() string { return s.Resident.(runner.Compacter).CompactPrompt() }

func (s *seen) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prompts[len(s.prompts)-1]
}

// A cleared agent begins a fresh session with its next message. The prompt does not
// contain the window, but it refers to the handoff that the agent left.
func TestClear(t *testing.T) {
	f, seen := newSeenField(t, "coder")
	f.start()
	f.receipt("coder", f.send("coder", "@say I remember BLUE"))
	old := f.status("coder").Session
	if old == "" {
		t.Fatal("no session")
	}
	handoff := filepath.Join(f.store.Dir(), "board", "handoff", "coder.md")
	if err := errors.Join(os.MkdirAll(filepath.Dir(handoff), 0o700), os.WriteFile(handoff, []byte("Read this.\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := f.daemon.Clear("coder", "lead"); err != nil {
		t.Fatal(err)
	}
	if err := f.daemon.Compact("coder", "lead"); err != nil { // a cleared session needs no compaction
		t.Fatal(err)
	}
	f.until("the session is gone", func() bool { return f.status("coder").Session == "" })
	f.receipt("coder", f.send("coder", "@say again"))
	fresh := f.status("coder").Session
	if fresh == old || fresh == "" {
		t.Errorf("the session is %q, want another than %q", fresh, old)
	}
	prompt := seen.last()
	if strings.Contains(prompt, "BLUE") {
		t.Errorf("the window came back:\n%s", prompt)
	}
	if !strings.Contains(prompt, "Read these first: "+handoff) {
		t.Errorf("the handoff is not named:\n%s", prompt)
	}
	// Only the first prompt refers to the handoff.
	f.receipt("coder", f.send("coder", "@say and again"))
	if got := f.status("coder").Session; got != fresh {
		t.Errorf("the session is %q, want to go on with %q", got, fresh)
	}
	if strings.Contains(seen.last(), handoff) {
		t.Error("the handoff is named again")
	}
	if _, ok := errors.AsType[*swarm.UnknownAgentError](f.daemon.Clear("codr", "lead")); !ok {
		t.Error("an unknown agent was cleared")
	}
}

// An order to clear outlives the daemon and is carried out before the next message.
func TestClearOutlivesTheDaemon(t *testing.T) {
	f := newClientField(t, "coder")
	f.start()
	f.receipt("coder", f.send("coder", "@say one"))
	old := f.status("coder").Session
	if err := f.daemon.Pause("coder", swarm.PauseOrder{By: "lead"}); err != nil {
		t.Fatal(err)
	}
	f.until("paused", func() bool { return f.status("coder").State == swarm.Paused })
	if err := f.daemon.Clear("coder", "lead"); err != nil {
		t.Fatal(err)
	}
	f.halt()
	f.start()
	if got := f.status("coder").Session; got != old {
		t.Errorf("a paused agent was cleared: the session is %q", got)
	}
	if err := f.daemon.Resume("coder", "lead"); err != nil {
		t.Fatal(err)
	}
	f.receipt("coder", f.send("coder", "@say two"))
	if got := f.status("coder").Session; got == old {
		t.Error("the order was forgotten")
	}
}

// A compaction is a separate turn. The session remains the same, the ledger has a line
// for the turn, and the next prompt contains the window.
func TestCompact(t *testing.T) {
	f, seen := newSeenField(t, "coder")
	f.start()
	if err := f.daemon.Compact("coder", "lead"); err != nil { // having nothing to compact is not an error
		t.Fatal(err)
	}
	f.receipt("coder", f.send("coder", "@say I remember BLUE"))
	f.receipt("coder", f.send("coder", "@say and GREEN"))
	session := f.status("coder").Session
	if err := f.daemon.Compact("coder", "lead"); err != nil {
		t.Fatal(err)
	}
	var lines []journal.LedgerLine
	f.until("the compaction", func() bool {
		lines = nil
		if err := journal.ReadLedger(journal.HomeOf(f.dir).Ledger(), func(l journal.LedgerLine) bool { lines = append(lines, l); return true }); err != nil {
			t.Fatal(err)
		}
		return len(lines) == 3
	})
	if l := lines[2]; l.Message != "" || l.Outcome != "done" || l.Subject != "compact the context" || l.Session != session {
		t.Errorf("ledger line %+v", l)
	}
	f.receipt("coder", f.send("coder", "@say on"))
	if got := f.status("coder").Session; got != session {
		t.Errorf("the session is %q, want %q", got, session)
	}
	if prompt := seen.last(); !strings.Contains(prompt, "RECENT HISTORY") || !strings.Contains(prompt, "BLUE") {
		t.Errorf("the window did not come back:\n%s", prompt)
	}
	f.noProcesses()
}

func TestABackendThatCannotCompact(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	if err := f.daemon.Compact("coder", "lead"); !errors.Is(err, swarm.ErrCannotCompact) {
		t.Errorf("Compact = %v, want ErrCannotCompact", err)
	}
}

// compacts is a backend whose scripted clients can compact.
type compacts struct{ *runnertest.Scripted }

func (compacts) CompactPrompt() string { return "/compact" }

// compactsFor returns a field whose agent compacts. The compaction costs the amount usd
// in US dollars, and its client first takes the given step.
func compactsFor(t *testing.T, rules budget.Rules, usd float64, meanwhile runnertest.Step) *field {
	t.Helper()
	f := newField(t, "coder")
	f.clients = compacts{f.backend}
	f.plan.Agents[0].Backend, f.plan.Agents[0].Session = "claude", turn.SessionContinue
	f.plan.Budget = rules
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.Price(usd), meanwhile, runnertest.Say("a summary")}
	}
	f.start()
	return f
}

// compacted waits for the n-th compaction, and returns its line in the ledger.
func (f *field) compacted(n int) (line journal.LedgerLine) {
	f.t.Helper()
	f.until("a compaction", func() bool {
		seen := 0
		err := journal.ReadLedger(journal.HomeOf(f.dir).Ledger(), func(l journal.LedgerLine) bool {
			if l.Message == "" {
				line = l
				seen++
			}
			return true
		})
		return err == nil && seen == n
	})
	return line
}

// The budget reserves money for a compaction as it does for any turn, and the
// compaction's client gets the reserved amount as its cap. If the daemon is killed during
// the compaction, the whole reservation counts as spent.
func TestACompactionIsBoundedByTheBudget(t *testing.T) {
	began := make(chan runner.Turn, 1)
	var f *field
	f = compactsFor(t, budget.Rules{Swarm: dollars(8), Agents: map[string]budget.AgentRules{"coder": {Turn: dollars(2)}}}, 0.25,
		runnertest.Do(func(_ context.Context, turn runner.Turn) error {
			began <- turn
			st, err := f.daemon.Status()
			if err != nil {
				return err
			}
			if row := st.Budget.Scopes[0]; row.Reserved.USD != 2 {
				t.Errorf("reserved %v for a compaction, want 2", row.Reserved.USD)
			}
			home := journal.HomeOf(f.dir)
			rec, err := journal.ReadRecord(home, turn.ID)
			if err != nil {
				return err
			}
			rec.Turn = "compact-killed" // the turn of a daemon that was killed
			return rec.Write(home)
		}))
	if err := f.daemon.Compact("coder", "lead"); err != nil {
		t.Fatal(err)
	}
	if turn := <-began; turn.CapUSD != 2 {
		t.Errorf("the cap of the client is %v, want 2", turn.CapUSD)
	}
	if l := f.compacted(1); l.ReservedUSD != 2 || l.CostUSD != 0.25 {
		t.Errorf("the ledger says %+v", l)
	}
	spent := func() (usd, reserved float64) {
		st, err := f.daemon.Status()
		if err != nil {
			t.Fatal(err)
		}
		return st.Budget.Scopes[0].Spent.USD, st.Budget.Scopes[0].Reserved.USD
	}
	f.until("it is settled", func() bool { usd, reserved := spent(); return usd == 0.25 && reserved == 0 })
	for range 2 { // the second daemon must not count anything twice
		f.halt()
		f.start()
		if l := f.compacted(2); l.Turn != "compact-killed" || !l.CostUnknown {
			t.Errorf("after a kill the ledger says %+v", l)
		}
		f.until("it is settled once", func() bool { usd, reserved := spent(); return usd == 2.25 && reserved == 0 })
	}
}

// A compaction ends at its cap, and the agent continues without it.
func TestACompactionAtItsCap(t *testing.T) {
	for name, c := range map[string]struct {
		rules budget.Rules
		step  runnertest.Step
	}{
		"dollars": {budget.Rules{Swarm: dollars(8), Agents: map[string]budget.AgentRules{"coder": {Turn: dollars(0.2)}}}, runnertest.Tool("Read", nil, "text")},
		"time":    {budget.Rules{Swarm: budget.Of(0, 0, 300*time.Millisecond)}, runnertest.Hang()},
	} {
		t.Run(name, func(t *testing.T) {
			f := compactsFor(t, c.rules, 0.25, c.step)
			if err := f.daemon.Compact("coder", "lead"); err != nil {
				t.Fatal(err)
			}
			if l := f.compacted(1); l.Outcome != string(runner.CapReached) {
				t.Errorf("the ledger says %+v", l)
			}
			f.until("the order is over", func() bool {
				again, err := swarm.ToBeCompacted(journal.HomeOf(f.dir), "coder")
				return err == nil && !again
			})
		})
	}
}
