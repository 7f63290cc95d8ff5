package swarm_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/internal/testkit/standin"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// finished is an announcer that shows each complete task of a person, with the turn that
// completed it.
type finished struct{}

func (finished) Bridge() string { return "irc" }

func (finished) On() bool { return true }

func (finished) Copies(mo notice.Announcement) []notice.Copy {
	if mo.Task == nil {
		return nil
	}
	return []notice.Copy{{Where: "#done", Text: fmt.Sprintf("%s is complete with %s: %s", mo.Task.ID, mo.Agent, strings.TrimSpace(string(mo.Message.Body)))}}
}

// A person's task is complete when all messages that it caused are done. These include
// delegated messages and the messages caused by the answers to them.
func TestATaskIsCompleteWithWhatItWasDelegatedTo(t *testing.T) {
	f := newField(t, "planner", "coder", "tester")
	f.announcer = finished{}
	release := make(chan struct{})
	delegate := func(to string) runnertest.Step {
		return runnertest.Do(func(_ context.Context, turn runner.Turn) error {
			who, err := journal.WhoAmI(journal.HomeOf(f.dir), func(name string) string {
				return map[string]string{runner.AgentVar: "planner", runner.MarkVar: turn.Mark()}[name]
			})
			if err != nil {
				return err
			}
			m := &dropbox.Message{To: []string{to}, Type: dropbox.Task, Body: []byte("@say " + to + " did it\n")}
			if err := who.Envelope(m); err != nil {
				return err
			}
			d, err := f.store.DeliverSigned(to, m, func(m *dropbox.Message) string { return who.Sign(m, to) })
			return errors.Join(err, who.Sent([]dropbox.Delivery{d}, m))
		})
	}
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		switch body := standin.Body(turn.Prompt); {
		case strings.HasPrefix(body, "delegate"):
			return []runnertest.Step{delegate("coder"), delegate("tester"), runnertest.Say("They are at it.")}
		case strings.Contains(body, "tester did it"):
			return []runnertest.Step{waitFor(release), runnertest.Say("tester did it")}
		case strings.Contains(body, "did it"):
			return []runnertest.Step{runnertest.Say(strings.TrimSpace(strings.TrimPrefix(body, "@say ")))}
		}
		return []runnertest.Step{runnertest.Say("fine")}
	}
	shown := func() (texts []string) {
		for _, m := range f.copies("result-") {
			texts = append(texts, strings.TrimSpace(string(m.Body)))
		}
		slices.Sort(texts)
		return texts
	}
	f.start()
	alone := f.send("coder", "paint the door")
	f.answer(alone)
	f.until("what is done by itself is complete", func() bool { return slices.Equal(shown(), []string{alone + " is complete with coder: fine"}) })
	asked := f.send("coder", "how is it going?", typed(dropbox.Question))
	f.answer(asked)

	task := f.send("planner", "delegate it")
	f.answer(task)
	f.until("coder's result was worked on", func() bool { return len(f.files("planner", "done")) >= 4 }) // including the receipts
	if got := shown(); len(got) != 1 {
		t.Errorf("while tester works: %q", got)
	}
	close(release)
	want := []string{alone + " is complete with coder: fine", task + " is complete with planner: tester did it"}
	slices.Sort(want)
	f.until("the whole is complete", func() bool { return len(shown()) > 1 })
	if got := shown(); !slices.Equal(got, want) {
		t.Errorf("complete:\n%q, want\n%q", got, want)
	}
}

// A person answers a question after the agent has gone on without an answer. The answer wakes the
// agent again, but the task that was complete is not announced a second time.
func TestALateAnswerCompletesNoTaskAgain(t *testing.T) {
	f := newField(t, "coder")
	f.announcer = finished{}
	f.start()
	task := f.send("coder", "@say painted")
	f.answer(task)
	f.until("the task is complete", func() bool { return len(f.copies("result-")) == 1 })
	late := f.send("coder", "@say painted green", typed(dropbox.Result), func(m *dropbox.Message) {
		m.Thread, m.Trace, m.ReplyTo = task, task, "questionqu"
	})
	f.receipt("coder", late)
	next := f.send("coder", "@say cleaned")
	f.answer(next)
	f.until("the next task is complete", func() bool { return len(f.copies("result-")) >= 2 })
	var shown []string
	for _, m := range f.copies("result-") {
		shown = append(shown, strings.TrimSpace(string(m.Body)))
	}
	slices.Sort(shown)
	want := []string{task + " is complete with coder: painted", next + " is complete with coder: cleaned"}
	slices.Sort(want)
	if !slices.Equal(shown, want) {
		t.Errorf("complete:\n%q, want\n%q", shown, want)
	}
}
