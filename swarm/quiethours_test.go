package swarm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/hours"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// quietAt gives the person the quiet hours 22:00-07:00 in a time zone in which it is
// currently the given time of day.
func (f *field) quietAt(shown string) {
	f.t.Helper()
	week, err := hours.ParseDaily("22:00-07:00")
	if err != nil {
		f.t.Fatal(err)
	}
	f.plan.Quiet = &hours.Hours{Week: week, Zone: clockAt(f.t, shown)}
}

// kept waits until quiet.json contains a string.
func (f *field) kept(text string) {
	f.t.Helper()
	f.until(text+" is kept", func() bool {
		data, _ := os.ReadFile(filepath.Join(f.dir, ".claude-swarm", "quiet.json"))
		return strings.Contains(string(data), text)
	})
}

// mornings returns the messages that list the facts that were kept during the quiet
// hours.
func (f *field) mornings() (all []*dropbox.Message) {
	for _, m := range f.mail(dropbox.Lead) {
		if strings.HasPrefix(m.Subject, "during the quiet hours") {
			all = append(all, m)
		}
	}
	return all
}

// refusedWork is a task that stops an agent immediately.
const refusedWork = "@status 401"

// At the end of the quiet hours the person gets one message. It lists the newest fact
// first and omits facts that are no longer true.
func TestTheNightIsToldInTheMorning(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder", "tester", "writer", "planner")
		f.quietAt("06:59:55")
		f.start()
		f.send("coder", refusedWork)
		f.kept("coder is stopped")
		f.send("writer", refusedWork)
		f.kept("writer is stopped")
		f.send("tester", refusedWork)
		f.kept("tester is stopped")
		time.Sleep(1100 * time.Millisecond) // the keys of alerts contain the time with a resolution of one second
		for _, agent := range []string{"writer", "coder"} {
			if err := f.daemon.StartAgent(agent, "lead"); err != nil { // its message is refused again
				t.Fatal(err)
			}
			f.until(agent+" is stopped again", func() bool {
				st := f.status(agent)
				return st.TurnCount == 2 && st.State == swarm.Stopped
			})
		}
		f.must(f.cancelWaiting("coder")) // so that the agent can work again
		if err := f.daemon.StartAgent("coder", "lead"); err != nil {
			t.Fatal(err)
		}
		f.untilState("coder", swarm.Idle)
		if !f.plan.Quiet.Open(time.Now()) {
			t.Fatal("the quiet hours are too short for this test")
		}
		if got := f.mail(dropbox.Lead); len(got) != 0 {
			t.Errorf("%q was told in the quiet hours", got[0].Subject)
		}
		f.until("the morning", func() bool { return len(f.mornings()) > 0 })
		if f.plan.Quiet.Open(time.Now()) {
			t.Error("the person was told before the end of the quiet hours")
		}
		m := f.mornings()[0]
		body := string(m.Body)
		writer, tester := strings.Index(body, "writer is stopped"), strings.Index(body, "tester is stopped")
		if writer < 0 || tester < writer || strings.Contains(body, "coder is stopped") || strings.Count(body, "\n* ") != 2 {
			t.Errorf("the morning's message has the subject %q and says\n%s", m.Subject, body)
		}
		if !strings.Contains(body, "claude-swarm start writer") {
			t.Errorf("the message does not say what to type:\n%s", body)
		}
		f.halt()
		f.start()
		f.answer(f.send("planner", "@say hello")) // time for a few more folder checks
		f.halt()
		if n := len(f.mail(dropbox.Lead)); n != 1+1 { // the second message is planner's answer
			t.Errorf("%d messages for the person, want one and an answer", n)
		}
	})
}

// If there is a bridge to IRC, the morning message also says how to read a question that
// the daemon asked during the quiet hours.
func TestAQuestionOfTheNightIsNamedInTheMorning(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder", "planner") // if no agent could work, the daemon would tell the person immediately
		f.announcer = everywhere{}
		f.quietAt("06:59:56")
		f.startStuck()
		f.until("the morning", func() bool { return len(f.mornings()) > 0 })
		var question *dropbox.Message
		for _, m := range f.mail(dropbox.Lead) {
			if m.Type == dropbox.Question {
				question = m
			}
		}
		if question == nil {
			t.Fatal("the person is not asked")
		}
		if body := string(f.mornings()[0].Body); !strings.Contains(body, "\n  claude-swarm read "+question.ID+"\n") {
			t.Errorf("the message does not say how to read the question:\n%s", body)
		}
	})
}

// If a daemon is killed during the quiet hours, or while it sends the person the facts
// from the quiet hours, the next daemon sends the person each fact once.
func TestAKilledDaemonTellsTheNightOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder", "tester")
		f.quietAt("06:59:56")
		f.start()
		f.send("coder", refusedWork)
		f.kept("coder is stopped")
		f.halt()
		for f.plan.Quiet.Open(time.Now()) {
			time.Sleep(50 * time.Millisecond)
		}
		f.start()
		f.until("the morning", func() bool { return len(f.mornings()) > 0 })
		f.kept(`"told": true`)
		f.halt()
		path := filepath.Join(f.dir, ".claude-swarm", "quiet.json")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(data), `"told": true`, `"told": false`, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		f.start()
		f.kept(`"told": true`)
		f.alertsDelivered()
		if n := len(f.mornings()); n != 1 {
			t.Errorf("the night was told %d times, want once", n)
		}
	})
}

// When every agent is stopped, the daemon tells the person immediately. Quiet hours do
// not apply to a lead agent.
func TestWhatStopsAllAgentsPassesTheQuietHours(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder", "tester")
		f.quietAt("03:00:00")
		f.start()
		f.send("coder", refusedWork)
		f.kept("coder is stopped")
		f.send("tester", refusedWork)
		if m := f.told("tester is stopped"); strings.Contains(m.Subject, "quiet") {
			t.Errorf("subject %q", m.Subject)
		}

		led := newField(t, "planner", "coder")
		led.plan.Lead = "planner"
		led.quietAt("03:00:00")
		led.start()
		led.send("coder", refusedWork)
		led.until("the planner works on the alert", func() bool { return strings.Contains(strings.Join(led.bodies(), "\n"), "coder is stopped") })
	})
}

// A decision of the person in the quiet hours ends what was kept: the message of the morning
// does not ask again about a stuck agent that a person let continue or aborted, and does not
// report the abort to the person who ordered it.
func TestADecisionOfTheNightIsNotAskedForInTheMorning(t *testing.T) {
	for what, decide := range map[string]func(*testing.T, *field) error{
		"resumed": func(t *testing.T, f *field) error {
			if err := f.cancelWaiting("coder"); err != nil { // its client cannot run a second time
				return err
			}
			return f.daemon.Resume("coder", "ann on IRC")
		},
		"aborted": func(t *testing.T, f *field) error {
			_, err := f.daemon.Abort(t.Context(), "coder", "ann on IRC", "")
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				f := newField(t, "coder", "planner")
				f.quietAt("06:59:56")
				f.startStuck()
				f.kept("appears stuck")
				f.untilState("coder", swarm.Paused)
				if err := decide(t, f); err != nil {
					t.Fatal(err)
				}
				f.until("the morning begins", func() bool { return !f.plan.Quiet.Open(time.Now()) })
				f.answer(f.send("planner", "@say hello")) // time for a few folder checks
				time.Sleep(10 * time.Second)
				if got := f.mornings(); len(got) > 0 {
					t.Errorf("the morning's message has the subject %q and says\n%s", got[0].Subject, got[0].Body)
				}
			})
		})
	}
}

// talkers is an announcer that shows only what is meant for people who are talking to an agent.
type talkers struct{}

func (talkers) Bridge() string { return "irc" }

func (talkers) On() bool { return true }

func (talkers) Copies(mo notice.Announcement) (copies []notice.Copy) {
	for i, line := range mo.Talk {
		copies = append(copies, notice.Copy{Where: fmt.Sprint("talk ", i), Text: fmt.Sprintf("%s, after %q", mo.Agent, strings.TrimSpace(string(line.Body)))})
	}
	return copies
}

// In the quiet hours, a person who talks to an agent learns of that agent's trouble at once, and of
// no other's. It does not disturb a person who said something a while ago.
func TestAPersonWhoTalksAtNightHearsOfTheTrouble(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder", "tester", "writer", "planner") // planner works, so the quiet hours count
		f.must(f.store.MakeMailbox("irc"))                       // the answers go there
		f.announcer = talkers{}
		f.quietAt("23:00:00")
		f.start()
		f.receipt("writer", f.send("writer", "@say hello", typed(dropbox.Question), from("irc")))
		time.Sleep(11 * time.Minute)
		f.receipt("coder", f.send("coder", "@say fine", typed(dropbox.Question), from("irc")))
		for _, agent := range []string{"tester", "writer", "coder"} {
			f.send(agent, refusedWork)
			f.kept(agent + " is stopped")
		}
		f.until("the person is told", func() bool { return len(f.copies("")) > 0 })
		time.Sleep(time.Minute)
		var told []string
		for _, m := range f.copies("") {
			told = append(told, strings.TrimSpace(string(m.Body)))
		}
		if want := []string{`coder, after "@say fine"`}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		if n := len(f.mornings()); n != 0 {
			t.Errorf("the lead got %d messages before the quiet hours ended", n)
		}
	})
}
