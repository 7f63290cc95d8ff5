package swarm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// If a client reports a limit whose end is in the past, for example because two clocks
// differ, the agent does not retry in a loop.
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

// If the end of a limit is unknown, the agent tries again at intervals. The lead gets one
// alert about the limit, not one per attempt.
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

// A failure that the client does not explain parks the agent in the same way as an
// outage, but not forever, because the message may be the cause. After a day the failure
// counts, and finally the agent gives up the message.
func TestAnUnknownCauseIsCountedAfterADay(t *testing.T) {
	f := newField(t, "coder")
	f.plan.Agents[0].RetryDelay = time.Millisecond
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if strings.Contains(turn.Prompt, "odd") {
			return []runnertest.Step{runnertest.Unknown()}
		}
		return nil
	}
	f.start()
	id := f.send("coder", "odd")
	f.untilState("coder", swarm.Limited)
	if got := f.files("coder", "new"); len(got) != 1 || !strings.HasSuffix(got[0], "~1.0.md") {
		t.Errorf("new/ = %v, want the message with no failure counted", got)
	}
	f.halt()
	f.state(func(state map[string]any) {
		doubt := state["agents"].(map[string]any)["coder"].(map[string]any)["doubt"].(map[string]any)
		if doubt["message"] != id {
			t.Errorf("the doubt is about %v, want %s", doubt["message"], id)
		}
		doubt["since"] = time.Now().Add(-24 * time.Hour)
		delete(state, "limits")
	})
	f.start()
	f.until("the message is given up", func() bool { return len(f.files("coder", "dead")) > 0 })
	f.answer(f.send("coder", "work"))
	f.halt()
	f.state(func(state map[string]any) {
		if a, ok := state["agents"].(map[string]any)["coder"]; ok {
			t.Errorf("after a good turn %v is remembered", a)
		}
	})
}

// A successful turn unparks the other agents of the account if the end of the limit was
// unknown.
func TestAGoodTurnEndsAnOutage(t *testing.T) {
	f := newField(t, "coder", "reviewer")
	release := make(chan struct{})
	turns := 0
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if turn.Agent == "reviewer" {
			return []runnertest.Step{waitFor(release), runnertest.Say("fine")}
		}
		if turns++; turns == 1 {
			return []runnertest.Step{runnertest.Limited(0)}
		}
		return nil
	}
	f.start()
	review := f.send("reviewer", "work")
	f.until("a turn", func() bool { return f.backend.Running() == 1 })
	id := f.send("coder", "work")
	f.untilState("coder", swarm.Limited)
	close(release)
	f.answer(review)
	f.answer(id) // long before the end of the first wait
}

// An agent that removes the key from its environment uses another account.
func TestAccountsByWhatIsLeftOfTheEnvironment(t *testing.T) {
	f := newField(t, "keyed", "login")
	f.environ = []string{"SCRIPTED_KEY=k"}
	f.plan.Agents[1].EnvDrop = []string{"SCRIPTED_*"}
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

// All agents of an account are parked when it reaches a limit, and resume one after
// another.
func TestAgentsComeBackOneAfterTheOther(t *testing.T) {
	var names []string
	for n := range 12 {
		names = append(names, fmt.Sprintf("a%d", n))
	}
	f := newField(t, names...)
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.Limited(time.Hour)}
	}
	f.start()
	f.send("a0", "work")
	ends := func() map[string]bool {
		seen := map[string]bool{}
		for _, name := range names {
			seen[f.untilState(name, swarm.Limited).Next] = true
		}
		return seen
	}
	before := ends()
	if len(before) < 5 { // their waits end at different times within a minute
		t.Errorf("12 agents come back at %d times: %v", len(before), before)
	}
	f.halt()
	f.start()
	for at := range ends() {
		if !before[at] {
			t.Errorf("after a restart an agent %s, which was not said before", at)
		}
	}
	if n := len(f.backend.Runs()); n != 1 {
		t.Errorf("%d turns, want 1", n)
	}
}

// After the limit resets, the mail is handled in order.
func TestMailAfterALimitKeepsItsOrder(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder")
		turns := 0
		f.backend.Script = func(runner.Turn) []runnertest.Step {
			if turns++; turns == 1 {
				return []runnertest.Step{runnertest.Limited(100 * time.Millisecond)}
			}
			return nil
		}
		f.send("coder", "first")
		f.send("coder", "second")
		last := f.send("coder", "third")
		f.start()
		f.untilState("coder", swarm.Limited)
		f.send("coder", "urgent", urgent)
		f.answer(last)
		if got, want := f.bodies(), []string{"first", "urgent", "first", "second", "third"}; !slices.Equal(got, want) {
			t.Errorf("turns = %q, want %q", got, want)
		}
		f.untilState("coder", swarm.Idle)
		f.nothingLeft("coder")
	})
}

// park writes a limit to disk, as if a daemon had been killed right after it recorded the
// limit.
func (f *field) park(since, until time.Time) {
	f.t.Helper()
	f.start() // provides the account's name
	f.send("coder", "work")
	f.untilState("coder", swarm.Limited)
	f.halt()
	f.state(func(state map[string]any) {
		for _, l := range state["limits"].(map[string]any) {
			l := l.(map[string]any)
			l["since"], l["until"], l["told"] = since, until, false
		}
	})
}

// state applies change to state.json while no daemon is running.
func (f *field) state(change func(map[string]any)) {
	f.t.Helper()
	path := filepath.Join(journal.HomeOf(f.dir).Dir(), "state.json")
	data, err := os.ReadFile(path)
	if err != nil {
		f.t.Fatal(err)
	}
	var state map[string]any
	if err := json.Unmarshal(data, &state); err != nil {
		f.t.Fatal(err)
	}
	change(state)
	if data, err = json.Marshal(state); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// limitedOnce returns a script whose first turn reaches a usage limit that lasts for d.
func limitedOnce(d time.Duration) func(runner.Turn) []runnertest.Step {
	turns := 0
	return func(runner.Turn) []runnertest.Step {
		if turns++; turns == 1 {
			return []runnertest.Step{runnertest.Limited(d)}
		}
		return nil
	}
}

// Setting the clock back by years does not park an agent for years.
func TestAClockThatWasSetBackParksNobodyForEver(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder")
		f.backend.Script = limitedOnce(time.Hour)
		ahead := time.Now().AddDate(10, 0, 0)
		f.park(ahead, ahead.Add(100*time.Millisecond))
		f.start()
		f.until("the message is done", func() bool { return len(f.files("coder", "done")) == 2 })
	})
}

// The lead gets one alert about a limit, even if the daemon is killed before it can send
// the alert.
func TestALimitIsToldAfterACrash(t *testing.T) {
	f := newField(t, "coder")
	f.backend.Script = limitedOnce(time.Hour)
	now := time.Now()
	f.park(now, now.Add(time.Hour))
	before := len(f.mail(dropbox.Lead)) // includes the alert about the limit that park replaced
	for range 2 {
		f.start()
		f.untilState("coder", swarm.Limited)
		f.until("the lead is told", func() bool { return len(f.mail(dropbox.Lead)) > before })
		f.halt()
	}
	mail := f.mail(dropbox.Lead)
	if len(mail) != before+1 {
		t.Errorf("the lead was told %d times", len(mail)-before)
	}
	if m := mail[len(mail)-1]; !strings.Contains(m.Subject, "parked: ") || !strings.Contains(string(m.Body), "claude-swarm resume coder") {
		t.Errorf("the alert is %q: %s", m.Subject, m.Body)
	}
}

// Two agents that reach a limit at the same time share one limit. A limit that lasts for
// days is a different limit from one that lasts for an hour.
func TestOneAlertForOneLimit(t *testing.T) {
	for name, c := range map[string]struct {
		second time.Duration
		alerts int
	}{"the same": {time.Hour + time.Minute, 1}, "a week's": {72 * time.Hour, 2}} {
		t.Run(name, func(t *testing.T) { testAlertsOfLimits(t, c.second, c.alerts) })
	}
}

func testAlertsOfLimits(t *testing.T, second time.Duration, want int) {
	f := newField(t, "coder", "reviewer", "tester")
	f.plan.Agents[2].Env = map[string]string{"HOME": "/elsewhere"} // another login
	release := map[string]chan struct{}{"coder": make(chan struct{}), "reviewer": make(chan struct{})}
	limits := map[string]time.Duration{"coder": time.Hour, "reviewer": second}
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if turn.Agent == "tester" {
			return nil
		}
		return []runnertest.Step{waitFor(release[turn.Agent]), runnertest.Limited(limits[turn.Agent])}
	}
	f.start()
	f.send("coder", "work")
	f.send("reviewer", "work")
	f.until("both work", func() bool { return f.backend.Running() == 2 })
	close(release["coder"])
	f.untilState("coder", swarm.Limited)
	close(release["reviewer"])
	f.untilState("reviewer", swarm.Limited)
	f.until("both turns are put back", func() bool { return len(f.files("coder", "new"))+len(f.files("reviewer", "new")) == 2 })
	f.answer(f.send("tester", "work"))
	alerts := slices.DeleteFunc(f.mail(dropbox.Lead), func(m *dropbox.Message) bool { return m.From != dropbox.Swarm })
	if len(alerts) != want || !strings.Contains(string(alerts[0].Body), "(coder, reviewer)") {
		t.Errorf("%d alerts, want %d that name coder and reviewer", len(alerts), want)
	}
	for _, name := range []string{"coder", "reviewer"} {
		if got := f.files(name, "new"); len(got) != 1 || !strings.HasSuffix(got[0], "~1.0.md") {
			t.Errorf("%s: new/ = %v, want the message with no failure counted", name, got)
		}
	}
}

// While the machine lacks the resources to start a client, the daemon waits indefinitely.
// No turn has begun, so no failure is counted and no breaker opens.
func TestAMachineThatIsShortIsWaitedFor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder")
		times := 20
		f.short = func() string {
			if times--; times < 0 {
				return ""
			}
			return "too many open files"
		}
		f.backend.Script = func(runner.Turn) []runnertest.Step { return []runnertest.Step{runnertest.Say("did it")} }
		f.restart.Disk = time.Second
		f.start()
		id := f.send("coder", "work")
		if st := f.untilState("coder", swarm.Backoff); !strings.Contains(st.Why, "too many open files") || st.Next == "" {
			t.Errorf("why = %q, next = %q", st.Why, st.Next)
		}
		f.halt()
		f.restart.Disk = quick.Disk
		f.start()
		if ans := f.answer(id); !strings.Contains(string(ans.Body), "did it") {
			t.Errorf("answer = %s", ans.Body)
		}
		if r := f.receipt("coder", id); len(r.Attempts) != 1 {
			t.Errorf("%d attempts are on record, want the one that was begun", len(r.Attempts))
		}
	})
}
