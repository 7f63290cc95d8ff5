package runnertest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Fixture is a backend and a stand-in for its client.
type Fixture struct {
	// Backend must have short time limits, because the suite waits for them.
	Backend runner.Backend
	// Impatient is Backend with an even shorter Timing.Connect. It runs the turns whose
	// clients never get their tools. nil means Backend.
	Impatient runner.Backend
	// Turn returns a turn whose client plays script, in a new session and with a new folder
	// for its files. The suite uses the words say, fail, sleep, hang, noresult, unborn,
	// status, deny, write, sh, cost and compact; Turn translates them for a stand-in that
	// uses other words.
	Turn func(t *testing.T, script string) runner.Turn
	// Shell is the tool that runs commands, and Allow is the configuration entry that
	// would permit Command.
	Shell, Allow string
	// Command is a command that an asking client does not run without permission; "" means
	// npm test. The suite creates a folder "sub" in the client's working folder.
	Command string
	// Commands means that the stand-in really runs commands in a shell and writes files.
	Commands bool
	// Server is an MCP server, and Calls is the script of a turn that calls one of its
	// tools. The turn's text or a tool's result must then contain Result. If Calls is "",
	// the turn only shows that the client has the server's tools. A nil Server means that
	// the stand-in starts no servers.
	Server        func(t *testing.T) *runner.Server
	Calls, Result string
	// Ends overrides the end that the suite expects, keyed by script.
	Ends map[string]runner.End
	// Lacks specifies what this client does not report.
	Lacks Lacks
	// Kill kills a waiting client, as SIGKILL does. It can be nil if the backend is not a
	// [runner.Resident].
	Kill func(runner.Process)
}

// Lacks specifies what a client does not report and what the suite therefore does not
// expect.
type Lacks struct {
	Cost, Tokens, Context bool
	Model                 bool
	Result                bool // the result of an MCP tool
}

// Suite checks the guarantees of [runner.Backend], and those of [runner.Resident] if the
// backend is one. Its parts run in parallel. The fixture must use a different client home
// folder for each call of Turn.
func Suite(t *testing.T, f Fixture) {
	beside(t, "Rows", f.rows)
	beside(t, "Good", f.good)
	beside(t, "Ends", f.ends)
	beside(t, "Order", f.order)
	beside(t, "Unrecorded", f.unrecorded)
	beside(t, "Account", f.account)
	beside(t, "Sessions", f.sessions)
	beside(t, "SameUUID", f.sameUUID)
	beside(t, "Stopped", f.stopped)
	beside(t, "StoppedBefore", f.stoppedBefore)
	beside(t, "TimedOut", f.timedOut)
	beside(t, "Stalled", f.stalled)
	beside(t, "AnyPrompt", f.anyPrompt)
	beside(t, "AtOnce", f.atOnce)
	beside(t, "FollowEnded", f.followEnded)
	beside(t, "FollowCutOff", f.followCutOff)
	if f.Backend.Kind().Caps {
		beside(t, "Capped", f.capped)
	}
	if b, ok := f.Backend.(runner.Resident); ok {
		beside(t, "Resident", func(t *testing.T) { f.resident(t, b) })
	}
}

// beside runs a part of the suite at the same time as the others, because a part spends
// more time waiting for its clients than working.
func beside(t *testing.T, name string, part func(t *testing.T)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		part(t)
	})
}

// run runs a turn and checks the guarantees that apply to every outcome.
func (f Fixture) run(t *testing.T, ctx context.Context, turn runner.Turn) runner.Outcome {
	t.Helper()
	start := time.Now()
	out := f.Backend.Run(ctx, turn)
	f.check(t, turn, out)
	if out.Began.Before(start.Add(-time.Second)) || out.Ended.Before(out.Began) {
		t.Errorf("the turn began %v and ended %v; it was called %v", out.Began, out.Ended, start)
	}
	return out
}

func (f Fixture) check(t *testing.T, turn runner.Turn, out runner.Outcome) {
	t.Helper()
	if out.End == "" {
		t.Error("the outcome has no end")
	}
	if out.End.OK() != (out.Reason == "") {
		t.Errorf("a turn that ended %s has the reason %q", out.End, out.Reason)
	}
	if strings.ContainsAny(out.Reason+out.Hint, "\n\r\x1b") {
		t.Errorf("reason %q or hint %q is not one readable line", out.Reason, out.Hint)
	}
	if left := runner.Leftovers(turn.Mark()); len(left) > 0 {
		t.Errorf("the turn ended %s and left %v", out.End, left)
	}
}

// nextTurn returns another turn for the same agent.
func nextTurn(turn runner.Turn, script string, how runner.How) runner.Turn {
	turn.ID, turn.UUID = turn.ID+"b", NewUUID()
	turn.Prompt = script
	turn.Session.How = how
	return turn
}

// sessionOf reports whether the turn ran in the right session, which is named by either
// the client or the turn.
func (f Fixture) sessionOf(turn runner.Turn, out runner.Outcome) bool {
	if f.Backend.Kind().NamesSessions && turn.Session.How != runner.Resume {
		return out.Session != ""
	}
	return out.Session == turn.Session.ID
}

// further returns another turn in the session of a turn that has ended.
func further(turn runner.Turn, out runner.Outcome, script string) runner.Turn {
	turn = nextTurn(turn, script, runner.Resume)
	turn.Session.ID = cmp.Or(out.Session, turn.Session.ID)
	return turn
}

// permits returns a [runner.Permit] that allows only calls of these kinds.
func permits(kinds ...string) runner.Permit {
	return func(_ context.Context, r runner.PermissionRequest) runner.Decision {
		return runner.Decision{Request: r, Allowed: slices.Contains(kinds, r.Kind), Rule: "test", At: time.Now()}
	}
}

// NewUUID returns a random UUID (version 4).
func NewUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (f Fixture) good(t *testing.T) {
	turn := f.Turn(t, "@say ready")
	out := f.run(t, t.Context(), turn)
	if out.End != runner.Done || out.Text != "ready" || !out.FirstEvent {
		t.Fatalf("Run = %s %q (%s), want %s %q", out.End, out.Text, out.Reason, runner.Done, "ready")
	}
	if !f.sessionOf(turn, out) || out.Model == "" && !f.Lacks.Model {
		t.Errorf("session %q, model %q; want session %q and some model", out.Session, out.Model, turn.Session.ID)
	}
	if out.ExitCode != 0 || out.Signal != "" || out.Leftovers != 0 {
		t.Errorf("exit is %+v, want a clean one", out.Exit)
	}
	if info, err := os.Stat(turn.Stdout); err != nil || info.Size() == 0 || info.Mode().Perm() != 0o600 {
		t.Errorf("the turn's output is %v, %v; want a file that only its owner reads", info, err)
	}
}

func (f Fixture) ends(t *testing.T) {
	for script, want := range map[string]runner.End{
		"@fail no luck":                    runner.Failed,
		"@say begun\n@noresult":            runner.Failed,
		"@unborn":                          runner.NoFirstEvent,
		"@status 401":                      runner.BadSetup,
		"@status 404":                      runner.BadSetup,
		"@status 429 retry-after 3600":     runner.Limited,
		"@status 529":                      runner.Limited,
		"@status 400":                      runner.Failed,
		"@status 402":                      runner.Limited,
		"@status 403":                      runner.Limited,
		"@status 500":                      runner.Limited,
		"@say I am told no\n@deny Write x": runner.Done,
	} {
		if end, ok := f.Ends[script]; ok {
			want = end
		}
		beside(t, script, func(t *testing.T) {
			out := f.run(t, t.Context(), f.Turn(t, script))
			if out.End != want {
				t.Errorf("%q ended %s (%s), want %s", script, out.End, out.Reason, want)
			}
			if out.FirstEvent == (want == runner.NoFirstEvent) {
				t.Errorf("%q: FirstEvent is %v", script, out.FirstEvent)
			}
			if crashes := strings.HasSuffix(script, "@noresult") || script == "@unborn"; out.Crashed != crashes {
				t.Errorf("%q: Crashed is %v, ended %s: %s", script, out.Crashed, out.End, out.Exit.Crash())
			}
			if strings.HasPrefix(script, "@fail") && !strings.Contains(out.Reason, "no luck") {
				t.Errorf("the reason %q does not say what the client said", out.Reason)
			}
		})
	}
}

// order checks that Started is called first, and then Event for all events in order.
func (f Fixture) order(t *testing.T) {
	turn := f.Turn(t, "@say one\n@say two\n@say three")
	var said []string
	started, last := false, streamjson.Kind("")
	turn.Started = func(p runner.Process) error {
		if started || last != "" {
			t.Error("Started was called twice, or after an event")
		}
		if p.PID == 0 {
			t.Errorf("Started was given the process %v", p)
		}
		started = true
		return nil
	}
	turn.Event = func(ev *streamjson.Event) {
		if !started {
			t.Errorf("event %s came before Started", ev.Kind)
		}
		if ev.Kind != streamjson.KindCommand { // the status of the prompt may also arrive after the result
			last = ev.Kind
		}
		if ev.Kind == streamjson.KindAssistant {
			for _, b := range ev.Blocks {
				said = append(said, b.Text)
			}
		}
	}
	f.run(t, t.Context(), turn)
	// Some clients that send text in pieces do not mark the end of a message.
	if text := strings.Join(said, ""); text != "onetwothree" || last != streamjson.KindResult {
		t.Errorf("the client said %q, last came %q; want one, two, three and a result", said, last)
	}
}

// unrecorded checks that a client does no work if its process cannot be recorded.
func (f Fixture) unrecorded(t *testing.T) {
	turn := f.Turn(t, "@say ready")
	turn.Started = func(runner.Process) error { return errors.New("disk full") }
	turn.Event = func(ev *streamjson.Event) {
		if ev.Kind == streamjson.KindAssistant {
			t.Error("the client worked for a turn that was not recorded")
		}
	}
	out := f.run(t, t.Context(), turn)
	if out.End != runner.Failed || !strings.Contains(out.Reason, "disk full") {
		t.Errorf("Run = %s (%s), want %s for the reason that Started gave", out.End, out.Reason, runner.Failed)
	}
}

func (f Fixture) account(t *testing.T) {
	turn := f.Turn(t, "@cost 0.25\n@write note.txt hello\n@say ready\n"+f.refused())
	turn.Permit = permits("edit")
	out := f.run(t, t.Context(), turn)
	f.checkSpent(t, out, 0.25, 2)
	if len(out.Files) != 1 || !strings.HasSuffix(out.Files[0], "note.txt") {
		t.Errorf("files are %q, want the one that was written", out.Files)
	}
	if len(out.Denied) != 1 || out.Denied[0].Tool != f.Shell || out.Denied[0].Allow != f.Allow {
		t.Errorf("denied is %+v, want %s with the entry %s that allows it", out.Denied, f.Shell, f.Allow)
	}
}

func (f Fixture) sessions(t *testing.T) {
	turn := f.Turn(t, "@say one")
	names := f.Backend.Kind().NamesSessions
	taken := runner.NoSession // how a turn that creates a second session with the same id ends
	if names {
		taken = runner.Done // the client creates a session with a different id
	}
	var out runner.Outcome
	seen := map[string]bool{}
	for i, step := range []struct {
		how  runner.How
		want runner.End
	}{
		{runner.Resume, runner.NoSession},
		{runner.New, runner.Done},
		{runner.New, taken},
		{runner.Resume, runner.Done},
	} {
		turn = nextTurn(turn, turn.Prompt, step.how)
		if names && out.Session != "" {
			turn.Session.ID = out.Session
		}
		out = f.run(t, t.Context(), turn)
		if out.End != step.want || out.End.OK() && !f.sessionOf(turn, out) {
			t.Fatalf("step %d, %s %s: ended %s (%s) in %s, want %s", i, step.how, turn.Session.ID, out.End, out.Reason, out.Session, step.want)
		}
		if names && step.how == runner.New && seen[out.Session] {
			t.Errorf("step %d: the new session %s has the name of an earlier one", i, out.Session)
		}
		seen[out.Session] = true
	}
}

// sameUUID checks that the session does not run a known prompt again, if the client
// guarantees that.
func (f Fixture) sameUUID(t *testing.T) {
	want := runner.Done
	if f.Backend.Kind().RunsOnce {
		want = runner.PromptNotRun
	}
	turn := f.Turn(t, "@say one")
	out := f.run(t, t.Context(), turn)
	uuid := turn.UUID
	turn = further(turn, out, "@say two")
	turn.UUID = uuid
	turn.Event = func(ev *streamjson.Event) {
		if ev.Kind == streamjson.KindAssistant && want == runner.PromptNotRun {
			t.Error("the client ran a prompt twice")
		}
	}
	if out := f.run(t, t.Context(), turn); out.End != want {
		t.Errorf("ended %s (%s), want %s", out.End, out.Reason, want)
	}
}

// stopped checks that even a client that ignores signals has exited when Run returns.
func (f Fixture) stopped(t *testing.T) {
	for _, script := range []string{"@say begun\n@sleep 10m", "@say begun\n@hang"} {
		beside(t, script, func(t *testing.T) {
			turn := f.Turn(t, script)
			var p runner.Process
			turn.Started = func(started runner.Process) error { p = started; return nil }
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			turn.Partial, turn.Event = true, onWork(cancel)
			if out := f.run(t, ctx, turn); out.End != runner.Stopped {
				t.Errorf("ended %s (%s), want %s", out.End, out.Reason, runner.Stopped)
			}
			if p.Alive() {
				t.Errorf("the client %v lives on", p)
			}
		})
	}
}

// onWork calls do at the first sign that the model is working. A message may still be
// incomplete at this point.
func onWork(do func()) func(*streamjson.Event) {
	return func(ev *streamjson.Event) {
		if ev.Kind == streamjson.KindAssistant || ev.Kind == streamjson.KindPartial {
			do()
		}
	}
}

func (f Fixture) stoppedBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if out := f.run(t, ctx, f.Turn(t, "@sleep 10m")); out.End != runner.Stopped {
		t.Errorf("a turn of a context that is done ended %s (%s), want %s", out.End, out.Reason, runner.Stopped)
	}
}

func (f Fixture) timedOut(t *testing.T) {
	turn := f.Turn(t, "@hang")
	turn.Spec.Timeout = 300 * time.Millisecond
	if out := f.run(t, t.Context(), turn); out.End != runner.TimedOut || out.Ended.Sub(out.Began) < turn.Spec.Timeout {
		t.Errorf("ended %s (%s) after %v, want %s after %v", out.End, out.Reason, out.Ended.Sub(out.Began), runner.TimedOut, turn.Spec.Timeout)
	}
}

func (f Fixture) stalled(t *testing.T) {
	turn := f.Turn(t, "@say begun\n@sleep 10m")
	turn.Spec.Stall = 300 * time.Millisecond
	turn.Spec.Timeout = time.Minute // limits the duration of a failing test
	if out := f.run(t, t.Context(), turn); out.End != runner.Stalled {
		t.Errorf("ended %s (%s), want %s", out.End, out.Reason, runner.Stalled)
	}
}

// anyPrompt checks that every prompt reaches the client unchanged.
func (f Fixture) anyPrompt(t *testing.T) {
	for name, prompt := range map[string]string{
		"dash":    "--version",
		"slash":   "claude-swarm: turn for coder\n/nosuchcommand now",
		"control": "a NUL \x00, an escape \x1b[31m and a line separator \u2028 end",
		"large":   "@say ready\n" + strings.Repeat("0123456789abcdef", 64<<10),
	} {
		beside(t, name, func(t *testing.T) {
			turn := f.Turn(t, prompt)
			heard := ""
			turn.Event = func(ev *streamjson.Event) {
				if ev.Kind == streamjson.KindReplay {
					for _, b := range ev.Blocks {
						heard += b.Text
					}
				}
			}
			if out := f.run(t, t.Context(), turn); out.End != runner.Done || out.Text == "" {
				t.Errorf("ended %s %q (%s), want %s with a text", out.End, out.Text, out.Reason, runner.Done)
			}
			if len(prompt) < 1000 && heard != prompt {
				t.Errorf("the client heard %q, want %q", heard, prompt)
			}
		})
	}
}

// atOnce checks that parallel turns do not affect each other.
func (f Fixture) atOnce(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 4 {
		text := fmt.Sprintf("this is %d", i)
		turn := f.Turn(t, "@say "+text)
		turn.ID = fmt.Sprintf("%s-%d", turn.ID, i)
		wg.Go(func() {
			if out := f.Backend.Run(t.Context(), turn); out.End != runner.Done || out.Text != text {
				t.Errorf("turn %d ended %s %q (%s), want %s %q", i, out.End, out.Text, out.Reason, runner.Done, text)
			}
		})
	}
	wg.Wait()
}

// followEnded checks that a result in the file is treated like a live one.
func (f Fixture) followEnded(t *testing.T) {
	turn := f.Turn(t, "@cost 0.5\n@say ready")
	var p runner.Process
	turn.Started = func(started runner.Process) error { p = started; return nil }
	first := f.run(t, t.Context(), turn)
	events := 0
	turn.Event = func(*streamjson.Event) { events++ }
	turn.Started = func(runner.Process) error { t.Error("Follow called Started"); return nil }
	second := f.Backend.Follow(t.Context(), turn, p)
	f.check(t, turn, second)
	if second.End != runner.Done || second.Text != first.Text || second.CostUnknown != first.CostUnknown || second.CostUSD != first.CostUSD || second.Session != first.Session || events == 0 {
		t.Errorf("Follow = %s %q %v %s after %d events, want what Run returned: %q %v %s", second.End, second.Text, second.CostUSD, second.Session, events,
			first.Text, first.CostUSD, first.Session)
	}
}

func (f Fixture) followCutOff(t *testing.T) {
	turn := f.Turn(t, "@say begun\n@noresult")
	var p runner.Process
	turn.Started = func(started runner.Process) error { p = started; return nil }
	f.run(t, t.Context(), turn)
	out := f.Backend.Follow(t.Context(), turn, p)
	f.check(t, turn, out)
	if out.End != runner.NoResult || !out.FirstEvent {
		t.Errorf("Follow of a file without a result = %s (%s), first event %v; want %s", out.End, out.Reason, out.FirstEvent, runner.NoResult)
	}
}
