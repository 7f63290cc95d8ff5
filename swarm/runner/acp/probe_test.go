package acp_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acpstandin"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/acp"
)

// A probe begins like a turn, but it sends no prompt. It leaves no process behind.
func TestProbe(t *testing.T) {
	for name, c := range map[string]struct {
		client string
		env    string
		tools  func(*testing.T) *runner.Server
		end    runner.End
		proof  runner.Proof
	}{
		"with tools":         {"codex", "", toolsServer, runner.Done, runner.Proven},
		"slow tools":         {"codex", "", slowServer, runner.Done, runner.Proven},
		"from a file":        {"copilot", "", toolsServer, runner.Done, runner.Proven},
		"without tools":      {"codex", "", nil, runner.Done, runner.Unproven},
		"tools do not start": {"codex", "", brokenServer, runner.NoFirstEvent, runner.Unproven},
		"tools start late":   {"cline", "", brokenServer, runner.Done, runner.Later},
		"not signed in":      {"opencode", acpstandin.QuirksVar + `={"login":true}`, nil, runner.BadSetup, runner.Unproven},
		"no agent":           {"codex", acpstandin.BadVar + "=prose", nil, runner.NoFirstEvent, runner.Unproven},
		"silent":             {"codex", acpstandin.BadVar + "=silent", nil, runner.Stopped, runner.Unproven},
	} {
		t.Run(name, func(t *testing.T) {
			waits := c.end == runner.NoFirstEvent || c.end == runner.Stopped
			if waits && testing.Short() {
				t.Skip("takes seconds")
			}
			t.Parallel()
			timing := short
			if c.end == runner.NoFirstEvent {
				timing.Connect = 2 * time.Second
			}
			env := []string{}
			if c.env != "" {
				env = append(env, c.env)
			}
			turn := newTurn(t, c.client, "@say never", env...)
			if c.tools != nil {
				turn.Tools = c.tools(t)
			}
			var process runner.Process
			turn.Started = func(p runner.Process) error { process = p; return nil }
			ctx := t.Context()
			if c.end == runner.Stopped {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 2*time.Second)
				defer cancel()
			}
			prober := acp.New(acp.Options{Client: client(t, c.client), Timing: timing}).(runner.Prober)
			p := prober.Probe(ctx, turn)
			if p.End != c.end || p.Tools != c.proof || p.End == runner.Done && p.Version == "" {
				t.Errorf("the probe is %+v, want %s with tools %q", p, c.end, c.proof)
			}
			if p.End != runner.Done && p.End != runner.Stopped && (p.Reason == "" || p.Hint == "") {
				t.Errorf("the probe does not say why it ended, or what to do: %+v", p)
			}
			if left := runner.Leftovers(turn.Mark()); len(left) > 0 || process.Alive() {
				t.Errorf("the probe left %v; %v still runs: %v", left, process, process.Alive())
			}
		})
	}
}

// brokenServer returns a server that cannot be started.
func brokenServer(t *testing.T) *runner.Server {
	return &runner.Server{Command: filepath.Join(t.TempDir(), "missing"), Args: []string{}, Env: map[string]string{}}
}
