package e2e_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// capTurn returns a turn for the real client with a cap in US dollars. The turn needs no
// daemon.
func (p *project) capTurn(prompt string, usd float64) runner.Turn {
	p.t.Helper()
	dir := p.t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	id := "cap-" + runnertest.NewUUID()
	return runner.Turn{
		ID: id, Agent: "coder", UUID: runnertest.NewUUID(), Prompt: prompt, CapUSD: usd,
		Session: runner.Session{ID: runnertest.NewUUID(), How: runner.New},
		Spec:    runner.Spec{Command: []string{cli}, Dir: p.dir, Model: "claude-sonnet-4-6", Timeout: 2 * time.Minute},
		Env:     runner.Environ(p.env, runner.EnvOptions{Agent: "coder", TurnID: id}),
		Files:   runner.Files{Stdout: at("stdout"), Stderr: at("stderr"), Settings: at("settings.json"), System: at("system.md"), Servers: at("mcp.json")},
	}
}

// runCapped runs a turn. It checks that the client spends nothing after the turn ends. It
// also checks that the turn's booked cost equals the cost that the API counts, unless the
// cost is unknown.
func (p *project) runCapped(turn runner.Turn, scenario string) runner.Outcome {
	p.t.Helper()
	before := p.spent(usageOf(p.t, scenario))
	out := claude.New(claude.Options{}).Run(p.t.Context(), turn)
	requests := p.api.Stats().Answered
	if left := runner.Leftovers(turn.Mark()); len(left) > 0 {
		p.t.Errorf("the turn left %v", left)
	}
	time.Sleep(300 * time.Millisecond) // gives any unwanted request time to arrive
	if later := p.api.Stats().Answered; fmt.Sprint(later) != fmt.Sprint(requests) {
		p.t.Errorf("the model was asked for %v, and after the turn for %v", requests, later)
	}
	own := p.spent(usageOf(p.t, scenario)) - before
	p.t.Logf("%s %q for %v USD (%s), the API counts %v: %v", out.End, out.Text, out.CostUSD, out.Reason, own, requests)
	if !out.CostUnknown && math.Abs(out.CostUSD-own) > 1e-6 {
		p.t.Errorf("the turn is booked with %v USD, the API counts %v", out.CostUSD, own)
	}
	if p.t.Failed() || testing.Verbose() {
		for _, file := range []string{turn.Stdout, turn.Stderr} {
			data, _ := os.ReadFile(file)
			p.t.Logf("%s:\n%s", filepath.Base(file), data)
		}
	}
	return out
}

// thirty returns a reply that costs 0.30 USD.
func thirty(reply string) string { return priced(reply, 100, 0, 0) }

func bash(command string) string {
	return fmt.Sprintf(`"content":[{"tool_use":{"name":"Bash","input":{"command":%q}}}]`, command)
}

// The client stops after the request that uses up its cap; the next turn in its session
// gets a new cap.
func TestACapEndsALoopOfTools(t *testing.T) {
	t.Parallel()
	scenario := `{"replies":[` +
		thirty(`"name":"loop","match":{"any_contains":"Work on"},"times":-1,`+bash("echo worked")) + `],` + freeSide + `}`
	p := newProject(t, scenario, "  coder: {}\n")
	turn := p.capTurn("Work on it", 0.5)
	out := p.runCapped(turn, scenario)
	if out.End != runner.CapReached || math.Abs(out.CostUSD-0.6) > 1e-6 || out.CostUnknown || out.Reason == "" {
		t.Errorf("ended %s (%s) for %v USD, want %s for 0.6", out.End, out.Reason, out.CostUSD, runner.CapReached)
	}
	next := p.capTurn("Work on it still", 0.5)
	next.Session = runner.Session{ID: turn.Session.ID, How: runner.Resume}
	out = p.runCapped(next, scenario)
	if out.End != runner.CapReached || math.Abs(out.CostUSD-0.6) > 1e-6 || out.Session != turn.Session.ID {
		t.Errorf("the next turn ended %s (%s) for %v USD in session %s, want %s for 0.6 in %s", out.End, out.Reason, out.CostUSD, out.Session, runner.CapReached, turn.Session.ID)
	}
	if n := p.api.Stats().Answered["loop"]; n != 4 {
		t.Errorf("%d requests in both turns, want 4", n)
	}
}

// A complete answer counts, even if it costs more than the cap.
func TestACapKeepsAFinishedAnswer(t *testing.T) {
	t.Parallel()
	scenario := `{"replies":[` + priced(`"name":"answer","text":"It is ready."`, 200, 0, 0) + `],` + freeSide + `}`
	p := newProject(t, scenario, "  coder: {}\n")
	turn := p.capTurn("Work on it", 0.5)
	out := p.runCapped(turn, scenario)
	if out.End != runner.Done || out.Text != "It is ready." || math.Abs(out.CostUSD-0.6) > 1e-6 || out.CostUnknown {
		t.Errorf("ended %s (%s) with %q for %v USD, want %s with its text for 0.6", out.End, out.Reason, out.Text, out.CostUSD, runner.Done)
	}
	again := claude.New(claude.Options{}).Follow(t.Context(), turn, runner.Process{PID: 1 << 22, Start: 1})
	if again.End != out.End || again.Text != out.Text || again.CostUSD != out.CostUSD {
		t.Errorf("Follow = %s (%s) %q for %v USD, want what Run returned", again.End, again.Reason, again.Text, again.CostUSD)
	}
}

// A sub-agent does not continue after the cap is reached, even if the call that started it
// does not wait for it. A background sub-agent can reach the cap before or after the
// client's first answer.
func TestACapEndsASubAgent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		background bool
		delay      int // delay before each answer to the sub-agent, in ms
	}{"foreground": {false, 20}, "background, soon": {true, 20}, "background, late": {true, 1000}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario := `{"replies":[` +
				thirty(`"name":"delegate","match":{"last_user_contains":"Find it"},"content":[{"tool_use":{"name":"Agent","input":{"description":"Look","prompt":"Look for it closely","subagent_type":"general-purpose"}}}]`) + `,` +
				priced(`"name":"filler","match":{"tool_result_contains":"launched"},"text":"I have started a helper and wait for it."`, 0, 0, 0) + `,` +
				thirty(fmt.Sprintf(`"name":"helper","times":-1,"delay_ms":%d,`, c.delay)+bash("echo looked")) + `],` + freeSide + `}`
			p := newProject(t, scenario, "  coder: {}\n")
			turn := p.capTurn("Find it", 0.5)
			turn.Spec.Background = c.background
			out := p.runCapped(turn, scenario)
			if out.End != runner.CapReached {
				t.Errorf("ended %s (%s) with %q, want %s", out.End, out.Reason, out.Text, runner.CapReached)
			}
			// When answers take 20 ms, the sub-agent sends a few more requests before the
			// client stops it. A sub-agent that is never stopped sends about eighty
			// requests in 4 s.
			if n := p.api.Stats().Answered["helper"]; n < 1 || n > 5 {
				t.Errorf("the sub-agent asked the model %d times", n)
			}
		})
	}
}

// A workflow runs in the background even if the agent may not work there. The turn ends when
// the workflow ends, with the answer that follows it, and is booked with its whole cost. An
// agent needs it on its list, and a turn with a cap does not get it.
func TestAWorkflow(t *testing.T) {
	t.Parallel()
	scenario := `{"replies":[` +
		thirty(`"name":"delegate","match":{"last_user_contains":"Find it"},"content":[{"tool_use":{"name":"Workflow","input":{"script":"export const meta={name:'w',description:'w'}\nreturn await agent('Look for it closely',{label:'a'})"}}}]`) + `,` +
		priced(`"name":"filler","match":{"tool_result_contains":"launched in background"},"text":"I have started a workflow."`, 0, 0, 0) + `,` +
		thirty(`"name":"helper","match":{"last_user_contains":"closely"},"delay_ms":1500,"text":"It is below the stairs."`) + `,` +
		priced(`"name":"refused","match":{"tool_result_contains":"No such tool"},"text":"I cannot do that."`, 0, 0, 0) + `,` +
		priced(`"name":"answer","times":-1,"text":"Found it below the stairs."`, 0, 0, 0) + `],` + freeSide + `}`
	for name, c := range map[string]struct {
		tools []string
		cap   float64
		text  string
		usd   float64
	}{
		"on the list": {[]string{"Workflow", "Bash"}, 0, "Found it below the stairs.", 0.6},
		"no list":     {nil, 0, "I cannot do that.", 0.3},
		"with a cap":  {[]string{"Workflow", "Bash"}, 5, "I cannot do that.", 0.3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, scenario, "  coder: {}\n")
			turn := p.capTurn("Find it", c.cap)
			if c.tools != nil {
				turn.Spec.AllowedTools = &c.tools
			}
			out := p.runCapped(turn, scenario)
			if out.End != runner.Done || !strings.Contains(out.Text, c.text) || out.CostUnknown || math.Abs(out.CostUSD-c.usd) > 1e-6 {
				t.Errorf("ended %s (%s) with %q for %v USD, unknown: %v; want %s with %q for %v", out.End, out.Reason, out.Text, out.CostUSD, out.CostUnknown, runner.Done, c.text, c.usd)
			}
		})
	}
}

// If the cap was set by a person in the agent's command rather than by claude-swarm, a turn
// that reaches the cap in the middle of its work counts as failed. A complete answer counts.
func TestACapInTheCommand(t *testing.T) {
	t.Parallel()
	inCommand := func(t *testing.T, scenario string) runner.Outcome {
		p := newProject(t, scenario, "  coder: {}\n")
		turn := p.capTurn("Work on it", 5)
		turn.Spec.Command = append(turn.Spec.Command, "--max-budget-usd", "0.5")
		return p.runCapped(turn, scenario)
	}
	t.Run("in the middle", func(t *testing.T) {
		t.Parallel()
		out := inCommand(t, `{"replies":[`+thirty(`"name":"loop","times":-1,`+bash("echo worked"))+`],`+freeSide+`}`)
		if out.End != runner.Failed || math.Abs(out.CostUSD-0.6) > 1e-6 || !strings.Contains(out.Hint, "--max-budget-usd") {
			t.Errorf("ended %s (%s; %s) for %v USD, want %s for 0.6", out.End, out.Reason, out.Hint, out.CostUSD, runner.Failed)
		}
	})
	t.Run("with the answer", func(t *testing.T) {
		t.Parallel()
		out := inCommand(t, `{"replies":[`+priced(`"name":"answer","text":"It is ready."`, 200, 0, 0)+`],`+freeSide+`}`)
		if out.End != runner.Done || out.Text != "It is ready." || math.Abs(out.CostUSD-0.6) > 1e-6 {
			t.Errorf("ended %s (%s) with %q for %v USD, want %s with its text for 0.6", out.End, out.Reason, out.Text, out.CostUSD, runner.Done)
		}
	})
}

// The client reports which account pays. The status and the ledger keep this information,
// even after a daemon restart.
func TestWhoPays(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]runner.Billing{
		"ANTHROPIC_API_KEY=sk-ant-test-0000": runner.BillingAPI, "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-test-0000": runner.BillingSubscription, "ANTHROPIC_AUTH_TOKEN=of-a-gateway": runner.BillingAPI,
	} {
		name, _, _ := strings.Cut(variable, "=")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, `{"replies":[{"times":-1,"text":"Done."}]}`, "  coder: {}\n")
			p.env = append(slices.DeleteFunc(p.env, func(e string) bool { return strings.HasPrefix(e, "ANTHROPIC_API_KEY=") }), variable)
			p.start()
			if got := p.agent("coder").Billing; got != runner.BillingUnknown {
				t.Errorf("before the first turn the status says %q", got)
			}
			if r := p.receipt("coder", p.send("coder", "Work")); r.Billing != want {
				t.Errorf("the receipt says %q, want %q", r.Billing, want)
			}
			p.idle()
			p.swarm("stop")
			p.start()
			if got := p.agent("coder").Billing; got != want {
				t.Errorf("the status says %q, want %q", got, want)
			}
		})
	}
}
