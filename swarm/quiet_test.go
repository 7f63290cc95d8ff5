package swarm_test

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// At startup the log mentions missing lines only if lines were missing from the ledger.
func TestAStartSaysWhatWasMissing(t *testing.T) {
	const missing = "lines were missing from the ledger"
	f := newField(t, "coder")
	f.start()
	f.answer(f.send("coder", "work"))
	f.untilState("coder", swarm.Idle)
	f.halt()
	f.start()
	f.halt()
	if strings.Contains(f.log.String(), missing) {
		t.Error("a start says that lines were missing, and none was")
	}
	if err := os.Truncate(journal.HomeOf(f.dir).Ledger(), 0); err != nil {
		t.Fatal(err)
	}
	f.start()
	f.halt()
	if !strings.Contains(f.log.String(), missing) {
		t.Error("a line was missing, and nothing says so")
	}
}

// A successful turn of an agent without holds does not write the holds file.
func TestAGoodTurnChangesNoHold(t *testing.T) {
	f := newField(t, "coder")
	fails := true
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		if fails {
			fails = false
			return []runnertest.Step{runnertest.Fail("no luck")}
		}
		return nil
	}
	f.start()
	f.answer(f.send("coder", "work")) // the second attempt succeeds
	f.untilState("coder", swarm.Idle)
	if n := f.daemon.Failures("coder"); n != 0 {
		t.Errorf("after a good turn %d failures are remembered", n)
	}
	path := journal.HomeOf(f.dir).Dir() + "/state.json"
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f.answer(f.send("coder", "more work"))
	f.untilState("coder", swarm.Idle)
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("a good turn wrote %s again (%v)", path, err)
	}
}

// An agent that cannot work stops only after its message is back in new/, because the
// daemon does not check a stopped agent's cur/.
func TestAnAgentStopsWhenItsMessageWaitsAgain(t *testing.T) {
	f := newField(t, "coder")
	var once atomic.Bool
	f.reopen(dropbox.Options{Step: func(st dropbox.Step) error {
		if strings.HasPrefix(st.Name, "coder/cur/") && strings.HasPrefix(st.To, "coder/new/") && once.CompareAndSwap(false, true) {
			return syscall.EIO
		}
		return nil
	}})
	f.backend.Script = func(runner.Turn) []runnertest.Step { return []runnertest.Step{runnertest.Refused("the key is wrong")} }
	f.start()
	f.send("coder", "work")
	f.untilState("coder", swarm.Stopped)
	if n := len(f.files("coder", "new")); n != 1 || len(f.files("coder", "cur")) != 0 {
		t.Errorf("%d messages wait, and in cur/ is %v", n, f.files("coder", "cur"))
	}
}

// The final text of a sub-agent does not count as the agent's final text.
func TestTheLastWordsAreTheAgents(t *testing.T) {
	f := newField(t, "coder")
	spoken, goOn := make(chan struct{}), make(chan struct{})
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		return []runnertest.Step{
			runnertest.Say("I ask a helper"),
			runnertest.Emit(streamjson.Event{
				Kind: streamjson.KindAssistant, Parent: "toolu_1",
				Blocks: []streamjson.Block{{Kind: streamjson.BlockText, Text: "I am the helper"}},
			}),
			runnertest.Do(func(context.Context, runner.Turn) error {
				close(spoken)
				return nil
			}),
			waitFor(goOn),
		}
	}
	f.start()
	id := f.send("coder", "work")
	<-spoken
	if last := f.status("coder").Last; last == nil || last.Text != "I ask a helper" {
		t.Errorf("the last words are %+v", last)
	}
	close(goOn)
	f.answer(id)
}
