package swarm_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// prompts returns the prompts of all turns so far.
func (f *field) prompts() []string {
	var out []string
	for _, r := range f.backend.Runs() {
		out = append(out, r.Turn.Prompt)
	}
	return out
}

func TestAfterACompactionTheWindowComesBackOnce(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	f.answer(f.send("coder", "@say I renamed ParseFoo to ParseBar.\n@sh ls"))
	f.answer(f.send("coder", "@say before the boundary\n@compact\n@say after the boundary"))
	f.answer(f.send("coder", "what did you do?"))
	f.answer(f.send("coder", "and then?"))
	p := f.prompts()
	for i, prompt := range p {
		has := strings.Contains(prompt, "<prior-context>")
		if want := i == 2; has != want {
			t.Errorf("prompt %d carries the window: %v, want %v", i, has, want)
		}
	}
	third := p[2]
	for _, want := range []string{"ParseBar", "before the boundary", "Do NOT re-execute completed work.", "END RECENT HISTORY"} {
		if !strings.Contains(third, want) {
			t.Errorf("the window in the prompt lacks %q:\n%s", want, third)
		}
	}
	if strings.Contains(third, "after the boundary") {
		t.Error("the window has what came after the boundary")
	}
}

func TestACompactionInTheTurnThatCarriedTheWindowIsNotAnswered(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	f.answer(f.send("coder", "@say first\n@compact"))
	f.answer(f.send("coder", "@say second\n@compact"))
	f.answer(f.send("coder", "third"))
	p := f.prompts()
	if !strings.Contains(p[1], "<prior-context>") {
		t.Error("the second prompt lacks the window")
	}
	if strings.Contains(p[2], "<prior-context>") {
		t.Error("a compaction that the window itself may have caused was answered by another window")
	}
}

// If a client does not report a compaction, the daemon detects it from a drop in the
// context size. This works within a turn, from one turn to the next, and across a restart
// of the daemon.
func TestAFallOfTheContextBringsTheWindowBackOnce(t *testing.T) {
	for name, turns := range map[string][]string{
		"within a turn":               {"@context 150000\n@say before the fall\n@context 40000\n@say after the fall"},
		"between two turns":           {"@context 150000\n@say before the fall", "@context 40000\n@say after the fall"},
		"over a restart":              {"@context 150000\n@say before the fall", "restart", "@context 40000\n@say after the fall"},
		"a small drop does not count": {"@context 30000\n@say before the fall", "@context 14000\n@say after the fall"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "coder")
			f.backend.Quiet = true
			f.start()
			var last string
			for _, text := range append(turns, "@context 41000\n@say third", "@context 42000\n@say fourth") {
				if text == "restart" {
					f.untilState("coder", swarm.Idle)
					f.halt()
					f.start()
					continue
				}
				id := f.send("coder", text)
				f.answer(id)
				if strings.Contains(text, "after the fall") {
					last = id
				}
			}
			fell := name != "a small drop does not count"
			for _, prompt := range f.prompts() {
				given := strings.Contains(prompt, "<prior-context>")
				if want := fell && strings.Contains(prompt, "third"); given != want {
					t.Errorf("the window is in a prompt: %v, want %v:\n%s", given, want, prompt)
				}
				if given && (!strings.Contains(prompt, "before the fall") || strings.Contains(prompt, "after the fall")) {
					t.Errorf("the window is not what came before:\n%s", prompt)
				}
			}
			log, err := os.ReadFile(journal.HomeOf(f.dir).AgentLog("coder"))
			if err != nil {
				t.Fatal(err)
			}
			said := strings.Contains(string(log), "= the client compacted its context (inferred from its size: 150,000 → 40,000 tokens)")
			if n := f.receipt("coder", last).Compactions; said != fell || (n == 1) != fell {
				t.Errorf("%d compactions in the receipt; the log says:\n%s", n, log)
			}
		})
	}
}

func TestThePendingWindowLivesThroughARestart(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	f.answer(f.send("coder", "@say the door is green\n@compact"))
	f.untilState("coder", swarm.Idle)
	f.halt()
	f.start()
	f.answer(f.send("coder", "go on"))
	if p := f.prompts()[1]; !strings.Contains(p, "the door is green") {
		t.Errorf("the window was forgotten:\n%s", p)
	}
}

func TestTheHookGivesTheNewestPartAndThePromptTheRest(t *testing.T) {
	f := newField(t, "coder")
	long := strings.Repeat("an older line of history\n", 200) // 5,000 characters
	hookText := ""
	f.backend.Script = func(now runner.Turn) []runnertest.Step {
		switch {
		case strings.Contains(now.Prompt, "make history"):
			return []runnertest.Step{runnertest.Say("OLDEST " + long), runnertest.Say("MIDDLE " + long), runnertest.Say("NEWEST word")}
		case strings.Contains(now.Prompt, "compact now"):
			return []runnertest.Step{
				runnertest.Do(func(context.Context, runner.Turn) error {
					var out strings.Builder
					if err := turn.HookCompact(journal.HomeOf(f.dir), map[string]runner.Backend{"scripted": f.backend}, now.ID, &out); err != nil {
						return err
					}
					hookText = out.String()
					return nil
				}),
				runnertest.HookRan("What you did last, word for word, from before this compaction. Do NOT re-execute completed work.…"),
				runnertest.Compact(),
			}
		}
		return nil
	}
	f.start()
	f.answer(f.send("coder", "make history"))
	f.answer(f.send("coder", "compact now"))
	f.answer(f.send("coder", "go on"))
	if !strings.Contains(hookText, "NEWEST word") || strings.Contains(hookText, "OLDEST") {
		t.Errorf("the hook gave %d characters: %.200s …", len(hookText), hookText)
	}
	if n := len(hookText); n > runnertest.HookRoom+200 {
		t.Errorf("the hook gave %d characters, of which the client passes %d", n, runnertest.HookRoom)
	}
	third := f.prompts()[2]
	if !strings.Contains(third, "OLDEST") {
		t.Error("the prompt lacks the older rest")
	}
	if strings.Contains(third, "NEWEST word") {
		t.Error("the prompt repeats what the hook gave")
	}
}

func TestALostSessionGetsTheWindowAndTheHandoff(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	f.answer(f.send("coder", "@say the door is green"))
	session := f.backend.Runs()[0].Turn.Session.ID
	f.backend.Forget(session)
	handoff := filepath.Join(f.store.Dir(), "board", "handoff")
	if err := os.MkdirAll(handoff, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(handoff, "coder.md"), []byte("the plan"), 0o600); err != nil {
		t.Fatal(err)
	}
	id := f.send("coder", "go on")
	f.answer(id)
	runs := f.backend.Runs()
	last := runs[len(runs)-1].Turn
	if last.Session.How != runner.New || !strings.Contains(last.Prompt, "the door is green") || !strings.Contains(last.Prompt, "coder.md") {
		t.Errorf("session %v, prompt:\n%s", last.Session, last.Prompt)
	}
	if r := f.receipt("coder", id); r.Outcome != "done" {
		t.Errorf("receipt = %+v", r)
	}
	if got := f.status("coder"); got.State == swarm.Backoff {
		t.Error("a refused session was counted as a failure")
	}
}

func TestSessionsAreResumedAlsoAfterARestart(t *testing.T) {
	f := newField(t, "coder", "reviewer")
	f.start()
	for range 3 {
		f.answer(f.send("coder", "work"))
		f.answer(f.send("reviewer", "look"))
	}
	f.untilState("coder", swarm.Idle)
	f.untilState("reviewer", swarm.Idle)
	f.halt()
	f.start()
	f.answer(f.send("coder", "work"))
	ids := map[string]map[string]bool{"coder": {}, "reviewer": {}}
	for i, r := range f.backend.Runs() {
		ids[r.Turn.Agent][r.Turn.Session.ID] = true
		if want := map[bool]runner.How{true: runner.New, false: runner.Resume}[i < 2]; r.Turn.Session.How != want {
			t.Errorf("turn %d: %s, want %s", i, r.Turn.Session.How, want)
		}
	}
	if len(ids["coder"]) != 1 || len(ids["reviewer"]) != 1 {
		t.Errorf("sessions = %v, want one each", ids)
	}
	for id := range ids["coder"] {
		if ids["reviewer"][id] {
			t.Error("two agents share a session")
		}
	}
}

// A client that cannot resume a session gets a new session with the window for each turn,
// regardless of the session settings.
func TestAClientThatCannotResumeGetsTheWindow(t *testing.T) {
	for _, session := range []turn.SessionMode{turn.SessionResume, turn.SessionContinue} {
		t.Run(string(session), func(t *testing.T) {
			f := newField(t, "coder")
			f.backend.Plain = true
			f.plan.Agents[0].Session = session
			f.start()
			f.answer(f.send("coder", "@say the door is green"))
			f.answer(f.send("coder", "@say the wall is red"))
			f.untilState("coder", swarm.Idle)
			f.halt()
			f.start()
			f.answer(f.send("coder", "go on"))
			ids := make(map[string]bool)
			runs := f.backend.Runs()
			for i, r := range runs {
				ids[r.Turn.Session.ID] = true
				if r.Turn.Session.How != runner.New || r.Outcome.End != runner.Done {
					t.Errorf("turn %d: session %s, ended %s (%s)", i, r.Turn.Session.How, r.Outcome.End, r.Outcome.Reason)
				}
			}
			if len(runs) != 3 || len(ids) != 3 {
				t.Errorf("%d turns in %d sessions, want 3 in 3", len(runs), len(ids))
			}
			err := journal.ReadLedger(journal.HomeOf(f.dir).Ledger(), func(l journal.LedgerLine) bool {
				if !l.CostUnknown || l.CostUSD != 0 {
					t.Errorf("the ledger books %v USD, unknown: %v", l.CostUSD, l.CostUnknown)
				}
				return true
			})
			if err != nil {
				t.Error(err)
			}
			last := runs[len(runs)-1].Turn.Prompt
			for _, want := range []string{"the door is green", "the wall is red"} {
				if n := strings.Count(last, want); n != 1 {
					t.Errorf("the last prompt has %q %d times, want it once:\n%s", want, n, last)
				}
			}
		})
	}
}

func TestFreshSessions(t *testing.T) {
	f := newField(t, "coder")
	f.plan.Agents[0].Session = turn.SessionFresh
	f.start()
	f.answer(f.send("coder", "@say one"))
	f.answer(f.send("coder", "two"))
	runs := f.backend.Runs()
	if runs[0].Turn.Session.ID == runs[1].Turn.Session.ID || runs[1].Turn.Session.How != runner.New {
		t.Errorf("sessions %v and %v", runs[0].Turn.Session, runs[1].Turn.Session)
	}
	if strings.Contains(runs[1].Turn.Prompt, "prior-context") {
		t.Error("a fresh session was given the window")
	}
}
