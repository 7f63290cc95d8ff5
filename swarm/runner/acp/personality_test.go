package acp_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acpstandin"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A client may ask twice about the same call. Each request gets a decision. The turn has
// one call, which runs only if both requests are allowed.
func TestTwoQuestionsForOneCall(t *testing.T) {
	for _, c := range []struct {
		name    string
		allowed int // number of requests that are allowed
		ran     bool
	}{{"acp", 0, false}, {"acp", 1, false}, {"acp", 2, true}, {"opencode", 0, false}, {"opencode", 1, false}, {"opencode", 2, true}} {
		t.Run(c.name+" "+[]string{"none", "first", "both"}[c.allowed], func(t *testing.T) {
			t.Parallel()
			turn := newTurn(t, c.name, "@double touch ran\n@say after")
			var mu sync.Mutex
			asked := 0
			turn.Permit = func(_ context.Context, r runner.PermissionRequest) runner.Decision {
				mu.Lock()
				defer mu.Unlock()
				asked++
				return runner.Decision{Request: r, Allowed: asked <= c.allowed}
			}
			out := backend(t, c.name).Run(t.Context(), turn)
			_, err := os.Stat(filepath.Join(turn.Spec.Dir, "ran"))
			denied := min(1, 2-c.allowed)
			if out.End != runner.Done || out.ToolCalls != 1 || len(out.Decisions) != min(2, c.allowed+1) || len(out.Denied) != denied || (err == nil) != c.ran {
				t.Errorf("ended %s (%s) with %d calls, decisions %+v, denied %+v; ran: %v", out.End, out.Reason, out.ToolCalls, out.Decisions, out.Denied, err == nil)
			}
		})
	}
}

// Updates after the answer to the prompt belong to no turn. If a waiting client sends
// any, Stirs returns true, and the caller starts a new client for the next turn.
func TestLateUpdates(t *testing.T) {
	for _, name := range []string{"acp", "gemini"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := newTurn(t, name, "@late\n@say one")
			var events eventLog
			turn.Event = events.add
			out := backend(t, name).Run(t.Context(), turn)
			if out.End != runner.Done || out.Text != "one" || out.ToolCalls != 0 || !slices.Equal(events.texts(streamjson.BlockText), []string{"one"}) {
				t.Errorf("ended %s %q (%s) with %d calls and the texts %q", out.End, out.Text, out.Reason, out.ToolCalls, events.texts(streamjson.BlockText))
			}
			if data, err := os.ReadFile(turn.Stdout); !strings.Contains(string(data), "call_late") {
				t.Errorf("the late updates have not come (%v): %s", err, data)
			}

			turn = newTurn(t, name, "@late\n@say one")
			out, warm := backend(t, name).(runner.Resident).Serve(t.Context(), turn, nil)
			if out.End != runner.Done || out.Text != "one" || warm == nil {
				t.Fatalf("ended %s %q (%s), stays: %v", out.End, out.Text, out.Reason, warm != nil)
			}
			for deadline := time.Now().Add(2 * time.Minute); !warm.Stirs(); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Error("the client has sent updates between two turns and does not stir")
					break
				}
			}
			warm.Close(t.Context())
			if left := runner.Leftovers(turn.Mark()); len(left) > 0 {
				t.Errorf("the closed client left %v", left)
			}
		})
	}
}

// A thought is an event but not part of the answer.
func TestThoughts(t *testing.T) {
	turn := newTurn(t, "acp", "@think first I look\n@say I see\n@think then I act")
	var events eventLog
	turn.Event = events.add
	out := backend(t, "acp").Run(t.Context(), turn)
	if out.End != runner.Done || out.Text != "I see" {
		t.Errorf("ended %s %q (%s)", out.End, out.Text, out.Reason)
	}
	if got := events.texts(streamjson.BlockThinking); !slices.Equal(got, []string{"first I look", "then I act"}) {
		t.Errorf("the thoughts are %q", got)
	}
	if got := events.texts(streamjson.BlockText); !slices.Equal(got, []string{"I see"}) {
		t.Errorf("the texts are %q", got)
	}
}

// A message that arrives during a turn reaches the client exactly once, if the client
// accepts such messages. Otherwise the message waits for the next turn.
func TestSteer(t *testing.T) {
	for name, steers := range map[string]bool{"acp": true, "codex": true, "opencode": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := "@say begun\n@steer\n@say ended"
			if !steers {
				script = "@say begun\n@sleep 300ms\n@say ended"
			}
			turn := newTurn(t, name, script)
			wake, given := make(chan struct{}, 1), false
			turn.Partial = true
			turn.Event = func(ev *streamjson.Event) {
				if ev.Kind == streamjson.KindPartial {
					select {
					case wake <- struct{}{}:
					default:
					}
				}
			}
			uuid := runnertest.NewUUID()
			turn.Steering = &runner.Steering{Wake: wake, Next: func() (runner.Steer, bool) {
				if given {
					return runner.Steer{}, false
				}
				given = true
				return runner.Steer{UUID: uuid, Prompt: "@say steered"}, true
			}}
			out := backend(t, name).Run(t.Context(), turn)
			if out.End != runner.Done || !strings.HasSuffix(out.Text, "ended") || strings.Contains(out.Text, "steered") != steers && name == "acp" {
				t.Errorf("ended %s %q (%s)", out.End, out.Text, out.Reason)
			}
			if given != steers || slices.Contains(out.Steered, uuid) != steers {
				t.Errorf("the message was given: %v, and steered %v", given, out.Steered)
			}
		})
	}
}

// With every client, unknown updates, notifications, fields and requests cause no errors.
// The stand-in fails the turn unless its request is refused.
func TestNoise(t *testing.T) {
	for name := range fixtures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := newTurn(t, name, "@say fine", acpstandin.QuirksVar+`={"noise":true,"exit_after":20}`)
			out := backend(t, name).Run(t.Context(), turn)
			if out.End != runner.Done || !strings.HasSuffix(out.Text, "fine") || len(out.Denied) > 0 {
				t.Errorf("ended %s %q (%s), denied %v", out.End, out.Text, out.Reason, out.Denied)
			}
		})
	}
}

// Cline starts a daemon in another process group unless a variable prevents it, and we set
// this variable. Even if a person sets it to another value, cline's daemon ends with the
// turn.
func TestDaemonOfAClient(t *testing.T) {
	for name, want := range map[string]struct {
		env  []string
		left int
	}{
		"by default":       {nil, 0},
		"a person's value": {[]string{"CLINE_SESSION_BACKEND_MODE=hub"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := newTurn(t, "cline", "@say hello", want.env...)
			out := backend(t, "cline").Run(t.Context(), turn)
			if out.End != runner.Done || out.Leftovers != want.left {
				t.Errorf("ended %s (%s) with %d leftovers, want %d", out.End, out.Reason, out.Leftovers, want.left)
			}
			if left := runner.Leftovers(turn.Mark()); len(left) > 0 {
				t.Errorf("the turn left %v", left)
			}
		})
	}
}

// An unanswered permission request keeps the turn open until turn_timeout, regardless of
// how long the client may be silent. The request is then cancelled, and the command does
// not run.
func TestQuestionWithoutAnAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name := range fixtures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := newTurn(t, name, "@sh rm -rf sub\n@say after")
			sub := filepath.Join(turn.Spec.Dir, "sub")
			if err := os.Mkdir(sub, 0o700); err != nil {
				t.Fatal(err)
			}
			turn.Spec.Timeout, turn.Spec.Stall = 6*time.Second, time.Second // the client must have asked by then
			if turn.Spec.Options != nil {
				turn.Spec.Options = map[string]any{"silence": "500ms"}
			}
			asked, over := 0, false
			turn.Permit = func(ctx context.Context, r runner.PermissionRequest) runner.Decision {
				asked++
				<-ctx.Done()
				over = true
				return runner.Decision{Request: r}
			}
			out := backend(t, name).Run(t.Context(), turn)
			if out.End != runner.TimedOut || out.Hint == "" || asked != 1 || !over {
				t.Errorf("ended %s (%s; %s), asked %d times, the decision is over: %v", out.End, out.Reason, out.Hint, asked, over)
			}
			if len(out.Decisions) != 1 || out.Decisions[0].Allowed || out.Decisions[0].By != runner.Nobody || len(out.Denied) > 0 {
				t.Errorf("the turn has decisions %+v, want one by nobody; denied %+v", out.Decisions, out.Denied)
			}
			if _, err := os.Stat(sub); err != nil {
				t.Errorf("the command ran: %v", err)
			}
			if left := runner.Leftovers(turn.Mark()); len(left) > 0 {
				t.Errorf("the turn left %v", left)
			}
		})
	}
}

// An eventLog records the events of turns. Other goroutines may use it only after the turns
// have ended.
type eventLog []streamjson.Event

func (l *eventLog) add(ev *streamjson.Event) { *l = append(*l, *ev) }

// texts returns the text of each complete block of the given kind from the agent, in
// order.
func (l *eventLog) texts(kind streamjson.BlockKind) (texts []string) {
	for _, ev := range *l {
		for _, b := range ev.Blocks {
			if ev.Kind == streamjson.KindAssistant && b.Kind == kind {
				texts = append(texts, b.Text)
			}
		}
	}
	return texts
}
