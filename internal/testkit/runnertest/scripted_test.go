package runnertest_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

func TestDirectives(t *testing.T) {
	for prompt, want := range map[string]struct {
		end  runner.End
		text string
		took time.Duration
	}{
		"hello": {runner.Done, "Done: hello", 0},
		"frame\n--- abcdefghijklmnop ---\nthe body\nmore\n--- abcdefghijklmnop ---\nDo it.": {runner.Done, "Done: the body", 0},
		"@say one\n@say two":    {runner.Done, "two", 0},
		"@sleep 3s\n@say late":  {runner.Done, "late", 3 * time.Second},
		"@fail no luck":         {runner.Failed, "no luck", 0},
		"@say begun\n@noresult": {runner.Failed, "", 0},
		"@unborn":               {runner.NoFirstEvent, "", 0},
		"@status 401":           {runner.BadSetup, "the service refused (401)", 0},
		"@status 529":           {runner.Limited, "the service takes nothing (529)", 0},
		"@status 500":           {runner.Limited, "the service takes nothing (500)", 0},
		"@status 400":           {runner.Failed, "the service failed (400)", 0},
		"@hang":                 {runner.TimedOut, "", time.Hour},
		"@sleep 20m":            {runner.Stalled, "", 10 * time.Minute},
		"@sleep soon":           {runner.Failed, "script: time: invalid duration \"soon\"", 0},
		"@everybody: look here\n@say unknown word": {runner.Done, "unknown word", 0},
	} {
		t.Run(prompt, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				spec := runner.Spec{Stall: 10 * time.Minute, Timeout: time.Hour}
				if prompt == "@hang" {
					spec.Stall = 0
				}
				start := time.Now()
				out := new(runnertest.Scripted).Run(t.Context(), runner.Turn{ID: "t-1", Prompt: prompt, Spec: spec})
				if out.End != want.end || out.Text != want.text || time.Since(start) != want.took {
					t.Errorf("Run(%q) = %s %q after %v, want %s %q after %v", prompt, out.End, out.Text, time.Since(start), want.end, want.text, want.took)
				}
				if out.End.OK() != (out.Reason == "") {
					t.Errorf("Run(%q): end %s with reason %q", prompt, out.End, out.Reason)
				}
			})
		})
	}
}

func TestWhatATurnDid(t *testing.T) {
	var kinds []streamjson.Kind
	turn := runner.Turn{ID: "t-1", UUID: "u-1", Session: runner.Session{ID: "s-1", How: runner.New},
		Prompt: "@cost 0.05\n@context 68000\n@write a.go x\n@deny shell npm test\n@compact\n@say ready",
		Event:  func(ev *streamjson.Event) { kinds = append(kinds, ev.Kind) }}
	out := new(runnertest.Scripted).Run(t.Context(), turn)
	if out.CostUSD != 0.05 || out.ToolCalls != 2 || out.Compactions != 1 || out.Session != "s-1" || out.Text != "ready" || out.ContextLimit != 200000 {
		t.Errorf("outcome is %+v", out)
	}
	if !slices.Equal(out.Files, []string{"a.go"}) {
		t.Errorf("files are %q, want the one that was written", out.Files)
	}
	if len(out.Denied) != 1 || out.Denied[0].Allow != "shell npm test" {
		t.Errorf("denied is %+v, want shell with the entry that allows it", out.Denied)
	}
	if kinds[0] != streamjson.KindInit || kinds[1] != streamjson.KindReplay || kinds[len(kinds)-1] != streamjson.KindResult {
		t.Errorf("events are %v, want init, replay, …, result", kinds)
	}
}

func TestSessionsAndUUIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(runnertest.Scripted)
		try := func(id string, how runner.How, uuid string) runner.End {
			return b.Run(t.Context(), runner.Turn{ID: "t", UUID: uuid, Prompt: "hello", Session: runner.Session{ID: id, How: how}}).End
		}
		for i, c := range []struct {
			id   string
			how  runner.How
			uuid string
			want runner.End
		}{
			{"a", runner.Resume, "1", runner.NoSession},
			{"a", runner.New, "1", runner.Done},
			{"a", runner.New, "2", runner.NoSession},
			{"a", runner.Resume, "1", runner.PromptNotRun},
			{"a", runner.Resume, "2", runner.Done},
		} {
			if got := try(c.id, c.how, c.uuid); got != c.want {
				t.Errorf("step %d: %s %s with uuid %s ends %s, want %s", i, c.how, c.id, c.uuid, got, c.want)
			}
		}
	})
}

func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := new(runnertest.Scripted)
		time.AfterFunc(time.Minute, cancel)
		start := time.Now()
		out := b.Run(ctx, runner.Turn{ID: "t", Prompt: "@hang"})
		if out.End != runner.Stopped || time.Since(start) != time.Minute || b.Running() != 0 {
			t.Errorf("a hanging turn ended %s after %v, %d still run; want %s after a minute", out.End, time.Since(start), b.Running(), runner.Stopped)
		}
	})
}

func TestStartedComesFirst(t *testing.T) {
	var order []string
	turn := runner.Turn{ID: "t", Prompt: "hello",
		Started: func(p runner.Process) error { order = append(order, "started"); return nil },
		Event:   func(ev *streamjson.Event) { order = append(order, string(ev.Kind)) }}
	b := &runnertest.Scripted{Script: func(runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.Do(func(context.Context, runner.Turn) error { order = append(order, "work"); return nil })}
	}}
	b.Run(t.Context(), turn)
	if want := []string{"started", "init", "replay", "work", "assistant", "result"}; !slices.Equal(order, want) {
		t.Errorf("order is %v, want %v", order, want)
	}
	turn.Started = func(runner.Process) error { return errors.New("disk full") }
	order = nil
	if out := b.Run(t.Context(), turn); out.End != runner.Failed || len(order) != 0 {
		t.Errorf("a turn that was not recorded ended %s after %v, want %s and nothing done", out.End, order, runner.Failed)
	}
}

func TestFollowReadsTheFile(t *testing.T) {
	b := new(runnertest.Scripted)
	turn := runner.Turn{ID: "t", Prompt: "@cost 0.5\n@say ready", Files: runner.Files{Stdout: filepath.Join(t.TempDir(), "t.jsonl")}}
	first := b.Run(t.Context(), turn)
	events := 0
	turn.Event = func(*streamjson.Event) { events++ }
	second := b.Follow(t.Context(), turn, runner.Process{PID: -1, Start: 1})
	if second.End != runner.Done || second.Text != first.Text || second.CostUSD != first.CostUSD || events < 4 {
		t.Errorf("Follow returned %s %q %v after %d events, want what Run returned: %s %q %v", second.End, second.Text, second.CostUSD, events, first.End, first.Text, first.CostUSD)
	}

	turn.Prompt, turn.Stdout = "@say begun\n@noresult", filepath.Join(t.TempDir(), "cut.jsonl")
	b.Run(t.Context(), turn)
	if out := b.Follow(t.Context(), turn, runner.Process{PID: -2, Start: 1}); out.End != runner.NoResult {
		t.Errorf("Follow of a file without a result returned %s, want %s", out.End, runner.NoResult)
	}
	b.Outlive = func(runner.Turn, runner.Process) []runnertest.Step {
		return []runnertest.Step{runnertest.Say("still here")}
	}
	if out := b.Follow(t.Context(), turn, runner.Process{PID: -2, Start: 1}); out.End != runner.Done || out.Text != "still here" {
		t.Errorf("Follow of a client that outlived its daemon returned %s %q, want %s", out.End, out.Text, runner.Done)
	}
}

// A turn with a cap ends after the request that uses up the cap. A complete answer is
// kept.
func TestACap(t *testing.T) {
	b := &runnertest.Scripted{Billing: runner.BillingAPI}
	for name, c := range map[string]struct {
		prompt string
		cap    float64
		end    runner.End
		text   string
		cost   float64
	}{
		"below":                       {"@price 0.2\n@sh true\n@say ready", 0.5, runner.Done, "ready", 0.4},
		"a loop of tools":             {"@price 0.3\n@sh true\n@sh true\n@sh true\n@say ready", 0.5, runner.CapReached, "", 0.6},
		"exactly":                     {"@price 0.25\n@sh true\n@sh true\n@say ready", 0.5, runner.CapReached, "", 0.5},
		"one answer above it":         {"@price 0.6\n@say ready", 0.5, runner.Done, "ready", 0.6},
		"one answer that costs more":  {"@cost 0.6\n@say ready", 0.5, runner.Done, "ready", 0.6},
		"an answer without a step":    {"@price 0.6\nhello", 0.5, runner.Done, "Done: hello", 0.6},
		"words, and then more work":   {"@price 0.6\n@say I look\n@sh true\n@say ready", 0.5, runner.CapReached, "", 0.6},
		"the last step is not a word": {"@price 0.6\n@sh true", 0.5, runner.CapReached, "", 0.6},
		"no cap":                      {"@price 0.3\n@sh true\n@sh true\n@say ready", 0, runner.Done, "ready", 0.9},
	} {
		t.Run(name, func(t *testing.T) {
			turn := runner.Turn{ID: "t-1", Prompt: c.prompt, CapUSD: c.cap}
			turn.Stdout = filepath.Join(t.TempDir(), "out")
			out, warm := b.Serve(t.Context(), turn, nil)
			if out.End != c.end || c.end.OK() && out.Text != c.text || math.Abs(out.CostUSD-c.cost) > 1e-9 || out.CostUnknown || out.Billing != runner.BillingAPI {
				t.Errorf("Serve = %s %q for %v USD (%+v), want %s %q for %v", out.End, out.Text, out.CostUSD, out, c.end, c.text, c.cost)
			}
			if stays := c.cap == 0; (warm != nil) != stays {
				t.Errorf("a client stays: %v, want %v", warm != nil, stays)
			}
			again := b.Follow(t.Context(), turn, runner.Process{PID: -1, Start: 1})
			if again.End != out.End || again.Text != out.Text || again.CostUSD != out.CostUSD || again.CostUnknown {
				t.Errorf("Follow = %s %q for %v USD, want what Serve returned", again.End, again.Text, again.CostUSD)
			}
		})
	}
	// A client that does not report its cost has no cap.
	out := (&runnertest.Scripted{Asks: true}).Run(t.Context(), runner.Turn{ID: "t-1", Prompt: "@price 0.6\n@say I look\n@say ready", CapUSD: 0.5})
	if out.End != runner.Done || !out.CostUnknown {
		t.Errorf("Run of an uncapped kind = %s for %v USD", out.End, out.CostUSD)
	}
}
