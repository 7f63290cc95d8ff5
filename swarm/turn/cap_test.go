package turn_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// silence is a feed without listeners.
// noCalls ignores the tool calls.
type noCalls struct{}

func (noCalls) Began(*journal.Record, string, []byte, bool) {}
func (noCalls) Ended(string, string)                        {}
func (noCalls) TurnEnded(string)                            {}

type silence struct{}

func (silence) Wants(string) (partial, raw bool)    { return false, false }
func (silence) Partial(agent, message, text string) {}
func (silence) Raw(agent, message, line string)     {}

// compacting is a client that can summarize its conversation.
type compacting struct{ *runnertest.Scripted }

func (compacting) CompactPrompt() string { return "@say shorter" }

// agentTurns runs the turns of an agent whose client lingers.
type agentTurns struct {
	*turn.Turns
	t        *testing.T
	home     journal.Home
	backend  *runnertest.Scripted
	settings turn.Settings
}

func newAgentTurns(t *testing.T, backend *runnertest.Scripted) *agentTurns {
	t.Helper()
	home := journal.HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	sessions, err := journal.OpenSessions(home)
	if err != nil {
		t.Fatal(err)
	}
	unsorted, err := journal.OpenUnsortedTools(home)
	if err != nil {
		t.Fatal(err)
	}
	deps := &turn.Deps{
		Home: home, Sessions: sessions, Unsorted: unsorted, Backends: map[string]runner.Backend{"scripted": backend, "compacting": compacting{backend}}, Waiting: turn.NewWaitingClients(1), Streams: turn.NewStreamWatch(),
		Feed: silence{}, Token: func(string) string { return "" }, Calls: noCalls{}, ContextSized: func(string, string, journal.Context) {}, Note: func(err error) {
			if err != nil && !os.IsNotExist(err) {
				t.Error(err)
			}
		},
	}
	log := slog.New(slog.DiscardHandler)
	agentLog := journal.OpenAgentLog(home, "coder", journal.LogPolicy{}, func(time.Time, string, string) {}, func(err error) { t.Error(err) })
	a := &agentTurns{t: t, home: home, backend: backend, settings: turn.Settings{Backend: "scripted", Linger: time.Hour, Client: runner.Spec{Dir: t.TempDir(), Thinking: "low"}}}
	a.Turns = turn.NewTurns(deps, "coder", log, agentLog, turn.NewSecrets(home.Secrets()), func() {})
	t.Cleanup(func() { a.Close(t.Context(), "the test is over"); agentLog.Close() })
	return a
}

// run runs a turn for a message. It returns the outcome, the record, and the turn that
// the backend got.
func (a *agentTurns) run(message string, s turn.Settings, reserved float64, script string) (runner.Outcome, *journal.Record, runner.Turn) {
	a.t.Helper()
	out, rec, err := a.Run(a.t.Context(), s, turn.Task{
		Record:   journal.Record{Agent: "coder", Message: message, ReservedUSD: reserved},
		Begun:    1,
		Prompt:   func(*journal.Record, turn.Recall) string { return script },
		Steer:    func(*journal.Record) *runner.Steering { return nil },
		Permit:   func(*journal.Record) runner.Permit { return nil },
		Unusable: func(*journal.Record, runner.Outcome) error { return nil },
	})
	if err != nil {
		a.t.Fatal(err)
	}
	runs := a.backend.Runs()
	return out, rec, runs[len(runs)-1].Turn
}

// A turn with a cap gets its own client, even if another client is waiting. The cap is in
// the durable record, where a daemon that follows the turn finds it.
func TestATurnWithACap(t *testing.T) {
	a := newAgentTurns(t, new(runnertest.Scripted))
	a.run("one", a.settings, 0, "@say ready")
	waits := a.backend.Waiting()
	if len(waits) != 1 {
		t.Fatalf("%v wait after a turn without a cap", waits)
	}
	out, rec, got := a.run("two", a.settings, 0.5, "@price 0.3\n@sh true\n@sh true\n@sh true")
	if out.End != runner.CapReached || got.CapUSD != 0.5 || rec.Process == waits[0] || len(a.backend.Waiting()) != 0 {
		t.Errorf("ended %s in %v with the cap %v; %v wait", out.End, rec.Process, got.CapUSD, a.backend.Waiting())
	}
	kept, err := journal.ReadRecord(a.home, rec.Turn)
	if err != nil || kept.ReservedUSD != 0.5 {
		t.Fatalf("the record is %+v, %v", kept, err)
	}
	again, err := a.Follow(t.Context(), a.settings, kept, nil, nil)
	if err != nil || again.End != runner.CapReached || again.CostUSD != out.CostUSD {
		t.Errorf("Follow = %s for %v USD, %v; want %s for %v", again.End, again.CostUSD, err, out.End, out.CostUSD)
	}
	if runs := a.backend.Runs(); runs[len(runs)-1].Turn.CapUSD != 0.5 {
		t.Errorf("the followed turn has the cap %v", runs[len(runs)-1].Turn.CapUSD)
	}
	if out, _, _ := a.run("three", a.settings, 0.5, "@price 0.3\n@say ready"); out.End != runner.Done || len(a.backend.Waiting()) != 0 {
		t.Errorf("ended %s, and %v wait after a turn with a cap", out.End, a.backend.Waiting())
	}
}

// A client that cannot enforce a cap is kept, even after a turn for which the budget
// reserved money.
func TestACapForAClientThatKnowsNone(t *testing.T) {
	a := newAgentTurns(t, &runnertest.Scripted{Asks: true})
	if out, _, _ := a.run("one", a.settings, 0.5, "@say ready"); out.End != runner.Done || len(a.backend.Waiting()) != 1 {
		t.Errorf("ended %s, and %v wait", out.End, a.backend.Waiting())
	}
}

// If a turn has a higher thinking level, it gets a client that was started with that
// level, and the next turn gets another client.
func TestATurnThatThinksMore(t *testing.T) {
	a := newAgentTurns(t, new(runnertest.Scripted))
	deeper := a.settings
	deeper.Client.Thinking = "max"
	seen := map[runner.Process]string{}
	for i, c := range []struct {
		settings turn.Settings
		clients  int
	}{{a.settings, 1}, {a.settings, 1}, {deeper, 2}, {a.settings, 3}} {
		_, rec, got := a.run([]string{"one", "two", "three", "four"}[i], c.settings, 0, "@say ready")
		if want := c.settings.Client.Thinking; got.Spec.Thinking != want || seen[rec.Process] != "" && seen[rec.Process] != want {
			t.Errorf("turn %d thinks %s in a client for %q, want %s", i+1, got.Spec.Thinking, seen[rec.Process], want)
		}
		if seen[rec.Process] = got.Spec.Thinking; len(seen) != c.clients || len(a.backend.Waiting()) != 1 {
			t.Errorf("turn %d: %d clients, want %d; %v wait", i+1, len(seen), c.clients, a.backend.Waiting())
		}
	}
}

// Forget returns an error if it cannot write sessions.json. It succeeds when it is called
// again after the cause has been removed.
func TestForgetThatTheDiskRefuses(t *testing.T) {
	a := newAgentTurns(t, new(runnertest.Scripted))
	a.run("one", a.settings, 0, "@say ready")
	file := filepath.Join(a.home.Dir(), "sessions.json")
	if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := a.Forget(t.Context()); err == nil {
		t.Error("Forget has no error")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := a.Forget(t.Context()); err != nil {
		t.Error(err)
	}
}

// The pid file of a client exists as long as the client does. This also applies after a
// compaction, whether the client is kept or ends.
func TestThePIDFileAfterACompaction(t *testing.T) {
	for _, linger := range []time.Duration{time.Hour, 0} {
		a := newAgentTurns(t, new(runnertest.Scripted))
		a.settings.Linger, a.settings.Backend = linger, "compacting"
		a.run("one", a.settings, 0, "@say ready")
		rec := &journal.Record{Turn: turn.NewCompaction(), Agent: "coder"}
		if out, err := a.Compact(t.Context(), a.settings, rec); err != nil || out.End != runner.Done {
			t.Fatalf("Compact = %s, %v", out.End, err)
		}
		_, err := os.Stat(a.home.PIDFile("coder"))
		if waits := a.HasClient(); waits != (linger > 0) || waits != (err == nil) {
			t.Errorf("linger %v: a client waits: %v, and the pid file: %v", linger, waits, err)
		}
	}
}
