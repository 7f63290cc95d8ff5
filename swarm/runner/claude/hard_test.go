package claude_test

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/execfile"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

func backend() runner.Backend { return claude.New(claude.Options{Timing: short}) }

// ample is the time limit of a turn that must not reach it.
const ample = 5 * time.Minute

// runClean runs a turn and fails the test if a process is left over.
func runClean(t *testing.T, turn runner.Turn) runner.Outcome {
	t.Helper()
	return runCleanIn(t, short, turn)
}

func runCleanIn(t *testing.T, timing runner.Timing, turn runner.Turn) runner.Outcome {
	t.Helper()
	out := claude.New(claude.Options{Timing: timing}).Run(t.Context(), turn)
	if left := runner.Leftovers(turn.ID); len(left) > 0 {
		t.Errorf("the turn ended %s and left %v", out.End, left)
	}
	return out
}

// The verdict on a turn is correct and the client has exited, no matter how it behaves.
func TestHardClients(t *testing.T) {
	for name, c := range map[string]struct {
		script  string
		env     string
		close   time.Duration
		stall   time.Duration
		timeout time.Duration
		end     runner.End
		reason  string // part of the reason
	}{
		"rubbish between the lines":        {script: "@rubbish\n@say ready\n@rubbish\n@unknown", end: runner.Done},
		"a line of 10 MB":                  {script: "@big 10000000\n@say ready", end: runner.Done},
		"it stays after the result":        {script: "@say ready\n@linger 10m", close: 300 * time.Millisecond, end: runner.Done},
		"it closes its output and stays":   {script: "@say begun\n@closeout\n@sleep 10m", stall: 300 * time.Millisecond, end: runner.Stalled},
		"it is killed":                     {script: "@say begun\n@die", end: runner.Failed, reason: "killed"},
		"it exits with a status":           {script: "@say begun\n@exit 3", end: runner.Failed, reason: "status 3"},
		"it exits well without a result":   {script: "@say begun\n@noresult", end: runner.Failed, reason: "without a result"},
		"it says nothing and dies":         {env: "STANDIN_UNBORN=1", end: runner.NoFirstEvent, reason: "before its first output"},
		"it says nothing ever":             {script: "@sleep 10m", env: "STANDIN_SILENT=1", stall: 300 * time.Millisecond, end: runner.Stalled},
		"it repeats no prompt":             {script: "@say ready", env: "STANDIN_NOREPLAY=1", end: runner.Done},
		"deaf to signals":                  {script: "@say begun\n@hang", stall: 300 * time.Millisecond, end: runner.Stalled},
		"silent and busy is not a stall":   {script: "@say begun\n@spin", stall: 300 * time.Millisecond, timeout: 2 * time.Second, end: runner.TimedOut},
		"a long tool call is not a stall":  {script: "@sh sleep 1.5\n@say ready", stall: 300 * time.Millisecond, timeout: ample, end: runner.Done},
		"a grandchild holds the output":    {script: "@orphan 10m\n@say ready", end: runner.Done},
		"a shell child in its own session": {script: "@sh setsid sleep 600 >/dev/null 2>&1 &\n@say ready", end: runner.Done},
		"it was interrupted in a tool":     {script: "@sh sleep 600", timeout: 400 * time.Millisecond, end: runner.TimedOut, reason: "longer than 400ms"},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && c.stall > 0 {
				t.Skip("takes seconds")
			}
			t.Parallel()
			turn := newTurn(t, c.script)
			if c.env != "" {
				turn = newTurn(t, c.script, c.env)
			}
			turn.Spec.Stall, turn.Spec.Timeout = c.stall, c.timeout
			if turn.Spec.Timeout == 0 {
				turn.Spec.Timeout = ample
			}
			timing := short
			timing.Close = cmp.Or(c.close, short.Close)
			out := runCleanIn(t, timing, turn)
			if out.End != c.end || !strings.Contains(out.Reason, c.reason) {
				t.Errorf("ended %s (%s), want %s (…%s…)", out.End, out.Reason, c.end, c.reason)
			}
			if c.end == runner.Done && out.Text != "ready" {
				t.Errorf("the text is %.40q, want %q", out.Text, "ready")
			}
			if out.End != runner.Done && out.Hint == "" {
				t.Errorf("there is no hint for a person after %s (%s)", out.End, out.Reason)
			}
		})
	}
}

// A client that waits too long for an API is terminated. The message is considered the
// cause only if the API has answered since then.
func TestAnAPIThatDoesNotAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const retry = `echo '{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":100,"error_status":null,"error":"unknown"}'; `
	const answer = `echo '{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"begun"}]}}'; `
	for name, c := range map[string]struct {
		script         string
		stall, timeout time.Duration
		end            runner.End
	}{
		"silent":                  {retry, 300 * time.Millisecond, ample, runner.Limited},
		"longer than its time":    {retry, 0, time.Second, runner.Limited},
		"silent, after an answer": {retry + answer, 300 * time.Millisecond, ample, runner.Stalled},
		"longer, after an answer": {retry + answer, 0, time.Second, runner.TimedOut},
		"silent, without a retry": {answer, 300 * time.Millisecond, ample, runner.Stalled},
		"silent, and asked again": {retry + answer + retry, 300 * time.Millisecond, ample, runner.Limited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := newTurn(t, "")
			turn.Spec.Command = script(t, c.script+"exec sleep 600")
			turn.Spec.Stall, turn.Spec.Timeout = c.stall, c.timeout
			if out := runClean(t, turn); out.End != c.end || out.Hint == "" {
				t.Errorf("ended %s (%s; %s), want %s", out.End, out.Reason, out.Hint, c.end)
			}
		})
	}
}

// Processes that outlive their client are terminated and counted.
func TestLeftovers(t *testing.T) {
	out := runClean(t, newTurn(t, "@orphan 10m\n@say ready"))
	if out.End != runner.Done || out.Leftovers == 0 {
		t.Errorf("ended %s with %d leftovers, want %s with at least 1", out.End, out.Leftovers, runner.Done)
	}
}

// A flood of output on standard error does not fill the disk, and the last part of the
// output is reported.
func TestStderrIsBounded(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	turn := newTurn(t, "")
	turn.Spec.Command = script(t, `i=0; while [ $i -lt 40 ]; do head -c 1000000 /dev/zero | tr '\0' x >&2; i=$((i+1)); sleep 0.02; done; echo >&2; echo "fatal: out of luck" >&2; exit 9`)
	out := runClean(t, turn)
	if out.End != runner.NoFirstEvent || !strings.Contains(out.Reason, "out of luck") || len(out.Reason) > 500 {
		t.Errorf("ended %s (%.600s), want %s and the last line in short", out.End, out.Reason, runner.NoFirstEvent)
	}
	info, err := os.Stat(turn.Stderr)
	if err != nil || info.Size() > 16<<20 {
		t.Errorf("standard error kept %v bytes of 40 MB (%v)", info.Size(), err)
	}
}

// The output of a client that never stops printing is read up to a limit, and a stop
// takes effect immediately.
func TestStdoutIsBounded(t *testing.T) {
	t.Parallel()
	turn := newTurn(t, "")
	turn.Spec.Command = script(t, `exec yes '{"type":"assistant","message":{"content":[{"type":"text","text":"again"}]}}'`)
	out := claude.New(claude.Options{Timing: short, MaxOutput: 4 << 20}).Run(t.Context(), turn)
	if out.End != runner.Failed || !strings.Contains(out.Reason, "more than 4 MiB") {
		t.Errorf("ended %s (%s), want %s for its output", out.End, out.Reason, runner.Failed)
	}
	// The same is true of a client that prints faster than we read and ignores signals. It
	// is killed at once: the signals alone would take hours here. If the test fails, the
	// limit of the shell keeps the disk from filling up.
	turn = newTurn(t, "")
	turn.Spec.Command = script(t, `ulimit -f 1000000; trap "" INT TERM; while :; do yes x; done`)
	out = claude.New(claude.Options{Timing: patient, MaxOutput: 64 << 20}).Run(t.Context(), turn)
	if out.End != runner.Failed || out.Signal != "killed" || !strings.Contains(out.Reason, "more than 64 MiB") {
		t.Errorf("ended %s (%s) with %+v, want %s for its output, and killed", out.End, out.Reason, out.Exit, runner.Failed)
	}
	if info, err := os.Stat(turn.Stdout); err != nil || info.Size() > 16<<20 {
		t.Errorf("kept %v bytes of the flood (%v)", info.Size(), err)
	}
	turn = newTurn(t, "")
	turn.Spec.Command = script(t, `exec yes '{"type":"assistant","message":{"content":[{"type":"text","text":"again"}]}}'`)
	ctx, cancel := context.WithCancel(t.Context())
	turn.Event = func(*streamjson.Event) { cancel() }
	if out := backend().Run(ctx, turn); out.End != runner.Stopped {
		t.Errorf("ended %s (%s), want %s", out.End, out.Reason, runner.Stopped)
	}
}

// script returns a command that runs a short shell script.
func script(t *testing.T, lines string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "client")
	if err := execfile.Write(file, []byte("#!/bin/sh\n"+lines+"\n")); err != nil {
		t.Fatal(err)
	}
	return []string{file}
}

// The turn is refused with a hint if the client cannot be started or does not accept its
// flags.
func TestCannotStart(t *testing.T) {
	notExecutable := filepath.Join(t.TempDir(), "client")
	if err := os.WriteFile(notExecutable, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	noShell := filepath.Join(t.TempDir(), "client")
	if err := execfile.Write(noShell, []byte("#!/no/such/shell\n")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		command []string
		dir     string
		reason  string
		hint    string
	}{
		"not in the path": {command: []string{"no-such-claude"}, reason: "not installed", hint: "npm install"},
		"no such file":    {command: []string{"/no/such/claude"}, reason: "not installed", hint: "npm install"},
		"not executable":  {command: []string{notExecutable}, reason: "not executable", hint: "command:"},
		"no interpreter":  {command: []string{noShell}, reason: "client", hint: "command:"},
		"no folder":       {command: []string{"/bin/sh"}, dir: "/no/such/folder", reason: "/no/such/folder", hint: "cwd:"},
		"unknown flag":    {command: script(t, `echo "error: unknown option '--verbose'" >&2; exit 1`), reason: "unknown option", hint: "version"},
		"as root":         {command: script(t, `echo "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons" >&2; exit 1`), reason: "root", hint: "IS_SANDBOX"},
		"node is missing": {command: script(t, `exec env no-such-node`), reason: "no-such-node", hint: "command:"},
	} {
		t.Run(name, func(t *testing.T) {
			turn := newTurn(t, "@say ready")
			turn.Spec.Command = c.command
			if c.dir != "" {
				turn.Spec.Dir = c.dir
			}
			out := runClean(t, turn)
			if out.End != runner.BadSetup || !strings.Contains(out.Reason, c.reason) || !strings.Contains(out.Hint, c.hint) {
				t.Errorf("ended %s (%s; %s), want %s (…%s…; …%s…)", out.End, out.Reason, out.Hint, runner.BadSetup, c.reason, c.hint)
			}
			if strings.Contains(out.Reason, "\n") {
				t.Errorf("the reason %q has more than one line", out.Reason)
			}
		})
	}
}

// A rejected key ends the turn after the second attempt, not after the tenth.
func TestDeadKeyIsKnownSoon(t *testing.T) {
	turn := newTurn(t, "")
	retry := `echo '{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":500,"error_status":401,"error":"authentication_failed"}'`
	turn.Spec.Command = script(t, "trap 'exit 130' INT\n"+retry+"\n"+retry+"\nwhile :; do sleep 0.1; done") // ends only if it is told to
	out := runCleanIn(t, patient, turn)
	if out.End != runner.BadSetup || !strings.Contains(out.Hint, "/login") || out.ExitCode != 130 {
		t.Errorf("ended %s (%s; %s) with %+v, want %s after SIGINT", out.End, out.Reason, out.Hint, out.Exit, runner.BadSetup)
	}
}

// A panic in the daemon's own code leaves no client behind.
func TestPanicLeavesNothing(t *testing.T) {
	turn := newTurn(t, "@say begun\n@hang")
	turn.Event = func(ev *streamjson.Event) {
		if ev.Kind == streamjson.KindAssistant {
			panic("a broken promise")
		}
	}
	early := newTurn(t, "@say begun")
	early.Started = func(runner.Process) error { panic("a broken promise") }
	for _, turn := range []runner.Turn{turn, early} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			backend().Run(t.Context(), turn)
		}()
		if left := runner.Leftovers(turn.ID); len(left) > 0 {
			t.Errorf("a panic left %v", left)
		}
	}
}

// If a turn's Grown channel is closed, the turn polls the output instead.
func TestBellIsClosed(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	turn := newTurn(t, "@say begun\n@sleep 300ms\n@say ready")
	bell := make(chan struct{})
	close(bell)
	turn.Grown = bell
	if out := runClean(t, turn); out.End != runner.Done || out.Text != "ready" {
		t.Errorf("ended %s %q (%s), want %s", out.End, out.Text, out.Reason, runner.Done)
	}
}

// A client that responds to a stop can exit on its own, and its tool's child process is
// terminated as well.
func TestStopDuringATool(t *testing.T) {
	turn := newTurn(t, "@sh echo $$ > pid; exec sleep 600")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	turn.Event = func(ev *streamjson.Event) {
		for _, b := range ev.Blocks {
			if b.Kind == streamjson.BlockToolUse {
				cancel()
			}
		}
	}
	out := claude.New(claude.Options{Timing: patient}).Run(ctx, turn)
	if out.End != runner.Stopped || out.Signal != "" {
		t.Errorf("ended %s (%s) with %+v, want %s without force", out.End, out.Reason, out.Exit, runner.Stopped)
	}
	if left := runner.Leftovers(turn.ID); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// A client that has lost its daemon exits on its own, and Follow reads its output to the
// end.
func TestFollowALivingClient(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	turn := newTurn(t, "@say begun\n@sleep 1s\n@cost 0.5\n@say ready")
	p := orphanClient(t, turn)
	var said []string
	turn.Event = func(ev *streamjson.Event) {
		for _, b := range ev.Blocks {
			if b.Kind == streamjson.BlockText && ev.Kind == streamjson.KindAssistant {
				said = append(said, b.Text)
			}
		}
	}
	out := backend().Follow(t.Context(), turn, p)
	if out.End != runner.Done || out.Text != "ready" || out.CostUSD != 0.5 || strings.Join(said, " ") != "begun ready" {
		t.Errorf("Follow = %s %q %v (%s), heard %q; want %s %q 0.5", out.End, out.Text, out.CostUSD, out.Reason, said, runner.Done, "ready")
	}
	if p.Alive() {
		t.Errorf("%v still runs", p)
	}
}

// The init line of a client that outlived its daemon is checked against the tools of the
// turn.
func TestTheToolsOfAFollowedClient(t *testing.T) {
	for status, want := range map[string]runner.End{"connected": runner.Done, "failed": runner.NoFirstEvent} {
		turn := withTools(t, "@say ready", "STANDIN_MCP="+status)
		out := backend().Follow(t.Context(), turn, orphanClient(t, turn))
		if out.End != want {
			t.Errorf("%s: ended %s (%s), want %s", status, out.End, out.Reason, want)
		}
	}
}

// A stop also reaches a client that an earlier daemon started.
func TestStopAFollowedClient(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, script := range []string{"@say begun\n@sh sleep 600", "@say begun\n@hang"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			turn := newTurn(t, script)
			p := orphanClient(t, turn)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			turn.Event = func(ev *streamjson.Event) {
				if ev.Kind == streamjson.KindAssistant {
					cancel()
				}
			}
			out := backend().Follow(ctx, turn, p)
			if out.End != runner.Stopped || p.Alive() || len(runner.Leftovers(turn.ID)) > 0 {
				t.Errorf("ended %s (%s), alive %v, left %v; want %s and nothing left", out.End, out.Reason, p.Alive(), runner.Leftovers(turn.ID), runner.Stopped)
			}
		})
	}
}

// orphanClient starts the turn's client and sends the prompt, as if the daemon had been
// killed right afterwards.
func orphanClient(t *testing.T, turn runner.Turn) runner.Process {
	t.Helper()
	stdout, err := os.OpenFile(turn.Stdout, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	cmd := exec.Command(turn.Spec.Command[0], "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--replay-user-messages", "--session-id", turn.Session.ID)
	if turn.Tools != nil {
		cmd.Args = append(cmd.Args, "--mcp-config", `{"mcpServers":{"dead-drop":{"type":"stdio","command":"claude-swarm","args":["mcp"]}}}`)
	}
	cmd.Dir, cmd.Env, cmd.Stdout = turn.Spec.Dir, turn.Env, stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdin = strings.NewReader(claude.PromptLine(turn))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p, err := runner.Identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	reaped := make(chan struct{})
	go func() { cmd.Wait(); close(reaped) }() // reap the client as init does; the cleanup waits for this
	t.Cleanup(func() { cmd.Process.Kill(); <-reaped })
	return p
}

// The client finds everything that it needs, including the hook, in the files of its
// turn.
func TestCompactionRunsTheHook(t *testing.T) {
	turn := newTurn(t, "@say before\n@compact\n@say ready")
	turn.Hook = "echo you did this and that"
	turn.Spec.CompactWindow = 200000
	turn.Spec.System = "You are coder.\n"
	told := ""
	turn.Event = func(ev *streamjson.Event) {
		if ev.Kind == streamjson.KindHook && ev.Hook.Phase == "response" {
			told = ev.Hook.Output
		}
	}
	out := runClean(t, turn)
	if out.End != runner.Done || out.Compactions != 1 || !strings.Contains(told, "you did this and that") {
		t.Errorf("ended %s (%s) after %d compactions, the hook said %q", out.End, out.Reason, out.Compactions, told)
	}
	if data, err := os.ReadFile(turn.System); err != nil || string(data) != turn.Spec.System {
		t.Errorf("the system prompt's file holds %q, %v", data, err)
	}
}

// A client that begins a tool call after the interrupt has missed the interrupt. It does
// not get the usual time to finish its work, which would be an hour here.
func TestAToolCallAfterTheOrderToStop(t *testing.T) {
	t.Parallel()
	timing := short
	timing.Interrupt = time.Hour
	turn := newTurn(t, "")
	turn.Spec.Command = script(t, `trap "told=yes" INT
trap "" TERM
echo '{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"begun"}]}}'
until [ "$told" ]; do sleep 0.01; done
echo '{"type":"assistant","message":{"model":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}'
while :; do sleep 0.01; done`)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	turn.Event = func(ev *streamjson.Event) {
		if ev.Kind == streamjson.KindAssistant {
			stop()
		}
	}
	out := claude.New(claude.Options{Timing: timing}).Run(ctx, turn)
	if out.End != runner.Stopped || out.Signal != "killed" {
		t.Errorf("ended %s (%s) with %+v, want %s by signals", out.End, out.Reason, out.Exit, runner.Stopped)
	}
}
