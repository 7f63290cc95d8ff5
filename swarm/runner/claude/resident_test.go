package claude_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

func resident() runner.Resident { return backend().(runner.Resident) }

// serve runs a turn whose client must stay.
func serve(t *testing.T, turn runner.Turn, w runner.Warm) (runner.Outcome, runner.Warm) {
	t.Helper()
	out, stays := resident().Serve(t.Context(), turn, w)
	if stays == nil {
		t.Fatalf("no client stays after a turn that ended %s (%s)", out.End, out.Reason)
	}
	t.Cleanup(func() {
		if len(runner.Leftovers(turn.Mark())) > 0 {
			stays.Close(canceled())
		}
	})
	return out, stays
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// after returns the next turn in the same client.
func after(turn runner.Turn, w runner.Warm, script string) runner.Turn {
	first := turn.Mark()
	turn.ID, turn.UUID, turn.Prompt = turn.ID+"b", runnertest.NewUUID(), script
	turn.Client, turn.From, turn.Session.How = first, w.Place(), runner.Resume
	return turn
}

// eventually waits until a condition is true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
		time.Sleep(5 * time.Millisecond) // the interval between checks; the deadline limits their number
	}
}

// A waiting client that does not respond to its prompt is abandoned, and it leaves no
// process behind.
func TestAWaitingClientThatCannotTakeThePrompt(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	need.Program(t, "ps")
	for name, during := range map[string]func(runner.Process){
		"silent": func(runner.Process) {},
		"then killed": func(p runner.Process) {
			time.AfterFunc(300*time.Millisecond, func() { syscall.Kill(p.PID, syscall.SIGKILL) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := newTurn(t, "@say one")
			_, w := serve(t, turn, nil)
			if err := syscall.Kill(w.Process().PID, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the client has stopped", func() bool { // this takes longer on a busy machine
				out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(w.Process().PID)).Output()
				return err == nil && strings.HasPrefix(string(out), "T")
			})
			turn = after(turn, w, "@say two")
			turn.Started = func(p runner.Process) error { during(p); return nil }
			turn.Event = func(ev *streamjson.Event) { t.Errorf("event %s", ev.Kind) }
			out, stays := resident().Serve(t.Context(), turn, w)
			if out.End != runner.ClientGone || stays != nil || out.Reason == "" {
				t.Errorf("ended %s (%s), want %s", out.End, out.Reason, runner.ClientGone)
			}
			if left := runner.Leftovers(turn.Mark()); len(left) > 0 || w.Process().Alive() {
				t.Errorf("left %v", left)
			}
		})
	}
}

// Processes that a turn leaves behind keep running during the client's next turns and are
// terminated with the client.
func TestLeftoversEndWithTheirClient(t *testing.T) {
	turn := newTurn(t, "@sh setsid sleep 600 >/dev/null 2>&1 &\n@say one")
	_, w := serve(t, turn, nil)
	turn = after(turn, w, "@say two")
	_, w = serve(t, turn, w)
	if n := len(runner.Leftovers(turn.Mark())); n < 2 {
		t.Errorf("%d processes carry the mark, want the client and what its first turn left", n)
	}
	if e := w.Close(t.Context()); e.Leftovers == 0 || e.Signal != "" || e.ExitCode != 0 {
		t.Errorf("Close = %+v, want a clean end and a leftover", e)
	}
	if left := runner.Leftovers(turn.Mark()); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// A waiting client has Timing.Close to exit after its input is closed, and is killed after
// that. It is killed immediately if the context is done.
func TestAWaitingClientThatDoesNotGo(t *testing.T) {
	for name, c := range map[string]struct {
		ctx    context.Context
		close  time.Duration
		linger string
		signal string
	}{
		"within its time": {context.Background(), time.Hour, "100ms", ""},
		"after its time":  {context.Background(), 100 * time.Millisecond, "10m", "killed"},
		"at once":         {canceled(), time.Hour, "10m", "killed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			timing := short
			timing.Close = c.close
			turn := newTurn(t, "@linger "+c.linger+"\n@say one")
			out, w := claude.New(claude.Options{Timing: timing}).(runner.Resident).Serve(t.Context(), turn, nil)
			if w == nil {
				t.Fatalf("no client stays after a turn that ended %s (%s)", out.End, out.Reason)
			}
			if e := w.Close(c.ctx); e.Signal != c.signal {
				t.Errorf("Close = %+v, want the signal %q", e, c.signal)
			}
		})
	}
}

// speaker returns a client that is a shell script. For each prompt, the script repeats
// the prompt and runs the commands in lines, where $n is the number of the turn.
func speaker(t *testing.T, turn runner.Turn, lines string) []string {
	return script(t, fmt.Sprintf(`n=0
event() { echo '{"type":"'$1'","subtype":"'$2'","session_id":"%[1]s",'$3'"uuid":"x"}'; }
while read -r line; do
	n=$((n+1))
	id=${line##*\"uuid\":\"}
	event system init
	echo '{"type":"user","isReplay":true,"message":{"role":"user","content":""},"session_id":"%[1]s","uuid":"'${id%%\"*}'"}'
	%[2]s
done`, turn.Session.ID, lines))
}

// A client with work in the background does not stay, because it would begin a turn on
// its own to report the end of that work. A client stays if its tool calls waited for
// their work to finish. The turn is over when all work has finished. The text that
// follows the end of a sub-agent replaces the earlier text.
func TestWorkInTheBackground(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const (
		call    = `echo '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}'; `
		started = `event system task_started '"task_id":"b1","tool_use_id":"t1",'; `
		agent   = `event system task_started '"task_id":"b1","tool_use_id":"t1","task_type":"local_agent",'; `
		waited  = `event system task_started '"task_id":"b1","tool_use_id":"t1","is_backgrounded":false,'; `
		listed  = `event system background_tasks_changed '"tasks":[{"task_id":"b1","task_type":"local_agent"}],'; `
		none    = `event system background_tasks_changed '"tasks":[],'; `
		later   = `; sleep 0.3; `
		unasked = `event system init; event result success '"is_error":false,"result":"it is built","num_turns":1,'`
		broken  = `event system init; event result success '"is_error":true,"result":"it is broken","num_turns":1,'`
		answer  = `echo '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}'; `
		ended   = `event system task_notification '"task_id":"b1","status":"completed",'; `
		result  = `event result success '"is_error":false,"result":"ready","num_turns":1,'`
	)
	for name, c := range map[string]struct {
		lines string
		stays bool
		end   runner.End
		text  string
	}{
		"none":                       {call + answer + result, true, runner.Done, "ready"},
		"it ended within the turn":   {call + started + answer + ended + result, false, runner.Done, "ready"}, // the client still has to report the end of the work
		"a tool that waited for it":  {call + started + ended + answer + result, true, runner.Done, "ready"},
		"it says that it waits":      {call + waited + answer + result, true, runner.Done, "ready"},
		"its session is another one": {`echo '{"type":"result","subtype":"success","is_error":false,"result":"ready","session_id":"other"}'`, false, runner.Done, "ready"},

		"a command that ends later":      {call + started + answer + result + later + ended + unasked, false, runner.Done, "ready\n\nit is built"},
		"a command that never ends":      {call + started + answer + result, false, runner.Done, "ready"},
		"a sub-agent that ends later":    {call + agent + answer + result + later + ended + unasked, false, runner.Done, "it is built"},
		"one that is listed":             {call + listed + agent + answer + result + later + none + ended + unasked, false, runner.Done, "it is built"},
		"one that ended before":          {call + listed + agent + answer + none + ended + result + later + unasked, false, runner.Done, "it is built"},
		"one after which the API fails":  {call + listed + agent + answer + result + later + none + ended + broken, false, runner.Failed, "it is broken"},
		"one that never ends":            {call + listed + agent + answer + result, false, runner.Stalled, "ready"},
		"one of which is never spoken":   {call + listed + agent + answer + result + later + none + `event system init`, false, runner.Failed, "ready"},
		"one with which the client dies": {call + listed + agent + answer + result + later + `exit 3`, false, runner.Failed, "ready"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := newTurn(t, "hello")
			turn.Spec.Command = speaker(t, turn, c.lines)
			turn.Spec.Stall = time.Second
			out, w := resident().Serve(t.Context(), turn, nil)
			if out.End != c.end || out.Text != c.text || (w != nil) != c.stays {
				t.Errorf("ended %s %q (%s), stays: %v; want %s %q, %v", out.End, out.Text, out.Reason, w != nil, c.end, c.text, c.stays)
			}
			if w != nil {
				w.Close(t.Context())
			}
			if left := runner.Leftovers(turn.Mark()); len(left) > 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

// Without the line that repeats a prompt, two turns cannot be distinguished.
func TestAClientThatRepeatsNoPromptDoesNotStay(t *testing.T) {
	out, w := resident().Serve(t.Context(), newTurn(t, "@say ready", "STANDIN_NOREPLAY=1"), nil)
	if out.End != runner.Done || w != nil {
		t.Errorf("ended %s (%s), stays: %v", out.End, out.Reason, w != nil)
	}
}

// We detect that a waiting client has begun a turn on its own, and the work of that turn
// does not count as part of the next turn.
func TestAWaitingClientThatStirs(t *testing.T) {
	turn := newTurn(t, "hello")
	const result = `event result success '"is_error":false,"result":"turn '$n'","total_cost_usd":'$n',"num_turns":1,'`
	turn.Spec.Command = speaker(t, turn, result+`; [ $n = 1 ] && { event system status '"status":null,'; until [ -e go ]; do sleep 0.02; done; event system init; event result success '"is_error":false,"result":"unasked","total_cost_usd":1.5,'; touch gone; }`)
	_, w := serve(t, turn, nil)
	if w.Stirs() {
		t.Error("a change of status counts as a turn")
	}
	if err := os.WriteFile(turn.Spec.Dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the client was seen to stir", w.Stirs)
	eventually(t, "its own turn is over", func() bool { _, err := os.Stat(turn.Spec.Dir + "/gone"); return err == nil })
	// We may also detect the client's own turn too late.
	turn = after(turn, w, "again")
	out, w := serve(t, turn, w)
	if out.End != runner.Done || out.Text != "turn 2" || out.CostUSD != 1 {
		t.Errorf("the next turn ended %s with %q for %v USD, want %q for 1", out.End, out.Text, out.CostUSD, "turn 2")
	}
	w.Close(t.Context())
}

// If the daemon is killed during a client's second turn, Follow reads to the end of that
// turn.
func TestFollowALaterTurn(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, c := range map[string]struct {
		script string
		want   runner.End
	}{
		"to its end":      {"@say begun\n@sleep 500ms\n@cost 0.5\n@say two", runner.Done},
		"until it dies":   {"@say begun\n@sleep 500ms\n@die", runner.NoResult},
		"it is cut short": {"", runner.NoResult}, // the prompt had not been sent
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := newTurn(t, "@cost 0.25\n@say one")
			stdout, err := os.OpenFile(turn.Stdout, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			defer stdout.Close()
			cmd := exec.Command(turn.Spec.Command[0], "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
				"--replay-user-messages", "--session-id", turn.Session.ID)
			cmd.Dir, cmd.Env, cmd.Stdout = turn.Spec.Dir, turn.Env, stdout
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			reaped := make(chan struct{})
			go func() { cmd.Wait(); close(reaped) }() // reap the client as init would; the cleanup waits for this
			t.Cleanup(func() { cmd.Process.Kill(); <-reaped })
			p, err := runner.Identify(cmd.Process.Pid)
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(stdin, claude.PromptLine(turn))
			ended := func() bool {
				data, _ := os.ReadFile(turn.Stdout)
				return strings.Contains(string(data), `"type":"result"`) && strings.HasSuffix(string(data), "\n")
			}
			eventually(t, "the first turn has a result", ended)
			info, err := os.Stat(turn.Stdout)
			if err != nil {
				t.Fatal(err)
			}
			first := turn.ID
			turn.ID, turn.UUID, turn.Prompt = first+"b", runnertest.NewUUID(), c.script
			turn.Client, turn.From = first, runner.Place{Offset: info.Size(), CostUSD: 0.25}
			if c.script != "" {
				io.WriteString(stdin, claude.PromptLine(turn))
			}
			stdin.Close()

			out := backend().Follow(t.Context(), turn, p)
			if out.End != c.want || out.End == runner.Done && (out.Text != "two" || out.CostUSD != 0.5) {
				t.Errorf("Follow = %s %q %v (%s), want %s", out.End, out.Text, out.CostUSD, out.Reason, c.want)
			}
			if left := runner.Leftovers(turn.Mark()); len(left) > 0 || p.Alive() {
				t.Errorf("left %v", left)
			}
		})
	}
}

// A client with a cap in its command does not stay. The cap applies to everything that its
// process spends, so the cap of one turn would end a later turn.
func TestAClientWithACapInItsCommandDoesNotStay(t *testing.T) {
	turn := newTurn(t, "@say one")
	turn.Spec.Command = append(slices.Clone(turn.Spec.Command), "--max-budget-usd", "5")
	out, w := resident().Serve(t.Context(), turn, nil)
	if out.End != runner.Done || w != nil {
		t.Errorf("ended %s (%s), stays %v, want done without a waiting client", out.End, out.Reason, w != nil)
	}
}
