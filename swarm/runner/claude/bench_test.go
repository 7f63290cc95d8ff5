package claude_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// BenchmarkTurn runs the stand-in first with os/exec and an output file, and then with the
// backend, which also decodes the output, judges the turn and looks for leftovers.
func BenchmarkTurn(b *testing.B) {
	b.Run("floor/exec", func(b *testing.B) {
		turn := newTurn(b, "@say ready")
		for b.Loop() {
			turn.Session.ID, turn.UUID = runnertest.NewUUID(), runnertest.NewUUID()
			out, err := os.Create(turn.Stdout)
			if err != nil {
				b.Fatal(err)
			}
			cmd := exec.Command(turn.Spec.Command[0], "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
				"--replay-user-messages", "--session-id", turn.Session.ID)
			cmd.Dir, cmd.Env, cmd.Stdout = turn.Spec.Dir, turn.Env, out
			in, err := cmd.StdinPipe()
			if err != nil {
				b.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			in.Write([]byte(claude.PromptLine(turn)))
			in.Close()
			if err := cmd.Wait(); err != nil {
				b.Fatal(err)
			}
			out.Close()
		}
	})
	b.Run("ours/run", func(b *testing.B) {
		turn := newTurn(b, "@say ready")
		backend := claude.New(claude.Options{})
		for b.Loop() {
			turn.Session.ID, turn.UUID = runnertest.NewUUID(), runnertest.NewUUID()
			if out := backend.Run(b.Context(), turn); out.End != runner.Done {
				b.Fatalf("ended %s (%s)", out.End, out.Reason)
			}
		}
	})
}
