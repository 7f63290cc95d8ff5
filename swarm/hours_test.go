package swarm_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/hours"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// clockAt returns a time zone in which it is currently the given time of day, to within a
// second.
func clockAt(t *testing.T, shown string) *time.Location {
	t.Helper()
	want, err := time.Parse(time.TimeOnly, shown)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	is := time.Duration(now.Hour())*time.Hour + time.Duration(now.Minute())*time.Minute + time.Duration(now.Second())*time.Second
	at := time.Duration(want.Hour())*time.Hour + time.Duration(want.Minute())*time.Minute + time.Duration(want.Second())*time.Second
	ahead := at - is
	if ahead > 12*time.Hour {
		ahead -= 24 * time.Hour
	}
	return time.FixedZone("Test/Clock", int(ahead/time.Second))
}

// worksIn gives an agent the hours 08:00-20:00 in a time zone in which it is currently
// the given time of day.
func (f *field) worksIn(n int, shown string) {
	f.t.Helper()
	week, err := hours.Parse("08:00-20:00")
	if err != nil {
		f.t.Fatal(err)
	}
	f.plan.Agents[n].Hours = hours.Hours{Week: week, Zone: clockAt(f.t, shown)}
}

// ran lists which of the given words the messages contain, in the order of the messages'
// turns.
func (f *field) ran(words ...string) (all []string) {
	for _, prompt := range f.bodies() {
		for _, word := range words {
			if strings.Contains(prompt, word) {
				all = append(all, word)
			}
		}
	}
	return all
}

// Outside its hours an agent is off as soon as the daemon starts. The status says when the
// agent resumes, and the agent resumes at that time. The periodic check, which would also
// wake it, runs much later.
func TestAnAgentWaitsForItsHours(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder")
		f.sweep = time.Hour
		f.worksIn(0, "07:59:56")
		f.send("coder", "morning work")
		f.start()
		st := f.untilState("coder", swarm.Off)
		if st.Why != "outside its hours" || !strings.Contains(st.Next, "begins again at ") || !strings.Contains(st.Next, "(") || !strings.Contains(st.Next, "08:00 in Test/Clock") || !strings.Contains(st.Next, "claude-swarm resume coder") {
			t.Errorf("why %q, next %q", st.Why, st.Next)
		}
		if st.Off == nil || st.Off.Until.In(f.plan.Agents[0].Hours.Zone).Format(time.TimeOnly) != "08:00:00" || st.Activity != "paused" {
			t.Errorf("off = %+v, activity %q", st.Off, st.Activity)
		}
		if n := len(f.backend.Runs()); n != 0 {
			t.Errorf("%d turns before its hours", n)
		}
		f.until("the morning's work", func() bool { return len(f.ran("morning work")) == 1 })
		if began := f.backend.Runs()[0].Began; !began.Equal(st.Off.Until) {
			t.Errorf("it began at %v, want %v", began, st.Off.Until)
		}
		if st := f.untilState("coder", swarm.Idle); st.Off != nil {
			t.Errorf("off = %+v of an agent that is idle", st.Off)
		}
	})
}

// At the end of the hours, an idle agent's state changes to off, and a running turn
// continues until it ends.
func TestTheHoursEndNoTurn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder", "tester")
		f.sweep = time.Hour
		f.worksIn(0, "19:59:57")
		f.worksIn(1, "19:59:57")
		end := make(chan struct{})
		f.backend.Script = func(turn runner.Turn) []runnertest.Step {
			if strings.Contains(turn.Prompt, "long work") {
				return []runnertest.Step{waitFor(end)}
			}
			return nil
		}
		long := f.send("coder", "long work")
		f.send("coder", "more work")
		f.start()
		f.untilState("coder", swarm.Working)
		f.untilState("tester", swarm.Off)
		if st := f.status("coder"); st.State != swarm.Working {
			t.Errorf("state %s (%s) after its hours, want the turn to run on", st.State, st.Why)
		}
		close(end)
		f.answer(long)
		f.untilState("coder", swarm.Off)
		if got := f.ran("more work"); len(got) != 0 {
			t.Error("a turn began after the hours")
		}
	})
}

// Outside the agent's hours, only urgent mail that is proven to be from a person gets a
// turn. A manual pause takes precedence over such mail.
func TestUrgentMailOfAPersonPassesTheHours(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder", "other")
		f.worksIn(0, "03:00:00")
		f.start()
		f.send("coder", "agent's work", urgent, from("other"))
		f.send("coder", "plain work")
		if _, err := f.store.Deliver("coder", &dropbox.Message{From: dropbox.Lead, Type: dropbox.Task, Priority: dropbox.Urgent, Body: []byte("unproven work")}); err != nil {
			t.Fatal(err)
		}
		f.untilState("coder", swarm.Off)
		if err := f.daemon.Pause("coder", swarm.PauseOrder{By: "lead", For: 2 * time.Second}); err != nil {
			t.Fatal(err)
		}
		f.untilState("coder", swarm.Paused)
		proven := f.send("coder", "night work", urgent)
		// A resume order from an agent ends neither the pause nor the agent's time off.
		if err := f.daemon.Resume("coder", "other"); !isPersonError(err) {
			t.Errorf("Resume by an agent: %v", err)
		}
		f.until("the mail waits", func() bool { return f.status("coder").Waiting.Urgent == 3 })
		if st := f.status("coder"); st.State != swarm.Paused {
			t.Errorf("state %s (%s), want the pause to win", st.State, st.Why)
		}
		f.answer(proven)
		f.untilState("coder", swarm.Off)
		if got := f.ran("night work", "agent's work", "plain work", "unproven work"); !slices.Equal(got, []string{"night work"}) {
			t.Errorf("turns for %q, want night work alone", got)
		}
		if err := f.daemon.Resume("coder", "other"); !isPersonError(err) {
			t.Errorf("Resume by an agent: %v", err)
		}
	})
}

func isPersonError(err error) bool {
	_, ok := errors.AsType[*swarm.PersonError](err)
	return ok
}

// The order that ends pauses alone, as `resume all` gives it, keeps an agent off outside its
// hours, and keeps the wait after a failure. Siblings tried: an agent that is off without a
// pause; a pause that a person ordered, lifted by an agent; a stopped agent.
func TestLiftingAPauseKeepsTheHours(t *testing.T) {
	f := newField(t, "coder", "other")
	f.worksIn(0, "22:00:00")
	f.start()
	f.untilState("coder", swarm.Off)
	if err := f.daemon.LiftPause("coder", "lead"); !errors.Is(err, swarm.ErrNotPaused) {
		t.Errorf("LiftPause of an agent that is off: %v, want %v", err, swarm.ErrNotPaused)
	}
	f.must(f.daemon.Pause("coder", swarm.PauseOrder{By: "lead"}))
	f.untilState("coder", swarm.Paused)
	if err := f.daemon.LiftPause("coder", "other"); !isPersonError(err) {
		t.Errorf("LiftPause by an agent: %v", err)
	}
	f.must(f.daemon.LiftPause("coder", "lead"))
	if st := f.untilState("coder", swarm.Off); st.Overtime != nil {
		t.Errorf("it may work until %v", st.Overtime)
	}
	if _, err := f.daemon.StopAgent(t.Context(), "coder", "lead", false); err != nil {
		t.Fatal(err)
	}
	if err := f.daemon.LiftPause("coder", "lead"); err == nil || errors.Is(err, swarm.ErrNotPaused) {
		t.Errorf("LiftPause of a stopped agent: %v", err)
	}
}

// An agent that a person resumes outside its hours works until its hours begin, even after
// a restart. Setting the clock back ends that overtime.
func TestAResumedAgentWorksUntilItsHours(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder")
		f.worksIn(0, "03:00:00")
		f.start()
		f.send("coder", "first")
		f.untilState("coder", swarm.Off)
		if err := f.daemon.Resume("coder", "lead"); err != nil {
			t.Fatal(err)
		}
		f.until("the first turn", func() bool { return len(f.ran("first")) == 1 })
		st := f.untilState("coder", swarm.Idle)
		if st.Overtime == nil || st.Overtime.In(f.plan.Agents[0].Hours.Zone).Format("15:04") != "08:00" {
			t.Errorf("overtime until %v, want 08:00", st.Overtime)
		}
		f.halt()
		f.start()
		f.send("coder", "second")
		f.until("the second turn", func() bool { return len(f.ran("second")) == 1 })
		f.halt()
		f.state(func(state map[string]any) {
			overtime := state["agents"].(map[string]any)["coder"].(map[string]any)["overtime"].(map[string]any)
			overtime["since"] = time.Now().Add(time.Hour).UTC().Format(time.RFC3339Nano)
		})
		f.start()
		f.send("coder", "third")
		f.untilState("coder", swarm.Off)
		if got := f.ran("third"); len(got) != 0 {
			t.Error("a turn began although the clock was set back")
		}
	})
}

// While a lead agent is off, alerts about a worker are sent to the person.
func TestALeadThatIsOffIsNotTold(t *testing.T) {
	f := newField(t, "planner", "coder")
	f.plan.Lead = "planner"
	f.worksIn(0, "03:00:00")
	f.start()
	f.untilState("planner", swarm.Off)
	f.send("coder", "@status 401")
	f.told("coder is stopped")
}
