package runnertest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// resident checks the guarantees of [runner.Resident].
func (f Fixture) resident(t *testing.T, b runner.Resident) {
	if f.Kill == nil {
		t.Fatal("the fixture of a resident backend has no Kill")
	}
	r := residents{f, b}
	beside(t, "Turns", r.turns)
	beside(t, "Ends", r.ends)
	beside(t, "Died", r.died)
	beside(t, "Unrecorded", r.unrecorded)
	beside(t, "Stirs", r.stirs)
	beside(t, "Follow", r.follow)
}

// residents is a fixture whose clients can stay after a turn.
type residents struct {
	Fixture
	backend runner.Resident
}

// serve runs a turn and checks the guarantees that apply to every outcome. If the client
// stays, it is closed at the end of the test.
func (f residents) serve(t *testing.T, ctx context.Context, turn runner.Turn, c runner.Warm) (runner.Outcome, runner.Warm) {
	t.Helper()
	out, warm := f.backend.Serve(ctx, turn, c)
	if warm == nil {
		f.check(t, turn, out)
		return out, nil
	}
	if out.End != runner.Done || out.Reason != "" || out.Exit != (runner.Exit{}) {
		t.Errorf("a client stays after a turn that ended %s (%s) with %+v", out.End, out.Reason, out.Exit)
	}
	t.Cleanup(func() {
		if len(runner.Leftovers(turn.Mark())) > 0 {
			f.Kill(warm.Process()) // the test failed before it closed the client
			warm.Close(context.WithoutCancel(t.Context()))
		}
	})
	return out, warm
}

// stays is like serve, but the client must stay after the turn.
func (f residents) stays(t *testing.T, turn runner.Turn, c runner.Warm) (runner.Outcome, runner.Warm) {
	t.Helper()
	out, warm := f.serve(t, t.Context(), turn, c)
	if warm == nil {
		t.Fatalf("no client stays after a turn that ended %s (%s)", out.End, out.Reason)
	}
	return out, warm
}

// next makes another turn, which plays script in the client that stayed after turn.
func next(turn runner.Turn, out runner.Outcome, warm runner.Warm, script string) runner.Turn {
	first := turn.Mark()
	turn = further(turn, out, script)
	turn.Client, turn.From = first, warm.Place()
	return turn
}

// closed closes a client and checks that it leaves nothing behind.
func (f residents) closed(t *testing.T, turn runner.Turn, warm runner.Warm) {
	t.Helper()
	warm.Close(t.Context())
	select {
	case <-warm.Exited():
	default:
		t.Error("a closed client has not exited")
	}
	if left := runner.Leftovers(turn.Mark()); len(left) > 0 || warm.Process().Alive() {
		t.Errorf("a closed client left %v", left)
	}
}

// turns checks that one process can run several prompts and that each turn has its own
// cost.
func (f residents) turns(t *testing.T) {
	turn := f.Turn(t, "@cost 0.25\n@say one")
	var warm runner.Warm
	var out runner.Outcome
	var process runner.Process
	place := runner.Place{}
	for i, want := range []struct {
		script, text string
		cost         float64
	}{{"@cost 0.25\n@say one", "one", 0.25}, {"@cost 0.5\n@write note.txt x\n@say two", "two", 0.5}, {"@cost 0.125\n@say three", "three", 0.125}} {
		if i > 0 {
			turn = next(turn, out, warm, want.script)
		}
		turn.Permit = permits("edit")
		var said []string
		started, last := false, streamjson.Kind("")
		turn.Started = func(p runner.Process) error {
			if started || last != "" {
				t.Error("Started was called twice, or after an event")
			}
			if i > 0 && p != process {
				t.Errorf("turn %d runs in %v, the one before in %v", i+1, p, process)
			}
			started, process = true, p
			return nil
		}
		turn.Event = func(ev *streamjson.Event) {
			if !started {
				t.Errorf("event %s came before Started", ev.Kind)
			}
			last = ev.Kind
			for _, b := range ev.Blocks {
				if ev.Kind == streamjson.KindAssistant && b.Kind == streamjson.BlockText {
					said = append(said, b.Text)
				}
			}
		}
		out, warm = f.stays(t, turn, warm)
		if f.Lacks.Cost {
			want.cost = 0
		}
		if out.Text != want.text || out.CostUSD != want.cost || out.CostUnknown != f.Lacks.Cost || !slices.Equal(said, []string{want.text}) || last != streamjson.KindResult || !out.FirstEvent {
			t.Errorf("turn %d: %q for %v USD, heard %q and at last %s; want %q for %v USD", i+1, out.Text, out.CostUSD, said, last, want.text, want.cost)
		}
		if !f.sessionOf(turn, out) || out.Model == "" && !f.Lacks.Model || (out.ContextTokens == 0 || out.ContextLimit == 0) != f.Lacks.Context || (out.Tokens.Input == 0) != f.Lacks.Tokens {
			t.Errorf("turn %d: the outcome is %+v", i+1, out)
		}
		if calls := strings.Count(want.script, "@write"); out.ToolCalls != calls || len(out.Files) != calls {
			t.Errorf("turn %d: %d tool calls, files %q; want %d", i+1, out.ToolCalls, out.Files, calls)
		}
		total := 0.0
		if way := f.Backend.Kind().Cost; way == runner.CostOfProcess || way == runner.CostOfSession {
			total = place.CostUSD + want.cost
		}
		if warm.Process() != process || warm.Place().Offset <= place.Offset || warm.Place().CostUSD != total {
			t.Errorf("turn %d: %v waits at %+v, after %+v", i+1, warm.Process(), warm.Place(), place)
		}
		place = warm.Place()
	}
	f.closed(t, turn, warm)
}

// ends checks that a client stays only after a successful turn without a compaction,
// whether the turn is its first or a later one.
func (f residents) ends(t *testing.T) {
	for script, want := range map[string]runner.End{
		"@fail no luck":         runner.Failed,
		"@say begun\n@noresult": runner.Failed,
		"@compact\n@say ready":  runner.Done,
		"@hang":                 runner.TimedOut,
		"@say begun\n@sleep 9m": runner.Stopped,
	} {
		for _, how := range []string{"first", "second"} {
			beside(t, how+" "+script, func(t *testing.T) {
				if !f.Backend.Kind().Compacts && strings.HasPrefix(script, "@compact") {
					t.Skip("the client does not report its compactions")
				}
				turn := f.Turn(t, "@say ready")
				var warm runner.Warm
				if how == "first" {
					turn.Prompt = script
				} else {
					var out runner.Outcome
					out, warm = f.stays(t, turn, nil)
					turn = next(turn, out, warm, script)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if want == runner.TimedOut {
					turn.Spec.Timeout = 300 * time.Millisecond
				}
				if want == runner.Stopped {
					turn.Partial, turn.Event = true, onWork(cancel)
				}
				out, warm := f.serve(t, ctx, turn, warm)
				if out.End != want || warm != nil {
					t.Errorf("ended %s (%s), stays: %v; want %s and no client", out.End, out.Reason, warm != nil, want)
				}
			})
		}
	}
}

// died checks that a client that dies while waiting has done no work, and that another
// client continues.
func (f residents) died(t *testing.T) {
	turn := f.Turn(t, "@say one")
	out, warm := f.stays(t, turn, nil)
	f.Kill(warm.Process())
	<-warm.Exited()
	turn = next(turn, out, warm, "@say two")
	turn.Event = func(ev *streamjson.Event) { t.Errorf("event %s of a client that is dead", ev.Kind) }
	if out, stays := f.serve(t, t.Context(), turn, warm); out.End != runner.ClientGone || stays != nil {
		t.Fatalf("ended %s (%s), want %s", out.End, out.Reason, runner.ClientGone)
	}
	turn = further(turn, out, "@say two")
	turn.Client, turn.From, turn.Event = "", runner.Place{}, nil
	out, warm = f.stays(t, turn, nil)
	if out.Text != "two" {
		t.Errorf("the next client said %q", out.Text)
	}
	f.closed(t, turn, warm)
}

func (f residents) unrecorded(t *testing.T) {
	turn := f.Turn(t, "@say one")
	out, warm := f.stays(t, turn, nil)
	turn = next(turn, out, warm, "@say two")
	turn.Started = func(runner.Process) error { return errors.New("disk full") }
	turn.Event = func(ev *streamjson.Event) {
		if ev.Kind == streamjson.KindAssistant {
			t.Error("the client worked for a turn that was not recorded")
		}
	}
	if out, warm := f.serve(t, t.Context(), turn, warm); out.End != runner.Failed || warm != nil {
		t.Errorf("ended %s (%s), stays: %v; want %s and no client", out.End, out.Reason, warm != nil, runner.Failed)
	}
}

// stirs checks that a waiting client does nothing.
func (f residents) stirs(t *testing.T) {
	turn := f.Turn(t, "@say one")
	_, warm := f.stays(t, turn, nil)
	if warm.Stirs() {
		t.Error("a client that has ended its turn does something")
	}
	f.closed(t, turn, warm)
}

// follow checks that Follow finds the right turn among several in one file.
func (f residents) follow(t *testing.T) {
	turn := f.Turn(t, "@cost 0.5\n@say one")
	out, warm := f.stays(t, turn, nil)
	turn = next(turn, out, warm, "@cost 0.25\n@say two")
	_, warm = f.stays(t, turn, warm)
	unsent := next(turn, out, warm, "@say three")
	p := warm.Process()
	f.closed(t, turn, warm)

	turn.Started = func(runner.Process) error { t.Error("Follow called Started"); return nil }
	cost := 0.25
	if f.Lacks.Cost {
		cost = 0
	}
	out = f.backend.Follow(t.Context(), turn, p)
	f.check(t, turn, out)
	if out.End != runner.Done || out.Text != "two" || out.CostUSD != cost {
		t.Errorf("Follow = %s %q %v (%s), want what Serve returned: %q %v", out.End, out.Text, out.CostUSD, out.Reason, "two", cost)
	}
	for name, from := range map[string]runner.Place{"from where it would begin": unsent.From, "from before an earlier one": turn.From} {
		unsent.From = from
		out := f.backend.Follow(t.Context(), unsent, p)
		f.check(t, unsent, out)
		if out.End != runner.NoResult {
			t.Errorf("Follow of a turn that was never sent, %s = %s %q (%s), want %s", name, out.End, out.Text, out.Reason, runner.NoResult)
		}
	}
}
