package swarm_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// beatTimes returns the times of the heartbeats that coder got.
func (f *field) beatTimes() (all []time.Time) {
	for _, line := range f.ledgerOf("coder") {
		if line.Subject == "heartbeat" {
			all = append(all, line.At)
		}
	}
	return all
}

// An idle agent gets prompts, after longer and longer waits, until mail arrives. No
// person gets a message about the prompts, and each prompt has a line in the ledger.
func TestAnIdleAgentIsPrompted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		const first = 300 * time.Millisecond
		f := newField(t, "coder", "other")
		f.announcer = everywhere{}
		f.plan.Agents[0].Heartbeat = swarm.Heartbeat{After: first, Text: "Are you awake?"}
		f.start()
		f.until("three heartbeats", func() bool { return len(f.beatTimes()) == 3 })
		if at := f.beatTimes(); at[1].Sub(at[0]) != 2*first || at[2].Sub(at[1]) != 4*first {
			t.Errorf("heartbeats at %v, want each wait twice as long as the one before", at)
		}
		if got := f.ran("Are you awake?"); len(got) != 3 {
			t.Errorf("%d turns with the text of the heartbeat, want 3", len(got))
		}
		f.answer(f.send("coder", "real work"))
		worked := f.backend.Runs()[3].Ended
		f.until("a heartbeat after the mail", func() bool { return len(f.beatTimes()) == 4 })
		if waited := f.beatTimes()[3].Sub(worked); waited != first {
			t.Errorf("the heartbeat came %v after the mail, want the first wait of %v", waited, first)
		}
		f.halt()
		for _, c := range f.mail("irc") {
			if strings.Contains(string(c.Body), "awake") || strings.Contains(c.Subject, "heartbeat") {
				t.Errorf("IRC shows %q: %s", c.Subject, c.Body)
			}
		}
		if got := f.mail(dropbox.Lead); len(got) != 1 { // the answer
			t.Errorf("%d messages for the person, want the answer alone", len(got))
		}
	})
}

// An agent that is paused or off, or that has begun too many turns, is not prompted. A
// heartbeat never pauses an agent.
func TestAHeldAgentIsNotPrompted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "paused", "off", "busy")
		for i := range f.plan.Agents {
			f.plan.Agents[i].Heartbeat = swarm.Heartbeat{After: 50 * time.Millisecond}
		}
		f.worksIn(1, "03:00:00")
		f.plan.TurnsPerHour = 2
		f.backend.Script = func(runner.Turn) []runnertest.Step { return nil }
		f.start()
		if err := f.daemon.Pause("paused", swarm.PauseOrder{By: "lead"}); err != nil {
			t.Fatal(err)
		}
		f.until("two heartbeats", func() bool { return len(f.ledgerOf("busy")) == 2 })
		time.Sleep(2 * time.Second) // 40 times the first wait
		if n := len(f.ledgerOf("busy")); n != 2 {
			t.Errorf("%d heartbeats, want the two of turns_per_hour", n)
		}
		if n := len(f.ledgerOf("off")); n != 0 {
			t.Errorf("%d heartbeats outside the hours", n)
		}
		if n := len(f.ledgerOf("paused")); n != 0 {
			t.Errorf("%d heartbeats of an agent that is paused", n)
		}
		if st := f.status("busy"); st.State != swarm.Idle || st.Waiting.Total() != 0 {
			t.Errorf("state %s (%s), %d messages wait", st.State, st.Why, st.Waiting.Total())
		}
		if got := f.subjects(""); slices.ContainsFunc(got, func(s string) bool { return s != "" }) {
			t.Errorf("the person was told %q", got)
		}
	})
}
