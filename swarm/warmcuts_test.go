package swarm_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// TestTheTableOfCutsInAClientThatStays kills the daemon in the second turn of a client. The
// message of the first turn remains done. The second message is done once, and the cost of
// its turn is read from the second part of the client's stream.
func TestTheTableOfCutsInAClientThatStays(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const task = "@cost 0.5\n@say begun\n@say did it"
	for name, row := range map[string]struct {
		at     string
		task   string
		begun  int      // turns of the second message
		ledger []string // outcomes of the second message
	}{
		"in cur, no record":                {"claimed", task, 1, []string{"done"}},
		"record, nothing sent":             {"recorded", task, 1, []string{"done"}},
		"client running":                   {"running", "@cost 0.5\n@say begun\n@sleep 2s\n@say did it", 1, []string{"done"}},
		"client ended, result in the file": {"result in file", task, 1, []string{"done"}},
		"client dead, no result":           {"both dead", "@cost 0.5\n@say begun\n@first sleep 10m\n@say did it", 2, []string{"lost", "done"}},
		"receipt in cur":                   {"receipt in cur", task, 1, []string{"done"}},
		"answer delivered":                 {"answer delivered", task, 1, []string{"done"}},
		"message moved":                    {"message moved", task, 1, []string{"done"}},
		"it waits again":                   {"receipt moved", task, 1, []string{"done"}},
		"failed, not put back":             {"put back", "@say begun\n@first exit 3\n@cost 0.5\n@say did it", 2, []string{"failed", "done"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newClientField(t, "coder")
			f.plan.Agents[0].Linger = time.Minute
			first := f.send("coder", "@cost 0.25\n@say first")
			id := f.send("coder", row.task)
			f.dies(row.at, victimLinger+"=1")
			data, err := os.ReadFile(journal.HomeOf(f.dir).PIDFile("coder"))
			if there := strings.HasSuffix(string(data), " "+first+"-1\n"); there != (row.at != "put back") { // a client whose turn failed has ended
				t.Errorf("the pid file holds %q (%v), want the mark %s-1", data, err, first)
			}
			f.start()
			if got := string(f.answer(id).Body); !strings.Contains(got, "did it") || strings.Contains(got, "first") {
				t.Errorf("the answer is %q", got)
			}
			r := f.receipt("coder", id)
			f.untilState("coder", swarm.Idle)
			if last := r.Attempts[len(r.Attempts)-1]; last.CostUSD != 0.5 || len(r.Attempts) != row.begun {
				t.Errorf("attempts = %+v, want %d and the last for 0.5 USD", r.Attempts, row.begun)
			}
			if r := f.receipt("coder", first); r.CostUSD != 0.25 || len(r.Attempts) != 1 || len(f.bounces(first)) != 1 {
				t.Errorf("the first message was answered %d times; its receipt is %+v", len(f.bounces(first)), r)
			}
			f.onlyOnce(id, 1+row.begun)
			f.ledgerSays(first, "done")
			f.ledgerSays(id, row.ledger...)
			f.doneNext()
			f.untilState("coder", swarm.Idle)
			f.halt()
			f.noProcesses()
		})
	}
}

// Processes that a client and its turns left running are terminated at the next start,
// even if no message of these turns is in cur/.
func TestWhatAClientThatWaitedLeftIsEnded(t *testing.T) {
	f := newWarmField(t, "coder")
	f.start()
	f.work("coder", "one")
	f.halt()
	home := journal.HomeOf(f.dir)
	mark := f.backend.Runs()[0].Turn.Mark()
	left := exec.Command("sleep", "600")
	left.Env = append(os.Environ(), runner.MarkVar+"="+mark)
	left.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { left.Process.Kill(); left.Wait() })
	if err := os.WriteFile(home.PIDFile("coder"), []byte("4194304 1 "+mark+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.start()
	f.until("it was ended", func() bool { return len(runner.Leftovers(mark)) == 0 })
	f.work("coder", "two")
}
