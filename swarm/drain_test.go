package swarm_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Both agents drain while the coder works on a task. The task comes to its end, with the mail
// that its turn sends to the reviewer and with the reviewer's answer; a new task waits, also
// through a restart in the middle. After undrain nothing is lost.
func TestADrainEndsWhatHasBegun(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder", "reviewer")
		working, goOn := make(chan struct{}, 10), make(chan struct{}, 10)
		var first string
		f.backend.Script = func(turn runner.Turn) []runnertest.Step {
			steps := []runnertest.Step{runnertest.Say("done")}
			if !strings.Contains(turn.Prompt, "the first task") {
				return steps
			}
			return append([]runnertest.Step{runnertest.Do(func(ctx context.Context, _ runner.Turn) error {
				working <- struct{}{}
				select {
				case <-goOn:
				case <-ctx.Done():
					return ctx.Err()
				}
				f.send("reviewer", "look at it", from("coder"), func(m *dropbox.Message) {
					m.Trace, m.Path, m.Key = first, []string{"coder"}, "look"
				})
				return nil
			})}, steps...)
		}
		f.start()
		first = f.send("coder", "the first task")
		<-working
		for _, name := range []string{"coder", "reviewer"} {
			if err := f.daemon.Drain(name, dropbox.Lead); err != nil {
				t.Fatal(err)
			}
		}
		st := f.status("coder")
		if st.State != swarm.Working || st.Why != "draining: 1 task open (by lead)" || st.Next != "claude-swarm undrain coder" || !slices.Equal(st.Drain.Tasks, []string{first}) {
			t.Errorf("while it works: %s %q %q %+v", st.State, st.Why, st.Next, st.Drain)
		}
		second := f.send("coder", "a second task")
		urgent := f.send("coder", "an urgent task", func(m *dropbox.Message) { m.Priority = dropbox.Urgent })
		third := f.send("reviewer", "a third task")

		f.halt() // the turn is ended, and its message waits
		f.start()
		<-working
		goOn <- struct{}{}
		f.until("both are drained", func() bool {
			a, b := f.status("coder"), f.status("reviewer")
			return a.State == swarm.Paused && b.State == swarm.Paused && len(a.Drain.Tasks)+len(b.Drain.Tasks) == 0
		})
		f.receipt("coder", first)
		for name, n := range map[string]int{"coder": 2, "reviewer": 1} {
			st := f.status(name)
			if st.Why != "drained (by lead)" || st.Next != "claude-swarm undrain "+name || st.Waiting.Total() != n {
				t.Errorf("%s: %q %q %+v", name, st.Why, st.Next, st.Waiting)
			}
		}
		if n := len(f.backend.Runs()); n != 4 {
			t.Errorf("%d turns, want two of the coder's, the reviewer's, and the one on its answer", n)
		}

		f.halt()
		f.start()
		time.Sleep(3 * time.Second)
		if st := f.status("coder"); st.Why != "drained (by lead)" || len(f.files("coder", "new")) != 2 {
			t.Errorf("after a restart: %q, %d wait", st.Why, len(f.files("coder", "new")))
		}
		for _, name := range []string{"coder", "reviewer"} {
			if err := f.daemon.Undrain(name, dropbox.Lead); err != nil {
				t.Fatal(err)
			}
		}
		f.untilState("coder", swarm.Idle)
		f.untilState("reviewer", swarm.Idle)
		for name, ids := range map[string][]string{"coder": {second, urgent}, "reviewer": {third}} {
			for _, id := range ids {
				f.receipt(name, id)
			}
			f.nothingLeft(name)
		}
	})
}

// Work on a backlog begins a task, even if a begun task has published it; an idle agent that
// drains says so; an agent cannot end a person's drain.
func TestADrainedAgentTakesNoBacklog(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder", "planner")
		f.start()
		plan := f.send("planner", "plan it")
		f.until("it is planned", func() bool { return len(f.files("planner", "new")) == 0 && f.status("planner").State == swarm.Idle })
		if err := f.daemon.Drain("coder", dropbox.Lead); err != nil {
			t.Fatal(err)
		}
		f.untilState("coder", swarm.Paused)
		if st := f.status("coder"); st.Why != "drained (by lead)" {
			t.Errorf("an idle agent says %q", st.Why)
		}
		topics := topic.Of(f.store)
		if _, err := topics.Subscribe("coder", topic.BacklogOf("coder")); err != nil {
			t.Fatal(err)
		}
		sent, err := topics.Publish(&dropbox.Message{From: "planner", Topic: topic.BacklogOf("coder"), Trace: plan, Body: []byte("port it")}, nil)
		if err != nil || len(sent.Offered) != 1 {
			t.Fatal(err, sent)
		}
		time.Sleep(3 * time.Second)
		if n := len(f.files("coder", "new")); n != 1 {
			t.Errorf("%d offers wait, want 1", n)
		}
		if err := f.daemon.Undrain("coder", "planner"); err == nil || !strings.Contains(err.Error(), "cannot let coder continue") {
			t.Errorf("an agent ended a person's drain: %v", err)
		}
		if err := f.daemon.Undrain("coder", dropbox.Lead); err != nil {
			t.Fatal(err)
		}
		f.until("the offer was taken", func() bool { return len(f.files("coder", "new")) == 0 })
		if err := f.daemon.Undrain("coder", dropbox.Lead); err == nil {
			t.Error("the drain ended twice")
		}
	})
}

// A copy of a task that another agent has begun gets its turn: the drain lets a begun task come to
// its end. With a thousand tasks behind it, no file is read again after each turn.
func TestADrainFollowsATask(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder", "reviewer")
		f.start()
		if err := f.daemon.Drain("coder", dropbox.Lead); err != nil {
			t.Fatal(err)
		}
		for range 50 {
			f.send("coder", "another task")
		}
		copied := f.send("coder", "for both")
		f.until("it is held", func() bool { return f.status("coder").Waiting.Total() == 51 && f.status("coder").State == swarm.Paused })
		f.send("reviewer", "for both", func(m *dropbox.Message) { m.Trace = copied })
		f.until("its task goes on", func() bool { return len(f.files("coder", "new")) == 50 })
		f.receipt("coder", copied)
		if st := f.untilState("coder", swarm.Paused); len(st.Drain.Tasks) != 0 {
			t.Errorf("open: %v", st.Drain.Tasks)
		}
	})
}
