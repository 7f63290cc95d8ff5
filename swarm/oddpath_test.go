package swarm_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A project's path may contain characters that a shell would interpret. The daemon
// still starts there and finds its files.
func TestAProjectWithAnOddPath(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, name := range []string{"a[b", "[ab]", "a*b?", `a\b`} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			f := newFieldIn(t, dir, "coder")
			f.plan.Agents[0].MaxFailures = 1
			home := journal.HomeOf(dir)
			f.backend.Script = func(runner.Turn) []runnertest.Step { return []runnertest.Step{runnertest.Fail("no luck")} }
			f.start()
			id := f.send("coder", "work")
			f.answer(id)
			f.untilState("coder", swarm.Idle)
			f.halt()

			// When the daemon starts again, it restores the missing ledger line of a failed
			// turn, and terminates a client that no agent takes up.
			if err := os.Truncate(home.Ledger(), 0); err != nil {
				t.Fatal(err)
			}
			const lost = "aaaaaaaaaa"
			ended, p := leftover(t, lost+"-1")
			writeRecord(f, lost+"-1", lost, p)
			f.start()
			f.ledgerSays(id, "failed")
			f.untilClosed("the client that nobody takes up has ended", ended)
			f.halt()

			// The pid files identify the caller.
			self, err := runner.Identify(os.Getpid())
			if err != nil {
				t.Fatal(err)
			}
			if err := journal.WritePIDFile(home.PIDFile("coder"), self, "bbbbbbbbbb-1"); err != nil {
				t.Fatal(err)
			}
			if live, err := home.LiveClients(); err != nil || len(live) != 1 || live[0].Agent != "coder" || live[0].Process != self {
				t.Errorf("LiveClients = %+v, %v, want coder's", live, err)
			}
			if marked, err := home.MarkedClients(); err != nil || marked[self.PID].Agent != "coder" || marked[self.PID].Mark != "bbbbbbbbbb-1" {
				t.Errorf("the marked clients are %v, %v, want coder's", marked, err)
			}
		})
	}
}
