package swarm_test

import (
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/runnertest"
)

// A client that says that its limit was lifted already, as where two clocks
// differ, is not asked again and again.
func TestALimitInThePastIsWaitedFor(t *testing.T) {
	f := newField(t, "coder")
	f.plan.Agents[0].RetryDelay = time.Hour
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.Limited(-time.Hour)}
	}
	f.start()
	f.send("coder", "work")
	f.untilState("coder", swarm.Limited)
	if n := len(f.backend.Runs()); n != 1 {
		t.Errorf("%d turns, want 1", n)
	}
}

// Where nobody says how long a limit holds it is tried now and then; the lead
// is told of it once, not each time.
func TestALimitWithoutAnEndIsToldOnce(t *testing.T) {
	f := newField(t, "coder")
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.Limited(0)}
	}
	f.start()
	f.send("coder", "work")
	for n := 1; n <= 3; n++ {
		f.until("a turn", func() bool { return len(f.backend.Runs()) == n })
		f.untilState("coder", swarm.Limited)
		if n < 3 {
			if err := f.daemon.Resume("coder", "lead"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(f.mail(dropbox.Lead)); n != 1 {
		t.Errorf("the lead was told %d times, want once", n)
	}
}

// An agent that takes the key out of its environment uses another account.
func TestAccountsByWhatIsLeftOfTheEnvironment(t *testing.T) {
	f := newField(t, "keyed", "login")
	f.environ = []string{"ANTHROPIC_API_KEY=k"}
	f.plan.Agents[1].EnvDrop = []string{"ANTHROPIC_*"}
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if turn.Agent == "keyed" {
			return []runnertest.Step{runnertest.Limited(time.Hour)}
		}
		return nil
	}
	f.start()
	f.send("keyed", "work")
	f.untilState("keyed", swarm.Limited)
	f.answer(f.send("login", "work"))
}
