package acp_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acpstandin"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// TestRecords plays the recorded dialogues of the real clients to the backend. They show
// errors that the stand-in hides, since its author and the backend's author read the same
// specification.
func TestRecords(t *testing.T) {
	folders, err := filepath.Glob("../../../testdata/acp/*-*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("there are no records: %v", err)
	}
	for _, folder := range folders {
		folder, err := filepath.Abs(folder)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(filepath.Base(folder), "-")
		played := func(t *testing.T, row string) runner.Turn {
			t.Parallel()
			return newTurn(t, name, "play", acpstandin.PlayVar+"="+filepath.Join(folder, row+".jsonl"))
		}
		run := func(t *testing.T, turn runner.Turn) runner.Outcome {
			return backend(t, name).Run(t.Context(), turn)
		}
		t.Run(name+"/turn", func(t *testing.T) {
			if out := run(t, played(t, "turn")); out.End != runner.Done || out.Text == "" || out.Session == "" {
				t.Errorf("ended %s %q (%s)", out.End, out.Text, out.Reason)
			}
		})
		t.Run(name+"/shell", func(t *testing.T) {
			turn := played(t, "shell")
			turn.Permit = allow(true)
			if out := run(t, turn); out.End != runner.Done || out.ToolCalls != 1 || out.Text != "It ran." || len(out.Denied) != 0 {
				t.Errorf("ended %s %q (%s) with %d calls, denied %v", out.End, out.Text, out.Reason, out.ToolCalls, out.Denied)
			}
		})
		t.Run(name+"/refused", func(t *testing.T) {
			turn := played(t, "refused")
			turn.Permit = allow(false)
			out := run(t, turn)
			if out.End != runner.Done || len(out.Denied) != 1 || out.Denied[0].Allow != "execute rm -rf sub" {
				t.Errorf("ended %s (%s), denied %+v", out.End, out.Reason, out.Denied)
			}
		})
		t.Run(name+"/unknown", func(t *testing.T) {
			turn := played(t, "unknown")
			turn.Session = runner.Session{ID: "00000000-0000-4000-8000-000000000001", How: runner.Resume}
			if out := run(t, turn); out.End != runner.NoSession || out.Reason == "" {
				t.Errorf("ended %s (%s), want %s", out.End, out.Reason, runner.NoSession)
			}
		})
	}
}

// allow is a [runner.Permit] with one answer.
func allow(yes bool) runner.Permit {
	return func(_ context.Context, r runner.PermissionRequest) runner.Decision {
		return runner.Decision{Request: r, Allowed: yes}
	}
}
