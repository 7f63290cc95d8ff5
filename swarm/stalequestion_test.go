package swarm_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// openQuestions returns how many questions the status shows as open.
func (f *field) openQuestions() int {
	f.t.Helper()
	st, err := f.daemon.Status()
	f.must(err)
	return st.Lead.Questions
}

// A question that nobody waits for leaves the person's mailbox, read or unread, and every
// other question stays. Each row asks one question; the row's end may make it stale.
func TestAStaleQuestionLeavesTheMailbox(t *testing.T) {
	toLead := journal.Asked{Of: dropbox.Lead, Text: "Delete 47 files. Proceed?"}
	// asking makes coder ask, wait until next is closed, and then call end.
	asking := func(end func(*journal.Waiting)) func(*field) func() {
		return func(f *field) func() {
			next := make(chan struct{})
			f.backend.Script = func(turn runner.Turn) []runnertest.Step {
				if !strings.Contains(turn.Prompt, "ask the lead") {
					return []runnertest.Step{runnertest.Say("fine")}
				}
				return []runnertest.Step{f.asks(toLead, time.Minute, next, end), runnertest.Say("done")}
			}
			f.start()
			f.send("coder", "ask the lead")
			return func() { close(next) }
		}
	}
	late := func(does string) func(*journal.Waiting) { return func(w *journal.Waiting) { w.Late(does) } }
	idle := func(f *field) { f.untilState("coder", swarm.Idle) }
	without := func(f *field) {
		p := f.plan
		p.Agents = p.Agents[1:]
		_, err := f.daemon.Reload(p)
		f.must(err)
	}
	// capped makes coder reach a cap, with a message that waits.
	capped := func(r budget.Rules) func(*field) func() {
		return func(f *field) func() {
			f.plan.Budget = r
			f.spends(0.5)
			f.start()
			first := f.send("coder", "one")
			f.answer(first)
			f.send("coder", "two", func(m *dropbox.Message) { m.Thread, m.Trace = first, first })
			return func() {}
		}
	}
	day := budget.Rules{Agents: map[string]budget.AgentRules{"coder": {Day: dollars(0.5)}}}
	task := budget.Rules{Task: dollars(0.5)}
	raise := func(f *field) {
		for _, row := range must(f.daemon.Status()).Budget.Scopes {
			if len(row.Full) > 0 {
				_, err := f.daemon.RaiseBudget(row.Scope, dollars(5), dropbox.Lead)
				f.must(err)
			}
		}
	}
	becameStuck := func(f *field) func() { f.startStuck(); return func() {} }
	// paused orders the pause that the tools order after such an end.
	paused := func(f *field, id string) {
		f.must(f.daemon.Pause("coder", swarm.PauseOrder{By: "coder", Why: "lead did not answer", Questions: []journal.PauseQuestion{{ID: id, Of: dropbox.Lead}}}))
	}
	for name, row := range map[string]struct {
		ask   func(*field) func()       // returns the function that lets the asker go on
		end   func(f *field, id string) // before the asker goes on
		after func(f *field)            // after the asker went on
		stays bool
	}{
		"the agent still waits":               {ask: func(f *field) func() { asking(late("continue"))(f); return func() {} }, stays: true},
		"the agent continued":                 {ask: asking(late("continue")), after: idle},
		"the agent took it as a no":           {ask: asking(late("deny")), after: idle},
		"the agent gave up":                   {ask: asking(late("abort")), after: idle},
		"the client cancelled the call":       {ask: asking(func(w *journal.Waiting) { w.End("") }), after: idle},
		"the agent is paused until an answer": {ask: asking(late("pause")), end: paused, stays: true},
		"the pause was ended by the person":   {ask: asking(late("pause")), end: paused, after: func(f *field) { f.untilState("coder", swarm.Paused); f.must(f.daemon.Resume("coder", dropbox.Lead)) }},
		"the paused agent has left":           {ask: asking(late("pause")), end: paused, after: func(f *field) { f.untilState("coder", swarm.Paused); without(f) }},
		"the turn was aborted": {ask: asking(func(w *journal.Waiting) { w.End("") }), end: func(f *field, _ string) {
			_, err := f.daemon.Abort(f.t.Context(), "coder", dropbox.Lead, "")
			f.must(err)
		}},
		"sent without waiting": {ask: func(f *field) func() {
			f.start()
			f.send(dropbox.Lead, "Tabs?", typed(dropbox.Question), from("coder"))
			return func() {}
		}, stays: true},
		"sent without waiting, and the agent has left": {ask: func(f *field) func() {
			f.start()
			f.send(dropbox.Lead, "Tabs?", typed(dropbox.Question), from("coder"))
			return func() {}
		}, after: without},
		"a day at its cap":                {ask: capped(day), stays: true},
		"a day whose cap was raised":      {ask: capped(day), after: raise},
		"a day whose cap was removed":     {ask: capped(day), after: func(f *field) { p := f.plan; p.Budget = budget.Rules{}; _, err := f.daemon.Reload(p); f.must(err) }},
		"a day of an agent that has left": {ask: capped(day), after: without},
		"a task at its cap":               {ask: capped(task), stays: true},
		"a task whose cap was raised":     {ask: capped(task), after: raise},
		"a task of which nothing waits":   {ask: capped(task), after: func(f *field) { f.must(f.cancelWaiting("coder")) }},
		"a stuck agent":                   {ask: becameStuck, stays: true},
		"a stuck agent that was resumed":  {ask: becameStuck, after: func(f *field) { f.must(f.daemon.Resume("coder", dropbox.Lead)) }},
		"a stuck agent that has left":     {ask: becameStuck, after: without},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				f := newField(t, "coder", "boss")
				goOn := row.ask(f)
				f.until("the question is open", func() bool { return f.openQuestions() == 1 })
				id := ""
				for _, m := range f.mail(dropbox.Lead) {
					if m.Type == dropbox.Question {
						id = m.ID
					}
				}
				if row.end != nil {
					row.end(f, id)
				}
				goOn()
				if row.after != nil {
					row.after(f)
				}
				time.Sleep(time.Minute) // the daemon checks its folders
				want := 0
				if row.stays {
					want = 1
				}
				if n := f.openQuestions(); n != want {
					t.Errorf("%d questions are open, want %d", n, want)
				}
				f.halt()
			})
		})
	}
}

// cancelWaiting cancels the messages that wait in an agent's mailbox.
func (f *field) cancelWaiting(agent string) error {
	box, err := f.store.Mailbox(agent)
	if err != nil {
		return err
	}
	entries, err := box.Peek()
	for _, e := range entries {
		if err == nil {
			err = box.Cancel(e)
		}
	}
	return err
}

// A question whose asker was killed with the daemon leaves the mailbox, unless the answer
// would begin a turn of the agent.
func TestAQuestionOfAKilledTurnLeavesTheMailbox(t *testing.T) {
	f := newField(t, "coder")
	const turn = "k7f3q9m2xd-1"
	writeRecord(f, turn, "k7f3q9m2xd", runner.Process{PID: 1 << 22, Start: 1})
	ask := func(text string, set ...func(*dropbox.Message)) string {
		return f.send(dropbox.Lead, text, append(set, typed(dropbox.Question), from("coder"), func(m *dropbox.Message) { m.Turn = turn })...)
	}
	killed, kept := ask("Proceed?"), ask("Tabs or spaces, some day?")
	line, err := json.Marshal(journal.Asked{ID: killed, Of: dropbox.Lead, Since: time.Now(), Until: time.Now().Add(time.Hour), Process: runner.Process{PID: 1 << 22, Start: 1}})
	f.must(err)
	f.must(os.WriteFile(journal.HomeOf(f.dir).TurnFile(turn, ".asks"), append(line, '\n'), 0o600))
	f.start()
	f.until("the question is filed", func() bool { return f.openQuestions() == 1 })
	for id, want := range map[string]dropbox.State{killed: dropbox.Done, kept: dropbox.Waiting} {
		if found, err := f.store.Find(id); err != nil || found.State != want {
			t.Errorf("%s is %s (%v), want %s", id, found.State, err, want)
		}
	}
}
