package swarm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// callerIn returns the identity of a process of a turn.
func (f *field) callerIn(turn runner.Turn) (journal.Identity, error) {
	return journal.WhoAmI(journal.HomeOf(f.dir), func(name string) string {
		return map[string]string{runner.AgentVar: turn.Agent, runner.MarkVar: turn.ID, runner.TokenVar: f.tokens[turn.Agent]}[name]
	})
}

// asks returns a step that asks a question the way the tools do, receives from next, and
// then calls end.
func (f *field) asks(a journal.Asked, patience time.Duration, next <-chan struct{}, end func(*journal.Waiting)) runnertest.Step {
	return runnertest.Do(func(ctx context.Context, turn runner.Turn) error {
		who, err := f.callerIn(turn)
		if err != nil {
			return err
		}
		to := dropbox.Lead
		if a.Mailbox != "" {
			to = a.Mailbox
		}
		var wait *journal.Waiting
		m := &dropbox.Message{From: turn.Agent, Type: dropbox.Question, Turn: turn.ID, Body: []byte(a.Text)}
		if _, err := f.store.DeliverSigned(to, m, func(m *dropbox.Message) string {
			a.ID = m.ID
			wait = who.Asks(a, patience)
			return dropbox.Proof(who.Token, m, to)
		}); err != nil {
			return err
		}
		select {
		case <-next:
		case <-ctx.Done():
		}
		end(wait)
		return nil
	})
}

// A question from an agent to people causes an event. If the question is not answered in
// time, there is a second event. Each event occurs once, even across a restart.
func TestQuestionsOfAgentsAreEvents(t *testing.T) {
	late := func(does string) func(*journal.Waiting) { return func(w *journal.Waiting) { w.Late(does) } }
	answered := func(w *journal.Waiting) { w.End("ann has already answered") }
	irc := journal.Asked{Of: "#project-x", Mailbox: "irc", Text: "Delete 47 files. Proceed?"}
	lead := journal.Asked{Of: dropbox.Lead, Text: "Delete 47 files. Proceed?"}
	const asked = `[QUESTION] coder needs input: "Delete 47 files. Proceed?"`
	inIRC := asked + " (#project-x)"
	for name, row := range map[string]struct {
		ask  journal.Asked
		end  func(*journal.Waiting)
		want []string // ID is a placeholder for the question's id
		mail string   // the message to the lead about the question; "" means none
	}{
		"answered on IRC":  {irc, answered, []string{inIRC}, ""},
		"goes on":          {irc, late("continue"), []string{inIRC, `[TIMEOUT] coder got no answer to "Delete 47 files. Proceed?" in #project-x within 1s. It continues without one. To answer all the same: claude-swarm reply ID "…".`}, ""},
		"a no":             {irc, late("deny"), []string{inIRC, "[TIMEOUT] coder got no answer to \"Delete 47 files. Proceed?\" in #project-x within 1s. It takes that as a no."}, ""},
		"is paused":        {irc, late("pause"), []string{inIRC, `[TIMEOUT] coder got no answer to "Delete 47 files. Proceed?" in #project-x within 1s. It is paused until somebody answers: claude-swarm reply ID "…".`}, "coder got no answer to \"Delete 47 files. Proceed?\" in #project-x within 1s"},
		"gives up":         {irc, late("abort"), []string{inIRC, "[TIMEOUT] coder got no answer to \"Delete 47 files. Proceed?\" in #project-x within 1s. It ends its turn, and gives up the message."}, ""},
		"by mail":          {lead, late("continue"), []string{asked, `[TIMEOUT] coder got no answer to "Delete 47 files. Proceed?" from lead within 1s. It continues without one. To answer all the same: claude-swarm reply ID "…".`}, ""},
		"a copy":           {journal.Asked{Of: "#general", Mailbox: "irc", Text: "?", Copy: "k7f3q9m2xd"}, late("continue"), nil, ""},
		"one to an agent":  {journal.Asked{Of: "reviewer", Text: "?"}, late("continue"), []string{`[QUESTION] coder needs input: "?"`}, ""}, // the step sends it to the lead
		"answered by mail": {lead, answered, []string{asked}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newField(t, "coder")
			f.announcer = everywhere{}
			f.must(f.store.MakeMailbox("irc"))
			next := make(chan struct{})
			f.backend.Script = func(turn runner.Turn) []runnertest.Step {
				if len(f.backend.Runs()) > 1 {
					return []runnertest.Step{runnertest.Say("fine")}
				}
				return []runnertest.Step{f.asks(row.ask, time.Second, next, row.end), runnertest.Say("done")}
			}
			f.start()
			f.send("coder", "work", typed(dropbox.Question))
			st := f.untilState("coder", swarm.Asking)
			if len(row.want) > 0 {
				f.until("the question is told while it waits", func() bool { return len(f.notices()) > 0 })
			}
			close(next)
			f.untilState("coder", swarm.Idle)
			f.until("all is told", func() bool { return len(f.notices()) >= len(row.want) })
			f.halt()
			f.start() // this daemon checks the files that the earlier one left
			f.untilState("coder", swarm.Idle)
			f.answer(f.send("coder", "@say fine", typed(dropbox.Question)))
			f.halt()
			id := st.Question.ID
			var want []string
			for _, w := range row.want {
				want = append(want, strings.ReplaceAll(w, "ID", id))
			}
			if got := f.noticeTexts(); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("notices\n%q, want\n%q", got, want)
			}
			for _, key := range []string{"notice:asked:" + id, "notice:late:" + id} {
				if n := f.linesOf(key); n > 1 {
					t.Errorf("the list has %s %d times", key, n)
				}
			}
			mail := slices.DeleteFunc(f.mail(dropbox.Lead), func(m *dropbox.Message) bool { return !strings.HasPrefix(m.Key, "notice:late:") })
			if len(mail) != min(len(row.mail), 1) || len(mail) == 1 && mail[0].Subject != strings.ReplaceAll(row.mail, "ID", id) {
				t.Errorf("the lead got %+v, want %q", mail, row.mail)
			}
		})
	}
}

// linesOf counts the lines in the event list that have the given key.
func (f *field) linesOf(key string) (n int) {
	f.t.Helper()
	list := journal.Open(journal.HomeOf(f.dir).Dir(), durable.Files{}, nil).From(0)
	for {
		events, err := list.Next()
		f.must(err)
		if len(events) == 0 {
			return n
		}
		for _, ev := range events {
			if ev.Key == key {
				n++
			}
		}
	}
}

// One event reports that a question was asked, and another that nobody answered it in
// time. If the daemon crashes before it adds such an event, the next daemon adds it. If
// the daemon crashes after that, but before it records that the list contains the event,
// the next daemon repeats the event with the same key. As a result, nobody is notified
// twice.
func TestNoNoticeOfAQuestionIsLost(t *testing.T) {
	f := newField(t, "coder")
	f.announcer = everywhere{}
	f.must(f.store.MakeMailbox("irc"))
	const turn, id = "k7f3q9m2xd-1", "questionqu"
	home := journal.HomeOf(f.dir)
	writeRecord(f, turn, "k7f3q9m2xd", runner.Process{PID: 1 << 22, Start: 1})
	asks, now := home.Asks(turn), time.Now().UTC()
	f.must(asks.Begin(journal.Asked{ID: id, Of: "#project-x", Mailbox: "irc", Text: "Proceed?", Since: now, Until: now.Add(time.Second)}))
	f.must(asks.End(id, "")) // the process was killed before it could write why
	f.must(asks.Begin(journal.Asked{ID: "anotherone", Of: dropbox.Lead, Text: "Proceed?", Since: now, Until: now.Add(time.Second)}))
	who := home.TurnFile(turn, ".asks")
	file, err := os.OpenFile(who, os.O_APPEND|os.O_WRONLY, 0o600)
	f.must(err)
	_, err = file.WriteString(`{"id":"anotherone","over":true,"late":"deny"}` + "\n" + `{"id":"anotherone","to`) // cut off
	f.must(errors.Join(err, file.Close()))
	want := []string{`[QUESTION] coder needs input: "Proceed?" (#project-x)`, "[TIMEOUT] coder got no answer to \"Proceed?\" from lead within 1s. It takes that as a no."}
	f.start()
	f.until("both are told", func() bool { return slices.Equal(f.noticeTexts(), want) })
	f.halt()

	// This is the state after a crash that occurs before the notes are written.
	data, err := os.ReadFile(who)
	f.must(err)
	kept := slices.DeleteFunc(strings.SplitAfter(string(data), "\n"), func(line string) bool { return strings.Contains(line, `"told"`) })
	f.must(os.WriteFile(who, []byte(strings.Join(kept, "")), 0o600))
	f.start()
	for _, key := range []string{"notice:asked:" + id, "notice:late:anotherone"} {
		f.until("it is told again", func() bool { return f.linesOf(key) == 2 })
	}
	f.halt()
	if got := f.noticeTexts(); !slices.Equal(got, want) {
		t.Errorf("notices %q, want %q", got, want)
	}
	for _, key := range []string{"notice:asked:", "notice:late:"} {
		if n := len(f.copies(key)); n != 1 {
			t.Errorf("IRC got %d copies of %s", n, key)
		}
	}
}

// A turn that is waiting for an answer is considered neither silent nor too long,
// because turn_timeout limits only the time that the turn spends working. The question is
// recorded before the turn begins, so that no row depends on the speed of the machine.
func TestAWaitForAnAnswerIsNoTimeOut(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, row := range map[string]struct{ asks, answered, done bool }{
		"asks": {asks: true, done: true}, "works": {}, "is answered and works": {asks: true, answered: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newClientField(t, "coder")
			f.plan.Agents[0].MaxFailures = 1
			f.plan.Agents[0].Client.Timeout = 2 * time.Second
			id := f.send("coder", "@say begun\n@sleep 4s\n@say did it")
			asks, now := journal.HomeOf(f.dir).Asks(id+"-1"), time.Now().UTC()
			if row.asks {
				f.must(asks.Begin(journal.Asked{ID: "questionqu", Of: "reviewer", Text: "Proceed?", Since: now, Until: now.Add(time.Hour)}))
			}
			f.start()
			if row.asks {
				f.untilState("coder", swarm.Asking)
			}
			if row.answered {
				f.must(asks.End("questionqu", ""))
			}
			if got := string(f.answer(id).Body); strings.Contains(got, "did it") != row.done || strings.Contains(got, "the turn took longer than 2s") == row.done {
				t.Errorf("the answer is %q", got)
			}
		})
	}
}

// If the daemon crashes after the notice that an agent continues, but before the end of the
// agent's pause is durable, the next daemon repeats the notice with the same key. As a
// result, people see it once.
func TestThatAnAgentGoesOnIsToldOnceOverACrash(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder")
		f.announcer = everywhere{}
		f.start()
		f.must(f.daemon.Pause("coder", swarm.PauseOrder{By: dropbox.Lead, For: 300 * time.Millisecond}))
		path := filepath.Join(journal.HomeOf(f.dir).Dir(), "state.json")
		paused, err := os.ReadFile(path)
		f.must(err)
		f.until("it goes on", func() bool { return len(f.notices()) == 1 })
		f.untilState("coder", swarm.Idle)
		f.halt()
		key := f.notices()[0].Key
		f.must(os.WriteFile(path, paused, 0o600))
		f.start()
		f.until("the notice is repeated", func() bool { return f.linesOf(key) == 2 })
		f.untilState("coder", swarm.Idle)
		f.halt()
		if n := len(f.copies("notice:unpaused:")); n != 1 || len(f.notices()) != 1 {
			t.Errorf("IRC got %d copies of %d facts, want one of one", n, len(f.notices()))
		}
	})
}

// A question that is asked and given up between two checks of the lead's mailbox is told by
// the second check, although its turn has ended.
func TestAQuestionOfATurnThatHasEndedIsTold(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder", "tester")
		f.announcer = everywhere{}
		next := make(chan struct{})
		f.backend.Script = func(turn runner.Turn) []runnertest.Step {
			return []runnertest.Step{runnertest.Do(func(ctx context.Context, turn runner.Turn) error {
				<-next
				who, err := f.callerIn(turn)
				if err == nil {
					who.Asks(journal.Asked{ID: "k7f3q9m2xd", Of: dropbox.Lead, Text: "Proceed?"}, time.Second).Late("continue")
				}
				return err
			}), runnertest.Say("done")}
		}
		check := func(want int) {
			_, err := f.store.Deliver(dropbox.Lead, &dropbox.Message{From: "tester", Type: dropbox.Question, Body: []byte("Which one?")})
			f.must(err)
			f.until(fmt.Sprint(want, " are told"), func() bool { return len(f.notices()) >= want })
		}
		f.start()
		f.send("coder", "work", from("tester"))
		f.untilState("coder", swarm.Working)
		check(1)
		close(next)
		f.untilState("coder", swarm.Idle)
		check(3) // with the question that nobody answered
		f.halt()
	})
}
