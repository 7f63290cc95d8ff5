package swarm_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// pingPong makes two agents wake each other with messages that no rule refuses. The
// messages are sent as the lead, without proof, and each of them begins a new
// conversation.
func (f *field) pingPong() {
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.Do(func(context.Context, runner.Turn) error {
			to := map[string]string{"a": "b", "b": "a"}[turn.Agent]
			_, err := f.store.Deliver(to, &dropbox.Message{From: dropbox.Lead, To: []string{to}, Type: dropbox.Handoff, Body: []byte("your turn")})
			return err
		})}
	}
}

// held waits until both agents are paused or idle, and one of them is paused.
func (f *field) held(turns int) swarm.AgentStatus {
	f.t.Helper()
	var paused swarm.AgentStatus
	f.until("an agent is paused", func() bool {
		for _, name := range []string{"a", "b"} {
			if st := f.status(name); st.State == swarm.Paused {
				paused = st
			} else if st.State != swarm.Idle {
				return false
			}
		}
		return paused.Name != ""
	})
	if want := fmt.Sprintf("%d turns within an hour without a message from a person (policy.turns_per_hour)", turns); paused.Why != want || paused.Next != "claude-swarm resume "+paused.Name {
		f.t.Errorf("status says %q, next %q, want %q", paused.Why, paused.Next, want)
	}
	return paused
}

// Agents that wake each other with messages that no rule refuses are paused at the limit.
// Only a person can resume them, even after a restart, and the lead gets one alert.
func TestTurnsWithoutAPersonAreBounded(t *testing.T) {
	f := newField(t, "a", "b")
	f.plan.TurnsPerHour = 5
	f.pingPong()
	f.start()
	f.send("a", "Begin.", typed(dropbox.Handoff))
	paused := f.held(5)
	// Each agent begins at most five turns that are not for a person. Agent a also begins
	// one turn for a person.
	first := len(f.backend.Runs())
	if first > 11 {
		t.Errorf("%d turns, want 11 at most", first)
	}
	if got := f.subjects("a is paused: too many turns"); len(got) > 1 {
		t.Errorf("the lead was told %q", got)
	}
	if got := f.subjects(paused.Name + " is paused: too many turns"); len(got) != 1 {
		t.Errorf("the lead was told %q, want once", got)
	}
	if n := f.status(paused.Name).Waiting.Total(); n != 1 {
		t.Errorf("%d messages wait, want the one that would have been next", n)
	}

	// A restart does not end the pause, and no agent may resume a paused agent.
	f.halt()
	f.start()
	f.held(5)
	err := f.daemon.Resume(paused.Name, "b")
	if e, ok := errors.AsType[*swarm.PersonError](err); !ok || e.Name != paused.Name {
		t.Errorf("resumed by an agent: %v", err)
	}
	if err := f.daemon.StartAgent(paused.Name, "a"); err == nil {
		t.Error("started by an agent")
	}
	if err := f.daemon.Pause(paused.Name, swarm.PauseOrder{By: "a", For: 1}); err != nil {
		t.Error(err)
	}
	f.held(5)
	if n := len(f.backend.Runs()); n != first {
		t.Errorf("%d turns, %d before the restart", n, first)
	}

	// A person's order also resets the count of the turns that the earlier daemon ran.
	if err := f.daemon.Resume(paused.Name, dropbox.Lead); err != nil {
		t.Fatal(err)
	}
	f.until("it goes on", func() bool { return len(f.backend.Runs()) > first })
	f.held(5)
	if n := len(f.backend.Runs()); n > first+11 {
		t.Errorf("%d turns after the resume, want 11 at most", n-first)
	}
}

// A restarted daemon does not count the turns before a person's order, but counts the
// turns after it.
func TestTheCountOfTurnsSurvivesARestart(t *testing.T) {
	f := newField(t, "a", "b")
	f.plan.TurnsPerHour = 3
	f.start()
	drops := func(n int) {
		t.Helper()
		for i := range n {
			done := len(f.backend.Runs())
			if _, err := f.store.Deliver("a", &dropbox.Message{From: dropbox.Lead, To: []string{"a"}, Type: dropbox.Handoff, Body: []byte(fmt.Sprint("drop ", i))}); err != nil {
				t.Fatal(err)
			}
			f.until("a turn", func() bool { return len(f.backend.Runs()) == done+1 })
		}
		f.untilState("a", swarm.Idle)
	}
	drops(2)
	if err := f.daemon.Resume("a", dropbox.Lead); !errors.Is(err, swarm.ErrNotPaused) { // the order still resets the count
		t.Fatal(err)
	}
	drops(2)
	f.halt()
	f.start()
	drops(1)
	if _, err := f.store.Deliver("a", &dropbox.Message{From: dropbox.Lead, To: []string{"a"}, Type: dropbox.Handoff, Body: []byte("one too many")}); err != nil {
		t.Fatal(err)
	}
	f.held(3)
	// A message from a person also waits, because it does not resume the agent.
	f.send("a", "go on")
	f.held(3)
	if n := len(f.backend.Runs()); n != 5 {
		t.Errorf("%d turns, want 5", n)
	}
	if !strings.Contains(f.told("is paused").Subject, "a is paused: too many turns") {
		t.Error("the lead was not told")
	}
}

// Only a person may end a hold that a person ordered. An agent may end a pause that an
// agent ordered.
func TestAnAgentUndoesNoOrderOfAPerson(t *testing.T) {
	f := newField(t, "coder", "reviewer")
	f.start()
	refused := func(what string, err error) {
		t.Helper()
		if e, ok := errors.AsType[*swarm.PersonError](err); !ok || e.Name != "coder" {
			t.Errorf("%s by an agent: %v, want it refused", what, err)
		}
	}
	if err := f.daemon.Pause("coder", swarm.PauseOrder{By: dropbox.Lead, Why: "release day"}); err != nil {
		t.Fatal(err)
	}
	refused("resume of a person's pause", f.daemon.Resume("coder", "reviewer"))
	refused("start of a person's pause", f.daemon.StartAgent("coder", "reviewer"))
	if err := f.daemon.Pause("coder", swarm.PauseOrder{By: "reviewer", Why: "mine", For: 1}); err != nil {
		t.Error(err)
	}
	refused("resume of a pause that an agent wanted to replace", f.daemon.Resume("coder", "reviewer"))
	if err := f.daemon.Resume("coder", dropbox.Lead); err != nil {
		t.Fatal(err)
	}
	if err := f.daemon.Pause("coder", swarm.PauseOrder{By: "reviewer"}); err != nil {
		t.Fatal(err)
	}
	if err := f.daemon.Resume("coder", "reviewer"); err != nil {
		t.Errorf("resume of an agent's pause: %v", err)
	}
	if _, err := f.daemon.StopAgent(t.Context(), "coder", dropbox.Lead, false); err != nil {
		t.Fatal(err)
	}
	refused("start of what a person stopped", f.daemon.StartAgent("coder", "reviewer"))
	if err := f.daemon.StartAgent("coder", dropbox.Lead); err != nil {
		t.Error(err)
	}
}
