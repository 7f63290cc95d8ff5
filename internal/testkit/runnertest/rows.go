package runnertest

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// rows tests the guarantees that every backend must provide, regardless of its client.
// Tests with real clients and with recorded dialogues have similar rows.
func (f Fixture) rows(t *testing.T) {
	beside(t, "Start", f.rowStart)
	beside(t, "Turn", f.rowTurn)
	beside(t, "ToolAllowed", f.rowToolAllowed)
	beside(t, "ToolRefused", f.rowToolRefused)
	beside(t, "CancelAndGoOn", f.rowCancelAndGoOn)
	beside(t, "TurnAfterCancel", f.rowTurnAfterCancel)
	beside(t, "Resume", f.rowResume)
	beside(t, "UnknownSession", f.rowUnknownSession)
	beside(t, "OurTools", f.rowOurTools)
	beside(t, "TokensAndCost", f.rowTokensAndCost)
	beside(t, "Limits", f.rowLimits)
	beside(t, "Kill", f.rowKill)
}

// command returns a command that an asking client does not run without permission.
func (f Fixture) command() string { return cmp.Or(f.Command, "npm test") }

// refused returns a script step in which a call is refused. If the client asks, Permit
// refuses the call; otherwise the client itself refuses it.
func (f Fixture) refused() string {
	if f.Backend.Kind().Asks {
		return "@sh " + f.command()
	}
	return "@deny " + f.Shell + " " + f.command()
}

func (f Fixture) rowStart(t *testing.T) {
	turn := f.Turn(t, "@say ready")
	alive := false
	var process runner.Process
	turn.Started = func(p runner.Process) error {
		process, alive = p, p.Alive()
		return nil
	}
	prompted, early := 0, true
	turn.Prompted = func() { prompted, early = prompted+1, process == (runner.Process{}) }
	out := f.run(t, t.Context(), turn)
	if prompted != 1 || early {
		t.Errorf("Prompted was called %d times, before Started: %v", prompted, early)
	}
	if out.End != runner.Done || !out.FirstEvent || !f.sessionOf(turn, out) {
		t.Errorf("ended %s (%s) in session %q", out.End, out.Reason, out.Session)
	}
	if f.Commands && !alive || process.Alive() {
		t.Errorf("the client %v ran at the start: %v; runs now: %v", process, alive, process.Alive())
	}
}

func (f Fixture) rowTurn(t *testing.T) {
	turn := f.Turn(t, "@say the answer")
	results := 0
	turn.Event = func(ev *streamjson.Event) {
		if ev.Kind == streamjson.KindResult {
			results++
		}
	}
	if out := f.run(t, t.Context(), turn); out.End != runner.Done || out.Text != "the answer" || results != 1 {
		t.Errorf("ended %s %q (%s) with %d results, want %s %q with one", out.End, out.Text, out.Reason, results, runner.Done, "the answer")
	}
}

func (f Fixture) rowToolAllowed(t *testing.T) {
	turn := f.Turn(t, "@sh echo made > made.txt\n@say ready")
	turn.Permit = permits("execute")
	out := f.run(t, t.Context(), turn)
	if out.End != runner.Done || out.OnlyDenied || out.ToolCalls != 1 || len(out.Denied) != 0 {
		t.Errorf("ended %s (%s) with %d tool calls and %+v denied", out.End, out.Reason, out.ToolCalls, out.Denied)
	}
	if !f.Commands {
		return
	}
	if data, err := os.ReadFile(filepath.Join(turn.Spec.Dir, "made.txt")); string(data) != "made\n" {
		t.Errorf("the command's file is %q, %v", data, err)
	}
}

func (f Fixture) rowToolRefused(t *testing.T) {
	asks := f.Backend.Kind().Asks
	turn := f.Turn(t, "@say no\n"+f.refused())
	if err := os.Mkdir(filepath.Join(turn.Spec.Dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	asked := make(chan runner.PermissionRequest, 10)
	turn.Permit = func(_ context.Context, r runner.PermissionRequest) runner.Decision {
		asked <- r
		return runner.Decision{Request: r, Rule: "test", At: time.Now()}
	}
	out := f.run(t, t.Context(), turn)
	if out.End != runner.Done || !out.OnlyDenied || len(out.Denied) != 1 || out.Denied[0].Tool != f.Shell || out.Denied[0].Allow != f.Allow {
		t.Errorf("ended %s (%s) with %+v denied, want %s without %s", out.End, out.Reason, out.Denied, runner.Done, f.Allow)
	}
	if _, err := os.Stat(filepath.Join(turn.Spec.Dir, "sub")); err != nil {
		t.Errorf("the command that was refused has run: %v", err)
	}
	if !asks {
		return
	}
	if len(asked) != 1 || len(out.Decisions) != 1 {
		t.Fatalf("%d requests and the decisions %+v, want one", len(asked), out.Decisions)
	}
	if r := <-asked; r.Kind != "execute" || r.Command != f.command() {
		t.Errorf("the request is %+v, want execute %s", r, f.command())
	}
	if d := out.Decisions[0]; d.Allowed || d.Rule != "test" || d.Request.Command != f.command() {
		t.Errorf("the decision is %+v", d)
	}

	// Without a Permit, no call is allowed.
	turn = f.Turn(t, f.refused())
	if out := f.run(t, t.Context(), turn); len(out.Denied) != 1 || len(out.Decisions) != 1 || out.Decisions[0].Allowed {
		t.Errorf("without a Permit: denied %+v, decided %+v", out.Denied, out.Decisions)
	}
}

// cancelled runs a turn that is stopped in the middle.
func (f Fixture) cancelled(t *testing.T) (runner.Turn, runner.Outcome) {
	t.Helper()
	turn := f.Turn(t, "@say begun\n@sleep 10m")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	turn.Partial, turn.Event = true, onWork(cancel)
	out := f.run(t, ctx, turn)
	if out.End != runner.Stopped {
		t.Fatalf("ended %s (%s), want %s", out.End, out.Reason, runner.Stopped)
	}
	return turn, out
}

// rowCancelAndGoOn checks that an open question does not delay a stop and that the
// backend can run other turns afterwards.
func (f Fixture) rowCancelAndGoOn(t *testing.T) {
	turn := f.Turn(t, "@say begun\n@sh "+f.command()+"\n@sleep 10m")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if f.Backend.Kind().Asks {
		turn.Permit = func(ctx context.Context, r runner.PermissionRequest) runner.Decision {
			cancel()
			<-ctx.Done() // simulates a person who does not answer
			return runner.Decision{Request: r}
		}
	} else {
		turn.Prompt = "@say begun\n@sleep 10m"
		turn.Event = onWork(cancel)
	}
	if out := f.run(t, ctx, turn); out.End != runner.Stopped {
		t.Errorf("ended %s (%s), want %s", out.End, out.Reason, runner.Stopped)
	}
	if out := f.run(t, t.Context(), f.Turn(t, "@say ready")); out.End != runner.Done {
		t.Errorf("another turn ended %s (%s)", out.End, out.Reason)
	}
}

func (f Fixture) rowTurnAfterCancel(t *testing.T) {
	turn, out := f.cancelled(t)
	turn = further(turn, out, "@say on")
	turn.Event = nil
	if out := f.run(t, t.Context(), turn); out.End != runner.Done || out.Text != "on" || !f.sessionOf(turn, out) {
		t.Errorf("the turn after it ended %s %q (%s) in %s, want %s", out.End, out.Text, out.Reason, out.Session, turn.Session.ID)
	}
}

// rowResume checks that the next turn does not repeat any event of an earlier turn.
func (f Fixture) rowResume(t *testing.T) {
	turn := f.Turn(t, "@say an early word\n@write early.txt x")
	turn.Permit = permits("edit")
	var first, second runner.Process
	turn.Started = func(p runner.Process) error { first = p; return nil }
	out := f.run(t, t.Context(), turn)
	turn = further(turn, out, "@say later")
	turn.Started = func(p runner.Process) error { second = p; return nil }
	turn.Event = func(ev *streamjson.Event) {
		if ev.Kind == streamjson.KindAssistant && strings.Contains(fmt.Sprint(ev.Blocks), "early") {
			t.Errorf("the turn begins with an earlier one: %+v", ev.Blocks)
		}
	}
	out = f.run(t, t.Context(), turn)
	if out.End != runner.Done || out.Text != "later" || out.ToolCalls != 0 || len(out.Files) != 0 || !f.sessionOf(turn, out) || first == second {
		t.Errorf("ended %s %q (%s) in %s with %d calls and files %q; processes %v, %v", out.End, out.Text, out.Reason, out.Session, out.ToolCalls, out.Files, first, second)
	}
}

func (f Fixture) rowUnknownSession(t *testing.T) {
	turn := f.Turn(t, "@say ready")
	turn.Session = runner.Session{ID: NewUUID(), How: runner.Resume}
	if out := f.run(t, t.Context(), turn); out.End != runner.NoSession {
		t.Errorf("ended %s (%s), want %s", out.End, out.Reason, runner.NoSession)
	}
}

func (f Fixture) rowOurTools(t *testing.T) {
	if f.Server == nil {
		t.Skip("the stand-in starts no MCP servers")
	}
	turn := f.Turn(t, cmp.Or(f.Calls, "@say ready"))
	turn.Tools = f.Server(t)
	turn.Ready, turn.Servers = filepath.Join(t.TempDir(), "ready"), filepath.Join(t.TempDir(), "servers.json")
	turn.Tools.Env[runner.ReadyVar] = turn.Ready
	heard := ""
	turn.Event = func(ev *streamjson.Event) {
		for _, b := range ev.Blocks {
			if b.Kind == streamjson.BlockToolResult {
				heard += b.Text
			}
		}
	}
	out := f.run(t, t.Context(), turn)
	if out.End != runner.Done {
		t.Fatalf("ended %s (%s), want %s", out.End, out.Reason, runner.Done)
	}
	if f.Calls != "" && (out.ToolCalls != 1 || !strings.Contains(heard, f.Result) && !f.Lacks.Result) {
		t.Errorf("%d calls with the result %q, want %q", out.ToolCalls, heard, f.Result)
	}
	if len(out.Denied) != 0 || len(out.Decisions) != 0 {
		t.Errorf("our tools were denied: %+v, or asked for: %+v", out.Denied, out.Decisions)
	}

	if f.Calls == "" {
		return
	}
	// A client that does not get its tools must not begin to work on the message.
	turn = f.Turn(t, "@say ready")
	turn.Tools = &runner.Server{Command: filepath.Join(t.TempDir(), "missing"), Args: []string{}, Env: map[string]string{}}
	turn.Ready, turn.Servers = filepath.Join(t.TempDir(), "ready"), filepath.Join(t.TempDir(), "servers.json")
	if f.Impatient != nil {
		f.Backend = f.Impatient
	}
	if out := f.run(t, t.Context(), turn); out.End != runner.NoFirstEvent || out.Hint == "" {
		t.Errorf("without its tools the turn ended %s (%s; %s), want %s and a hint", out.End, out.Reason, out.Hint, runner.NoFirstEvent)
	}
}

// checkSpent checks out.Spent for a turn that cost usd US dollars and made calls tool
// calls.
func (f Fixture) checkSpent(t *testing.T, out runner.Outcome, usd float64, calls int) {
	t.Helper()
	if f.Lacks.Cost {
		usd = 0
	}
	if out.CostUSD != usd || out.CostUnknown != f.Lacks.Cost || out.ToolCalls != calls {
		t.Errorf("the account is %+v, want %v USD (unknown: %v) and %d tool calls", out.Spent, usd, f.Lacks.Cost, calls)
	}
	if (out.Tokens.Input == 0) != f.Lacks.Tokens || (out.ContextTokens == 0 || out.ContextLimit == 0) != f.Lacks.Context {
		t.Errorf("the account is %+v; it lacks tokens: %v, and a context: %v", out.Spent, f.Lacks.Tokens, f.Lacks.Context)
	}
}

// rowTokensAndCost checks that a turn counts only its own usage, not that of earlier
// turns in the session.
func (f Fixture) rowTokensAndCost(t *testing.T) {
	turn := f.Turn(t, "@cost 0.25\n@say one")
	first := f.run(t, t.Context(), turn)
	f.checkSpent(t, first, 0.25, 0)
	turn = further(turn, first, "@cost 0.5\n@say two")
	second := f.run(t, t.Context(), turn)
	if second.CostUSD != 0.5 && !second.CostUnknown || second.Tokens.Input > 2*first.Tokens.Input {
		t.Errorf("the second turn is %+v, after %+v", second.Spent, first.Spent)
	}
}

func (f Fixture) rowLimits(t *testing.T) {
	for _, script := range []string{"@status 429", "@status 503"} {
		want := runner.Limited
		if end, ok := f.Ends[script]; ok {
			want = end
		}
		turn := f.Turn(t, script)
		out := f.run(t, t.Context(), turn)
		if out.End != want || out.Hint == "" {
			t.Errorf("%s: ended %s (%s; %s), want %s and a hint", script, out.End, out.Reason, out.Hint, want)
		}
		turn = further(turn, out, "@say on")
		if out := f.run(t, t.Context(), turn); out.End != runner.Done || out.Text != "on" {
			t.Errorf("the turn after %s ended %s %q (%s)", script, out.End, out.Text, out.Reason)
		}
	}
}

// rowKill checks that processes started by a tool end with the turn, regardless of their
// process group and session.
func (f Fixture) rowKill(t *testing.T) {
	if !f.Commands {
		t.Skip("the stand-in runs no commands")
	}
	need.Program(t, "setsid")
	turn := f.Turn(t, "@sh (setsid sleep 311 &) ; (sleep 312 &) ; echo $$ > pid ; sleep 313")
	turn.Permit = permits("execute")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pid := filepath.Join(turn.Spec.Dir, "pid")
	go func() { // this goroutine cancels the turn's context and then ends
		for ctx.Err() == nil {
			if data, err := os.ReadFile(pid); err == nil && len(data) > 0 {
				cancel()
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	if out := f.run(t, ctx, turn); out.End != runner.Stopped { // run checks for leftover processes
		t.Errorf("ended %s (%s), want %s", out.End, out.Reason, runner.Stopped)
	}
	data, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	var shell int
	fmt.Sscan(string(data), &shell)
	if p, err := runner.Identify(shell); err == nil && p.Alive() {
		t.Errorf("the shell %v lives on", p)
	}
}
