package acp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acpstandin"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/acp"
)

// A turn whose client is broken, or is not an ACP agent at all, ends and leaves no process
// behind. If the turn fails, its outcome explains in one line what is wrong and
// what to do.
func TestBadClients(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const refused, noFirst, failed, done = runner.BadSetup, runner.NoFirstEvent, runner.Failed, runner.Done
	for _, c := range []struct {
		bad  string
		want runner.End
		says string // expected in the reason, or in the text of a turn that is done
	}{
		// These programs are not agents.
		{"prose", refused, "Welcome to the assistant!"},
		{"silent", refused, "did not answer initialize"},
		{"echo", refused, "echoes its input"},
		{"exit", noFirst, "the settings are broken"},
		{"kill", noFirst, "ended before"},

		// The first message of these agents is broken.
		{"half", refused, "did not answer initialize"},
		{"mute", refused, "did not answer initialize"},
		{"ids", refused, "did not answer initialize"},
		{"garbage", done, "hello"},
		{"glued:initialize", done, "hello"},
		{"long-line:initialize", done, "hello"},
		{"many-lines:initialize", refused, "garbage in many lines"},
		{"twice", done, "hello"},
		{"deep:initialize", refused, "an ACP agent"},
		{"strings:initialize", refused, "version of the protocol"},

		// These agents break while a session is being opened.
		{"exit:session/new", noFirst, "the settings are broken"},
		{"kill:session/new", noFirst, "ended before"},
		{"half:session/new", noFirst, "did not open its session"},
		{"mute:session/new", noFirst, "did not open its session"},
		{"ids:session/new", noFirst, "did not open its session"},

		// These agents break while a session is being resumed. The session is not the
		// cause, so the next attempt resumes it as well.
		{"exit:session/resume", noFirst, "the settings are broken"},
		{"kill:session/resume", noFirst, "ended before"},
		{"half:session/resume", noFirst, "did not open its session"},
		{"mute:session/resume", noFirst, "did not open its session"},
		{"ids:session/resume", noFirst, "did not open its session"},
		{"exit:session/load", noFirst, "the settings are broken"},
		{"kill:session/load", noFirst, "ended before"},
		{"half:session/load", noFirst, "did not open its session"},
		{"mute:session/load", noFirst, "did not open its session"},
		{"ids:session/load", noFirst, "did not open its session"},

		// These agents break during the turn.
		{"exit:session/update", noFirst, "the settings are broken"}, // at the first update, before any event
		{"kill:session/update", noFirst, "ended before"},
		{"exit:session/prompt", failed, "the settings are broken"},
		{"kill:session/prompt", failed, "ended without a result"},
		{"garbage:session/prompt", done, "hello"},
		{"glued:session/new", done, "hello"},
		{"glued:session/prompt", done, "hello"},
		{"glued:session/request_permission", runner.TimedOut, "longer than"}, // only answers are recovered
		{"long-line:session/update", done, "hello"},
		{"many-lines:session/prompt", done, "hello"},
		{"twice:session/prompt", done, "hello"},
		{"deep:session/prompt", runner.Stalled, "no sign of life"},
		{"half:session/prompt", runner.Stalled, "no sign of life"},
		{"mute:session/prompt", runner.Stalled, "no sign of life"},
		{"ids:session/prompt", runner.Stalled, "no sign of life"},
		{"exit:session/request_permission", failed, "the settings are broken"},
		{"asks:session/prompt", failed, "asked for more than 10000 permissions"},
		{"wants:session/prompt", failed, "is not reading its input"},
		{"mute:session/request_permission", runner.TimedOut, "longer than"}, // the call is open, so the client may still be working
		{"echo:session/request_permission", done, ""},
	} {
		t.Run(c.bad, func(t *testing.T) {
			t.Parallel()
			script := "@say hello"
			if strings.HasSuffix(c.bad, "permission") {
				script = "@sh true\n@say hello"
			}
			turn := newTurn(t, "acp", script, acpstandin.BadVar+"="+c.bad)
			switch _, method, _ := strings.Cut(c.bad, ":"); method {
			case "session/load":
				turn.Env = append(turn.Env, acpstandin.QuirksVar+`={"resume":false}`)
				fallthrough
			case "session/resume":
				turn.Session.How = runner.Resume
			}
			// Only the limit that must end the turn is short, so a turn that ends as expected
			// did not wait for another one.
			start, timing := time.Hour, short
			timing.Connect, timing.Close = time.Hour, time.Second
			switch {
			case c.bad == "prose":
				start = 10 * time.Second // the client must have printed its sentences by then
			case strings.Contains(c.says, "initialize"), c.bad == "deep:initialize":
				start = time.Second
			case strings.Contains(c.says, "did not open"):
				timing.Connect = time.Second
			case c.want == runner.Stalled:
				turn.Spec.Stall = time.Second
			case c.want == runner.TimedOut:
				turn.Spec.Timeout = 3 * time.Second
			}
			out := badTurn(t, turn, start, timing)
			if out.End != c.want || !strings.Contains(out.Reason+out.Text, c.says) {
				t.Errorf("ended %s %q (%s; %s), want %s and %q", out.End, out.Text, out.Reason, out.Hint, c.want, c.says)
			}
			if out.End != done && out.Hint == "" {
				t.Errorf("ended %s (%s) without a hint", out.End, out.Reason)
			}
		})
	}
}

// A client that never answers its first request may be no agent at all, so a person has to look
// at its command. One that answered it is an agent whose start failed.
func TestOnlyAClientThatNeverAnsweredMayBeNoAgent(t *testing.T) {
	for bad, c := range map[string]struct {
		start, connect time.Duration // only the limit that must end the turn is short
		want           runner.End
		says           string
	}{
		"mute":             {time.Second, time.Hour, runner.BadSetup, "did not answer initialize"},
		"mute:session/new": {time.Hour, time.Second, runner.NoFirstEvent, "did not open its session"},
	} {
		t.Run(bad, func(t *testing.T) {
			t.Parallel()
			timing := short
			timing.Connect, timing.Close = c.connect, time.Second
			out := badTurn(t, newTurn(t, "acp", "@say hello", acpstandin.BadVar+"="+bad), c.start, timing)
			if out.End != c.want || !strings.Contains(out.Reason, c.says) {
				t.Errorf("ended %s (%s), want %s and %q", out.End, out.Reason, c.want, c.says)
			}
			if says := strings.Contains(out.Reason, "may not be an ACP agent"); says != (c.want == runner.BadSetup) {
				t.Errorf("the reason is %q", out.Reason)
			}
		})
	}
}

func TestNoProgram(t *testing.T) {
	for name, command := range map[string][]string{
		"missing":    {filepath.Join(t.TempDir(), "no-such-program")},
		"not found":  {"no-such-program-anywhere"},
		"none":       {},
		"a folder":   {t.TempDir()},
		"not a file": {os.DevNull},
	} {
		t.Run(name, func(t *testing.T) {
			turn := newTurn(t, "acp", "@say hello")
			turn.Spec.Command = command
			if out := badTurn(t, turn, time.Hour, short); out.End != runner.BadSetup || out.Hint == "" {
				t.Errorf("ended %s (%s; %s), want %s and a hint", out.End, out.Reason, out.Hint, runner.BadSetup)
			}
		})
	}
}

// badTurn runs a turn and checks the conditions that apply to every bad client. start is
// how long the client may take to answer initialize.
func badTurn(t *testing.T, turn runner.Turn, start time.Duration, timing runner.Timing) runner.Outcome {
	t.Helper()
	c := *client(t, "acp")
	c.Start = start
	out := acp.New(acp.Options{Client: &c, Timing: timing}).Run(t.Context(), turn)
	if out.End != runner.Done && out.Reason == "" || strings.ContainsAny(out.Reason+out.Hint, "\n\r\x1b\x00") {
		t.Errorf("reason %q or hint %q is not one readable line", out.Reason, out.Hint)
	}
	if left := runner.Leftovers(turn.Mark()); len(left) > 0 {
		t.Errorf("the turn left %v", left)
	}
	return out
}

// stall_timeout also applies to a client that is not ready for the prompt. No other limit ends
// these turns.
func TestAClientThatIsNeverReady(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, bad := range []string{"silent", "mute", "mute:session/new"} {
		t.Run(bad, func(t *testing.T) {
			t.Parallel()
			turn := newTurn(t, "acp", "@say hello", acpstandin.BadVar+"="+bad)
			turn.Spec.Stall = time.Second
			timing := short
			timing.Connect = time.Hour
			out := badTurn(t, turn, time.Hour, timing)
			if out.End == runner.Done || !strings.Contains(out.Reason, "no sign of life for") || out.Hint == "" {
				t.Errorf("ended %s (%s; %s)", out.End, out.Reason, out.Hint)
			}
		})
	}
}
