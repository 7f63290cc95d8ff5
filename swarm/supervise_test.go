package swarm_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/supervisor"
	"github.com/claude-swarm/claude-swarm/swarm/whisper"
)

// whispered returns a step in which the supervisor whispers to coder.
func whispered(f *field, id, text string) runnertest.Step {
	return runnertest.Do(func(context.Context, runner.Turn) error {
		f.daemon.Whisper(supervisor.Whisper{ID: id, Agent: "coder", Turn: "aaaaaaaaaa-1", Action: supervisor.Correction, Message: text})
		return nil
	})
}

// called returns a step in which the client begins a tool call; answered returns one that
// ends it.
func called(id string) runnertest.Step {
	return runnertest.Emit(streamjson.Event{Kind: streamjson.KindAssistant, Blocks: []streamjson.Block{{Kind: streamjson.BlockToolUse, ID: id, Name: "Bash", Input: []byte(`{"command":"make"}`)}}})
}

func answered(id string) runnertest.Step {
	return runnertest.Emit(streamjson.Event{Kind: streamjson.KindUser, Blocks: []streamjson.Block{{Kind: streamjson.BlockToolResult, ID: id, Text: "no"}}})
}

// shown lists the whispers that an agent's client has read, each with the way in which it
// was delivered.
func shown(f *field, agent string) (list []string) {
	f.t.Helper()
	all, err := whisper.Of(journal.HomeOf(f.dir), agent)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, w := range all {
		if !w.Shown.IsZero() && w.Way != "" {
			list = append(list, string(w.Way)+" "+w.Line())
		}
	}
	return list
}

func isShown(f *field, agent, want string) {
	f.t.Helper()
	if got := strings.Join(shown(f, agent), "\n"); got != want {
		f.t.Errorf("shown = %q, want %q", got, want)
	}
}

// A whisper reaches the running turn once, while a tool is running, and begins no turn. A
// whisper is not mail.
func TestAWhisperReachesTheRunningTurn(t *testing.T) {
	f := newField(t, "coder")
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if strings.Contains(turn.Prompt, "SUPERVISOR") {
			t.Errorf("prompt:\n%s", turn.Prompt)
		}
		if !strings.Contains(turn.Prompt, "the long task") {
			return []runnertest.Step{runnertest.Say("did the other")}
		}
		return []runnertest.Step{
			whispered(f, "w1", "Ask for help."), whispered(f, "w1", "Ask for help."),
			runnertest.Do(func(_ context.Context, turn runner.Turn) error {
				if s, ok := turn.Steering.Next(); ok {
					t.Errorf("without a running tool the client gets %q", s.Prompt)
				}
				return nil
			}),
			called("t1"), runnertest.TakeIn(), answered("t1"), runnertest.Say("did it"),
		}
	}
	f.start()
	f.answer(f.send("coder", "the long task"))
	f.answer(f.send("coder", "another"))
	isShown(f, "coder", "steering [SUPERVISOR/CORRECTION] Ask for help.")
	if n := len(f.backend.Runs()); n != 2 {
		t.Errorf("%d turns, want 2", n)
	}
	log, err := os.ReadFile(journal.HomeOf(f.dir).AgentLog("coder"))
	if err != nil || strings.Count(string(log), "~ [SUPERVISOR/CORRECTION] Ask for help.") != 1 {
		t.Errorf("log of the agent, %v:\n%s", err, log)
	}
	for _, box := range []string{"coder", dropbox.Lead} {
		for _, m := range f.mail(box) {
			if strings.Contains(string(m.Body), "SUPERVISOR") {
				t.Errorf("%s has the whisper as mail: %s", box, m.Body)
			}
		}
	}
}

// A whisper that the turn did not read appears once, at the beginning of the next prompt,
// and does not cause that turn. The same happens if the client reads nothing during a
// turn.
func TestAWhisperWaitsForTheNextPrompt(t *testing.T) {
	for name, steers := range map[string]bool{"a client that steers": true, "a client that does not": false} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "coder")
			f.backend.Quiet = !steers
			f.backend.Script = func(turn runner.Turn) []runnertest.Step {
				if strings.Contains(turn.Prompt, "the long task") {
					return []runnertest.Step{called("t1"), answered("t1"), whispered(f, "w1", "Ask for help."), runnertest.Say("did it")}
				}
				return []runnertest.Step{runnertest.Say("did the other")}
			}
			f.start()
			f.answer(f.send("coder", "the long task"))
			f.untilState("coder", swarm.Idle)
			if n := len(f.backend.Runs()); n != 1 {
				t.Errorf("%d turns: the whisper began one", n)
			}
			isShown(f, "coder", "")
			f.answer(f.send("coder", "another"))
			f.answer(f.send("coder", "a third"))
			runs := f.backend.Runs()
			for i, want := range []bool{false, true, false} {
				head, _, _ := strings.Cut(runs[i].Turn.Prompt, "Message ")
				if strings.Contains(head, "[SUPERVISOR/CORRECTION] Ask for help.") != want {
					t.Errorf("prompt %d:\n%s", i, runs[i].Turn.Prompt)
				}
			}
			isShown(f, "coder", "prompt [SUPERVISOR/CORRECTION] Ask for help.")
		})
	}
}

// A daemon dies after giving a whisper to a turn. The next daemon determines whether the
// client read the whisper. If it did not, the whisper appears at the beginning of the
// next prompt.
func TestAWhisperLivesThroughACrash(t *testing.T) {
	for name, read := range map[string]bool{"read": true, "not read": false} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "coder")
			task := f.send("coder", "the long task")
			turn := claim(f, "coder", task)
			self, err := runner.Identify(os.Getpid())
			if err != nil {
				t.Fatal(err)
			}
			writeRecord(f, turn, task, self)
			store := whisper.Open(journal.HomeOf(f.dir))
			if _, err := store.Add("coder", whisper.Whisper{Key: "w1", Type: "CORRECTION", Text: "Ask for help."}); err != nil {
				t.Fatal(err)
			}
			given, err := store.Give("coder", turn, whisper.BySteering, 1, func(whisper.Whisper) string { return "uuid-1" })
			if err != nil || len(given) != 1 {
				t.Fatal(given, err)
			}
			f.backend.Outlive = func(runner.Turn, runner.Process) []runnertest.Step {
				steps := []runnertest.Step{runnertest.Say("did what I had")}
				if read {
					steps = append([]runnertest.Step{runnertest.TookIn("uuid-1")}, steps...)
				}
				return steps
			}
			f.start()
			f.answer(task)
			f.daemon.Whisper(supervisor.Whisper{ID: "w1", Agent: "coder", Turn: turn, Action: supervisor.Correction, Message: "Ask for help."})
			f.answer(f.send("coder", "another"))
			runs := f.backend.Runs()
			if has := strings.Contains(runs[len(runs)-1].Turn.Prompt, "SUPERVISOR"); has == read {
				t.Errorf("prompt:\n%s", runs[len(runs)-1].Turn.Prompt)
			}
			want := map[bool]string{true: "steering", false: "prompt"}[read]
			isShown(f, "coder", want+" [SUPERVISOR/CORRECTION] Ask for help.")
		})
	}
}

// THINK_DEEPER raises the thinking level of one turn.
func TestThinkDeeper(t *testing.T) {
	f := newField(t, "coder")
	f.plan.Agents[0].Client.Thinking = "medium"
	f.start()
	f.answer(f.send("coder", "one"))
	f.daemon.Whisper(supervisor.Whisper{ID: "w1", Agent: "coder", Turn: "aaaaaaaaaa-1", Action: supervisor.ThinkDeeper, Message: "Think."})
	f.answer(f.send("coder", "two"))
	f.answer(f.send("coder", "three"))
	for i, want := range []string{"medium", "high", "medium"} {
		if got := f.backend.Runs()[i].Turn.Spec.Thinking; got != want {
			t.Errorf("turn %d thinks %s, want %s", i, got, want)
		}
	}
	for from, want := range map[string]string{"off": "low", "low": "medium", "": "high", "max": "max", "4000": "4000"} {
		if got := swarm.Deeper(from); got != want {
			t.Errorf("deeper than %q is %q, want %q", from, got, want)
		}
	}
}

// THINK_DEEPER ends after its turn, even if a later daemon follows that turn to its end. A
// THINK_DEEPER that arrived during the turn applies to the next turn.
func TestThinkDeeperIsOverAfterATurnThatWasFollowed(t *testing.T) {
	for name, c := range map[string]struct {
		after time.Duration // from the beginning of the turn to the whisper
		want  []string
	}{
		"asked before the turn": {-time.Minute, []string{"medium", "medium"}},
		"asked in the turn":     {time.Minute, []string{"high", "medium"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "coder")
			f.plan.Agents[0].Client.Thinking = "medium"
			task := f.send("coder", "the long task")
			id := claim(f, "coder", task)
			self, err := runner.Identify(os.Getpid())
			if err != nil {
				t.Fatal(err)
			}
			writeRecord(f, id, task, self)
			rec, err := journal.ReadRecord(journal.HomeOf(f.dir), id)
			if err != nil {
				t.Fatal(err)
			}
			holds, err := journal.OpenHolds(journal.HomeOf(f.dir))
			if err != nil {
				t.Fatal(err)
			}
			if err := holds.Change("coder", func(st *journal.Hold) { st.Deeper = rec.Begun.Add(c.after) }); err != nil {
				t.Fatal(err)
			}
			f.backend.Outlive = func(runner.Turn, runner.Process) []runnertest.Step {
				return []runnertest.Step{runnertest.Say("did what I had")}
			}
			f.start()
			f.answer(task)
			for _, text := range []string{"two", "three"} {
				f.answer(f.send("coder", text))
			}
			runs := f.backend.Runs()
			for i, want := range c.want {
				if got := runs[len(runs)-2+i].Turn.Spec.Thinking; got != want {
					t.Errorf("turn %d after it thinks %s, want %s", i+1, got, want)
				}
			}
		})
	}
}

// stuck returns an escalation about the first attempt at a message.
func stuck(id string) supervisor.Escalation {
	return supervisor.Escalation{ID: "e-" + id, Agent: "coder", Turn: id + "-1", Task: "benchmark nemotron", Retries: 4, Why: "Retried same approach 4 times.", Details: "It repeats: make deploy"}
}

// A stuck agent begins no turn until a person decides. No process is killed, and people
// are notified once.
func TestAnAgentThatIsStuckWaitsForAPerson(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, how := range []string{"resume", "abort", "abort in the turn", "answer resume", "answer abort", "answer use another host", "answer resume on another host"} {
		t.Run(how, func(t *testing.T) {
			f := newField(t, "coder", "lead-agent")
			ready, goOn := make(chan struct{}), make(chan struct{})
			first := true
			f.backend.Script = func(turn runner.Turn) []runnertest.Step {
				if !strings.Contains(turn.Prompt, "the long task") || !first {
					return []runnertest.Step{runnertest.Say("did it")}
				}
				first = false
				return []runnertest.Step{runnertest.Do(func(ctx context.Context, _ runner.Turn) error {
					close(ready)
					select {
					case <-goOn:
					case <-ctx.Done():
						return ctx.Err()
					}
					return errors.New("no luck")
				})}
			}
			f.start()
			task := f.send("coder", "the long task")
			other := f.send("coder", "another")
			<-ready
			f.daemon.Stuck(stuck(task))
			f.daemon.Stuck(stuck(task))
			if st := f.status("coder"); st.State != swarm.Working {
				t.Errorf("the turn is %s, want working: nothing is killed", st.State)
			}
			if how != "abort in the turn" {
				close(goOn)
				st := f.untilState("coder", swarm.Paused)
				if st.Why != "stuck: Retried same approach 4 times" || !strings.HasPrefix(st.Next, "claude-swarm resume coder, ") {
					t.Errorf("status = %q, %q", st.Why, st.Next)
				}
			}
			for _, order := range []func() error{
				func() error { return f.daemon.Resume("coder", "lead-agent") },
				func() error { _, err := f.daemon.Abort(t.Context(), "coder", "lead-agent", ""); return err },
			} {
				if _, ok := errors.AsType[*swarm.PersonError](order()); !ok {
					t.Error("an agent lets it continue")
				}
			}
			var question *dropbox.Message
			f.until("the person is asked", func() bool {
				for _, m := range f.mail(dropbox.Lead) {
					if m.Type == dropbox.Question {
						question = m
					}
				}
				return question != nil
			})
			const text = `[ESCALATION] Agent coder appears stuck on task "benchmark nemotron". Retried same approach 4 times. Awaiting human guidance. Reply @coder resume/abort`
			if question.Subject != text {
				t.Errorf("subject = %q", question.Subject)
			}
			if !strings.HasPrefix(string(question.Body), "It repeats: make deploy\n\ncoder begins no more turns") {
				t.Errorf("the question does not say what it repeats:\n%s", question.Body)
			}
			notices := 0
			if err := journal.HomeOf(f.dir).Events().Tell("test", nil, func(events []journal.Event, _ int64) error {
				for _, ev := range events {
					if ev.Word() == journal.AgentSpiraling {
						notices++
						if ev.Notice.Text() != text {
							t.Errorf("notice = %q", ev.Notice.Text())
						}
						if ev.Of == nil || ev.Of.ID != task || ev.Message.Body != "It repeats: make deploy\n" {
							t.Errorf("the notice is about %+v and says %q", ev.Of, ev.Message.Body)
						}
					}
				}
				return nil
			}); err != nil || notices != 1 {
				t.Errorf("%d notices, %v", notices, err)
			}
			switch how {
			case "resume":
				if err := f.daemon.Resume("coder", dropbox.Lead); err != nil {
					t.Fatal(err)
				}
			case "abort", "abort in the turn":
				cut, err := f.daemon.Abort(t.Context(), "coder", dropbox.Lead, "")
				if err != nil || cut.Message != task || cut.State != dropbox.Dead {
					t.Fatalf("abort = %+v, %v", cut, err)
				}
			default:
				_, word, _ := strings.Cut(how, " ")
				f.send(dropbox.Swarm, word, typed(dropbox.Result), func(m *dropbox.Message) { m.ReplyTo = question.ID })
			}
			f.answer(other)
			if strings.Contains(how, "resume") || strings.Contains(how, "host") {
				f.answer(task)
			} else if n := len(f.files("coder", "dead")); n == 0 {
				t.Error("the message is not a dead letter")
			}
			if bodies := f.bodies(); strings.Contains(how, "host") && !slices.Equal(bodies[1:3], []string{strings.TrimPrefix(how, "answer "), "the long task"}) {
				t.Errorf("the turns after the answer: %q, want the answer first", bodies[1:])
			}
			f.untilState("coder", swarm.Idle)
			if goesOn := strings.Join(f.noticeTexts(), "\n"); strings.Count(goesOn, "[UNPAUSED] coder goes on: ") != 1 {
				t.Errorf("want one notice that it continues:\n%s", goesOn)
			}
			f.until("the question is settled", func() bool { return len(f.files(dropbox.Lead, "new")) == 0 || !has(f, question.ID) })
			f.daemon.Stuck(stuck(task)) // as if the events of the turn were read again
			if st := f.status("coder"); st.State != swarm.Idle {
				t.Errorf("the same escalation pauses it again: %+v", st)
			}
		})
	}
}

// startStuck starts the daemon, and returns the id of a task on which coder has become
// stuck. The turn of the task has failed, and coder is paused. Turns on other messages
// succeed.
func (f *field) startStuck() string {
	f.t.Helper()
	ready, goOn := make(chan struct{}), make(chan struct{})
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if !strings.Contains(turn.Prompt, "the long task") {
			return []runnertest.Step{runnertest.Say("did it")}
		}
		return []runnertest.Step{runnertest.Do(func(context.Context, runner.Turn) error {
			close(ready)
			<-goOn
			return errors.New("no luck")
		})}
	}
	f.start()
	task := f.send("coder", "the long task")
	<-ready
	f.daemon.Stuck(stuck(task))
	close(goOn)
	f.untilState("coder", swarm.Paused)
	return task
}

// The question about a stuck agent is settled when a person decides in another way, and
// stays while the agent is held for being stuck.
func TestTheQuestionAboutAStuckAgentIsSettled(t *testing.T) {
	for name, c := range map[string]struct {
		order   func(*field) error
		settled bool
	}{
		"a pause": {func(f *field) error { return f.daemon.Pause("coder", swarm.PauseOrder{By: dropbox.Lead}) }, true},
		"a short pause": {func(f *field) error {
			return f.daemon.Pause("coder", swarm.PauseOrder{By: dropbox.Lead, For: time.Hour})
		}, true},
		"an agent's pause": {func(f *field) error { return f.daemon.Pause("coder", swarm.PauseOrder{By: "coder", For: time.Second}) }, false},
		"a stop, a start":  {stopAndStart, false},
		"a stop and a stay": {func(f *field) error {
			_, err := f.daemon.StopAgent(f.t.Context(), "coder", dropbox.Lead, false)
			return err
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "coder")
			f.startStuck()
			asked := func() bool {
				return slices.ContainsFunc(f.mail(dropbox.Lead), func(m *dropbox.Message) bool { return m.Type == dropbox.Question })
			}
			f.until("the person is asked", asked)
			if err := c.order(f); err != nil {
				t.Fatal(err)
			}
			if open := len(f.daemon.Questions().Unanswered("escalation")); c.settled != (open == 0) {
				t.Errorf("%d questions are open", open)
			}
		})
	}
}

// A person may decide about a stuck agent while the daemon stores the question about it,
// or before, and a daemon may be killed between a decision and the settling of its
// question. No question stays open.
func TestADecisionWhileTheQuestionIsStored(t *testing.T) {
	resume := func(f *field) error { return f.daemon.Resume("coder", dropbox.Lead) }
	pause := func(f *field) error { return f.daemon.Pause("coder", swarm.PauseOrder{By: dropbox.Lead}) }
	abort := func(f *field) error {
		_, err := f.daemon.Abort(f.t.Context(), "coder", dropbox.Lead, "")
		return err
	}
	for name, c := range map[string]struct {
		at    string // the log line after which the person decides
		order func(*field) error
	}{
		"resume": {"agent is stuck", resume}, "pause": {"agent is stuck", pause},
		"resume of a stored question": {"a question for the person was stored", resume},
		"pause of a stored question":  {"a question for the person was stored", pause},
		"abort of a stored question":  {"a question for the person was stored", abort},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "coder")
			f.once(c.at, func() error { return c.order(f) })
			f.start()
			f.daemon.Stuck(stuck("k7f3q9m2xd"))
			if open := len(f.daemon.Questions().Unanswered("escalation")); open != 0 {
				t.Errorf("%d questions are open", open)
			}
		})
	}
	t.Run("pause before", func(t *testing.T) {
		f := newField(t, "coder")
		f.start()
		if err := pause(f); err != nil {
			t.Fatal(err)
		}
		f.daemon.Stuck(stuck("k7f3q9m2xd"))
		if open := len(f.daemon.Questions().Unanswered("escalation")); open != 0 {
			t.Errorf("%d questions are open", open)
		}
	})
	t.Run("a kill after the decision", func(t *testing.T) {
		f := newField(t, "coder")
		f.startStuck()
		f.halt()
		holds, err := journal.OpenHolds(journal.HomeOf(f.dir))
		if err != nil {
			t.Fatal(err)
		}
		if err := holds.Change("coder", func(st *journal.Hold) { st.Paused = nil }); err != nil {
			t.Fatal(err)
		}
		f.start()
		f.until("the question is settled", func() bool { return len(f.daemon.Questions().Unanswered("escalation")) == 0 })
	})
}

func stopAndStart(f *field) error {
	_, err := f.daemon.StopAgent(f.t.Context(), "coder", dropbox.Lead, false)
	return errors.Join(err, f.daemon.StartAgent("coder", dropbox.Lead))
}

// A stuck agent may also be stopped, or everything may be halted. An abort gives up the
// agent's message anyway, either immediately or when the halt ends.
func TestAnAbortOfAStuckAgentThatIsHeld(t *testing.T) {
	for _, how := range []string{"stopped", "stopped, then started", "halted", "stopped and halted, then started"} {
		t.Run(how, func(t *testing.T) {
			f := newField(t, "coder")
			task := f.startStuck()
			want := dropbox.Dead
			if strings.Contains(how, "halted") {
				want = dropbox.Waiting
				if err := f.store.Halt("release day"); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Contains(how, "stopped") {
				if _, err := f.daemon.StopAgent(t.Context(), "coder", dropbox.Lead, false); err != nil {
					t.Fatal(err)
				}
			}
			cut, err := f.daemon.Abort(t.Context(), "coder", dropbox.Lead, "")
			if err != nil || cut.Message != task || cut.State != want {
				t.Fatalf("Abort = %+v, %v, want the state %s", cut, err, want)
			}
			if strings.Contains(how, "started") {
				if err := f.daemon.StartAgent("coder", dropbox.Lead); err != nil {
					t.Fatal(err)
				}
			}
			if err := f.store.Unhalt(); err != nil {
				t.Fatal(err)
			}
			f.until("the message is a dead letter", func() bool { return len(f.files("coder", "dead")) > 0 })
			if how != "stopped" {
				f.answer(f.send("coder", "another"))
			}
			if n := len(f.backend.Runs()); n != 1 && how == "stopped" || n > 2 {
				t.Errorf("%d turns: the aborted message was begun again", n)
			}
		})
	}
}

// On a full disk, any step of giving up a message may fail. When there is room again, the
// message is given up, and the person is notified.
func TestAnAbortOfAStuckAgentOnAFullDisk(t *testing.T) {
	for _, op := range []dropbox.Op{dropbox.OpCreate, dropbox.OpWrite, dropbox.OpSync, dropbox.OpReplace, dropbox.OpSyncDir} {
		t.Run(string(op), func(t *testing.T) {
			f := newField(t, "coder")
			var full atomic.Bool
			var refused atomic.Bool
			f.reopen(dropbox.Options{Step: func(st dropbox.Step) error {
				if full.Load() && st.Op == op && strings.HasPrefix(st.Name, "coder/") {
					refused.Store(true)
					return syscall.ENOSPC
				}
				return nil
			}})
			task := f.startStuck()
			full.Store(true)
			type answer struct {
				cut swarm.Cut
				err error
			}
			aborted := make(chan answer, 1)
			go func() {
				cut, err := f.daemon.Abort(f.t.Context(), "coder", dropbox.Lead, "")
				aborted <- answer{cut, err}
			}()
			f.until("the disk refuses a step", refused.Load)
			full.Store(false)
			if got := <-aborted; got.err != nil || got.cut.Message != task || got.cut.State != dropbox.Dead {
				t.Fatalf("Abort = %+v, %v, want the state %s", got.cut, got.err, dropbox.Dead)
			}
			f.until("the message is a dead letter", func() bool { return len(f.files("coder", "dead")) > 0 })
			if left := f.files("coder", "cur"); len(left) > 0 {
				t.Errorf("left in cur/: %v", left)
			}
		})
	}
}

// has reports whether a message is still waiting in the lead's mailbox.
func has(f *field, id string) bool {
	for _, m := range f.mail(dropbox.Lead) {
		if m.ID == id {
			return true
		}
	}
	return false
}

// A judgement has part of the budget as its cap, and its cost is counted. If the budget
// is used up, the model is not asked, and a working agent continues.
func TestAJudgementIsBoundedByTheBudget(t *testing.T) {
	for name, c := range map[string]struct {
		rules budget.Rules
		caps  []float64
	}{
		"no cap":     {budget.Rules{}, []float64{0, 0}},
		"of the day": {budget.Rules{Swarm: dollars(8)}, []float64{0.5, 0.5}},
		"of a turn":  {budget.Rules{Agents: map[string]budget.AgentRules{"supervisor": {Turn: dollars(0.4)}}}, []float64{0.4, 0.4}},
		"spent":      {budget.Rules{Swarm: dollars(8), Agents: map[string]budget.AgentRules{"supervisor": {Day: dollars(0.2)}}}, []float64{0.2}},
	} {
		t.Run(name, func(t *testing.T) {
			judge := t.TempDir() // is removed after the daemon has ended
			f := newField(t, "coder", "other")
			f.plan.Budget = c.rules
			f.plan.Supervisor = &swarm.Supervision{Settings: supervisor.Settings{Window: 5, Interval: 1}, Backend: "scripted", Client: runner.Spec{Model: "small", Dir: judge}}
			judged := make(chan float64, 10)
			f.backend.Script = func(turn runner.Turn) []runnertest.Step {
				if turn.Agent == "supervisor" {
					judged <- turn.CapUSD
					return []runnertest.Step{runnertest.Price(0.25), runnertest.Say("OK")}
				}
				return []runnertest.Step{runnertest.Say("did it")} // one step
			}
			f.start()
			f.answer(f.send("coder", "one"))
			f.until("the judgement is in the ledger", func() bool { return judgements(f) == 1 })
			f.answer(f.send("coder", "two"))
			f.until("all judgements are in the ledger", func() bool { return judgements(f) == len(c.caps) })
			for _, want := range c.caps {
				if got := <-judged; got != want {
					t.Errorf("cap of a judgement = %v, want %v", got, want)
				}
			}
			st, err := f.daemon.Status()
			if want := 0.25 * float64(len(c.caps)); err != nil || st.Judge.Today != want || st.Judge.Total != want {
				t.Errorf("the status says that judgements cost %+v, want %v (%v)", st.Judge, want, err)
			}
			st, err = f.daemon.Status("coder") // a client that asks for all agents in parts needs the cost
			if want := 0.25 * float64(len(c.caps)); err != nil || st.Judge.Total != want {
				t.Errorf("the answer about coder says that judgements cost %+v, want %v (%v)", st.Judge, want, err)
			}
			if st.OnlyAgents(); st.Judge.Total != 0 {
				t.Errorf("the status of coder has the cost of judgements, %+v", st.Judge)
			}
			f.halt()
			if n := len(judged); n != 0 {
				t.Errorf("%d judgements without a budget", n)
			}
		})
	}
}

// If the daemon is killed during a judgement, the judgement gets one line in the ledger.
// Its cost is unknown, and the amount that was reserved for it counts as spent. A daemon
// that is stopped writes the line itself.
func TestAJudgementIsCountedWhenItsDaemonEnds(t *testing.T) {
	for name, killed := range map[string]bool{"killed": true, "stopped": false} {
		t.Run(name, func(t *testing.T) {
			judge := t.TempDir() // is removed after the daemon has ended
			f := newField(t, "coder")
			f.environ = []string{"SCRIPTED_KEY=k"}
			f.plan.Budget = budget.Rules{Swarm: dollars(8), Agents: map[string]budget.AgentRules{"coder": {Turn: dollars(4)}}}
			f.plan.Supervisor = &swarm.Supervision{Settings: supervisor.Settings{Window: 5, Interval: 1}, Backend: "scripted", Client: runner.Spec{Model: "small", Dir: judge}}
			begun := make(chan runner.Turn, 1)
			f.backend.Script = func(turn runner.Turn) []runnertest.Step {
				if turn.Agent == "supervisor" {
					begun <- turn
					return []runnertest.Step{runnertest.Do(func(ctx context.Context, _ runner.Turn) error {
						<-ctx.Done()
						return ctx.Err()
					})}
				}
				return []runnertest.Step{runnertest.Say("did it")}
			}
			f.start()
			f.answer(f.send("coder", "one"))
			var judged runner.Turn
			f.until("a judgement runs", func() bool {
				select {
				case judged = <-begun:
					return true
				default:
					return false
				}
			})
			home := journal.HomeOf(f.dir)
			if judged.CapUSD <= 0 {
				t.Fatal("nothing is reserved")
			}
			if !slices.Contains(judged.Env, "SCRIPTED_KEY=k") {
				t.Errorf("its client does not get the environment of the daemon: %q", judged.Env)
			}
			record, err := os.ReadFile(home.TurnFile(judged.ID, ".json"))
			if err != nil {
				t.Fatalf("while it runs: %v", err)
			}
			ledger, err := os.ReadFile(home.Ledger())
			if err != nil {
				t.Fatal(err)
			}
			f.halt()
			if killed { // put the files back as they were during the judgement
				if err := errors.Join(os.WriteFile(home.TurnFile(judged.ID, ".json"), record, 0o600), os.WriteFile(home.Ledger(), ledger, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			f.backend.Script = nil
			f.plan.Supervisor = nil
			for range 2 {
				f.start()
				var lines []journal.LedgerLine
				if err := journal.ReadLedger(home.Ledger(), func(l journal.LedgerLine) bool {
					if l.Agent == "supervisor" {
						lines = append(lines, l)
					}
					return true
				}); err != nil {
					t.Fatal(err)
				}
				if len(lines) != 1 || !lines[0].CostUnknown || lines[0].ReservedUSD != judged.CapUSD || lines[0].Turn != judged.ID {
					t.Errorf("the ledger has %+v", lines)
				}
				st, err := f.daemon.Status()
				if err != nil || len(st.Budget.Scopes) == 0 || st.Budget.Scopes[0].Spent.USD != judged.CapUSD || st.Budget.Scopes[0].Reserved.USD != 0 {
					t.Errorf("budget = %+v, %v, want %v spent and nothing reserved", st.Budget, err, judged.CapUSD)
				}
				if _, err := os.Stat(home.TurnFile(judged.ID, ".json")); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("its record is left: %v", err)
				}
				f.halt()
			}
		})
	}
}

// The only agent in a swarm does not reserve the whole daily budget, so the judge model can
// judge its turn.
func TestATurnLeavesTheJudgeAPart(t *testing.T) {
	judge := t.TempDir() // is removed after the daemon has ended
	f := newField(t, "coder")
	f.plan.Budget = budget.Rules{Swarm: budget.Of(8, 0, time.Hour)}
	f.plan.Supervisor = &swarm.Supervision{Settings: supervisor.Settings{Window: 5, Interval: 1}, Backend: "scripted", Client: runner.Spec{Model: "small", Dir: judge}}
	judged := make(chan float64, 10)
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if turn.Agent == "supervisor" {
			judged <- turn.CapUSD
			return []runnertest.Step{runnertest.Price(0.25), runnertest.Say("OK")}
		}
		return []runnertest.Step{runnertest.Tool("Read", nil, "text"), runnertest.Do(func(ctx context.Context, turn runner.Turn) error {
			if turn.CapUSD != 7.5 {
				t.Errorf("cap of the turn = %v, want 7.5", turn.CapUSD)
			}
			select {
			case usd := <-judged:
				if usd != 0.5 {
					t.Errorf("cap of the judgement = %v, want 0.5", usd)
				}
			case <-ctx.Done(): // nobody judged the turn while it ran
			}
			return nil
		}), runnertest.Say("did it")}
	}
	f.start()
	f.answer(f.send("coder", "one"))
}

// Until the model judges again, the agent's log and the status show that it cannot judge.
func TestAModelThatCannotJudge(t *testing.T) {
	judge := t.TempDir() // is removed after the daemon has ended
	f := newField(t, "coder")
	f.plan.Supervisor = &swarm.Supervision{Settings: supervisor.Settings{Window: 5, Interval: 1}, Backend: "scripted", Client: runner.Spec{Model: "small", Dir: judge}}
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		switch {
		case turn.Agent != "supervisor":
			return []runnertest.Step{runnertest.Say("did it")}
		case judgements(f) == 0:
			return []runnertest.Step{runnertest.Do(func(context.Context, runner.Turn) error { return errors.New("small is not installed") })}
		}
		return []runnertest.Step{runnertest.Say("OK")}
	}
	f.start()
	const want = "the supervisor's model small gave no verdict, so only the rules apply: "
	complains := func() bool {
		st, err := f.daemon.Status()
		if err != nil {
			t.Fatal(err)
		}
		return len(st.Trouble) > 0 && strings.HasPrefix(st.Trouble[0].Why, want) && strings.Contains(st.Trouble[0].Why, "small is not installed")
	}
	id := f.send("coder", "one")
	f.answer(id)
	f.until("the status names the model", complains)
	f.until("the log names it", func() bool {
		log, err := os.ReadFile(journal.HomeOf(f.dir).AgentLog("coder"))
		return err == nil && strings.Contains(string(log), id+"  ~ the supervisor's model gave no verdict: ")
	})
	f.answer(f.send("coder", "two"))
	f.until("it judges again", func() bool { return !complains() })
}

// judgements counts the judgements in the ledger.
func judgements(f *field) (n int) {
	err := journal.ReadLedger(journal.HomeOf(f.dir).Ledger(), func(l journal.LedgerLine) bool {
		if l.Agent == "supervisor" {
			n++
		}
		return true
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}
