package swarm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// notices returns the events that have a notice, one for each fact.
func (f *field) notices() (all []journal.Event) {
	f.t.Helper()
	seen := map[string]bool{}
	list := journal.Open(journal.HomeOf(f.dir).Dir(), durable.Files{}, nil).From(0)
	for {
		events, err := list.Next()
		if err != nil {
			f.t.Fatal(err)
		}
		if len(events) == 0 {
			return all
		}
		for _, ev := range events {
			if ev.Notice != nil && !seen[ev.Key] {
				seen[ev.Key] = true
				all = append(all, ev)
			}
		}
	}
}

// noticeTexts returns the text of every notice.
func (f *field) noticeTexts() (texts []string) {
	for _, ev := range f.notices() {
		texts = append(texts, ev.Notice.Text())
	}
	return texts
}

// Each fact that may require action by a person has exactly one notice.
func TestNotices(t *testing.T) {
	for name, row := range map[string]struct {
		plan func(*field)
		do   func(*field)
		want []string // how each notice begins, in alphabetical order
	}{
		"a task that is done": {
			do:   func(f *field) { f.answer(f.send("coder", "@say fine", subject("Paint the door"))) },
			want: []string{`[COMPLETE] coder finished task "Paint the door".`},
		},
		"a question from a person": { // a question is not a task
			do: func(f *field) { f.answer(f.send("coder", "@say fine", typed(dropbox.Question))) },
		},
		"a crash that is tried again": {
			plan: func(f *field) {
				f.backend.Script = func(turn runner.Turn) []runnertest.Step {
					if strings.HasSuffix(turn.ID, "-1") {
						return []runnertest.Step{runnertest.Say("begun"), runnertest.NoResult()}
					}
					return []runnertest.Step{runnertest.Say("fine")}
				}
			},
			do:   func(f *field) { f.answer(f.send("coder", "go", subject("Paint the door"))) },
			want: []string{`[COMPLETE] coder finished task "Paint the door".`, `[ERROR] coder crashed: process exited with code 1`},
		},
		"a message that fails three times": { // only the first failure has an [ERROR] notice
			plan: func(f *field) {
				f.plan.Agents[0].MaxFailures = 3
				f.plan.Agents[0].RetryDelay = time.Millisecond
				f.restart.MaxMessages = 100
			},
			do: func(f *field) { f.answer(f.send("coder", "@noresult", subject("Paint the door"))) },
			want: []string{
				`[DEAD] coder gave up "Paint the door": failed 3 times, last: the client ended without a result. It is kept: claude-swarm dead show `,
				`[ERROR] coder crashed: process exited with code 1. It will be tried again at `,
			},
		},
		"a client that never begins": {
			plan: func(f *field) {
				f.restart.NotBegun = time.Millisecond
			},
			do:   func(f *field) { f.send("coder", "@unborn", subject("Paint the door")); f.told("coder is stopped") },
			want: []string{`[ERROR] coder crashed: process exited with code 1. It will be tried again at `, `[ERROR] coder is stopped: `},
		},
		"a crash that is the last": { // one notice, because the only fact is that the message is given up
			plan: func(f *field) { f.plan.Agents[0].MaxFailures = 1 },
			do:   func(f *field) { f.answer(f.send("coder", "@noresult", subject("Paint the door"))) },
			want: []string{`[DEAD] coder gave up "Paint the door": failed: the client ended without a result. It is kept: claude-swarm dead show `},
		},
		"a wrong key": {
			do:   func(f *field) { f.send("coder", "@status 401"); f.told("coder is stopped") },
			want: []string{`[ERROR] coder is stopped: `},
		},
		"a turn without an end": {
			plan: func(f *field) {
				f.backend.Script = func(turn runner.Turn) []runnertest.Step {
					if strings.HasSuffix(turn.ID, "-1") {
						return []runnertest.Step{runnertest.Say("begun"), runnertest.Hang()}
					}
					return []runnertest.Step{runnertest.Say("fine")}
				}
				f.plan.Agents[0].Client.Timeout = 300 * time.Millisecond
			},
			do:   func(f *field) { f.answer(f.send("coder", "go", subject("Paint the door"))) },
			want: []string{`[COMPLETE] coder finished task "Paint the door".`, `[TIMEOUT] coder did not finish "Paint the door": the turn took longer than 300ms. It will be tried again at `},
		},
		"a question to the person": {
			do: func(f *field) {
				f.send(dropbox.Lead, "Delete 47 files. Proceed?", typed(dropbox.Question), from("coder"))
			},
			want: []string{`[QUESTION] coder needs input: "Delete 47 files. Proceed?"`},
		},
		"a limit, which ends": {
			plan: func(f *field) {
				f.backend.Script = func(turn runner.Turn) []runnertest.Step {
					if strings.HasSuffix(turn.ID, "-1") {
						return []runnertest.Step{runnertest.Limited(time.Second)}
					}
					return []runnertest.Step{runnertest.Say("fine")}
				}
			},
			do: func(f *field) {
				f.answer(f.send("coder", "go", subject("Paint the door")))
			},
			want: []string{`[COMPLETE] coder finished task "Paint the door".`, `[LIMIT] coder waits until `, `[UNPAUSED] coder goes on: a turn succeeded again.`},
		},
		"a pause by a person": {
			do: func(f *field) {
				f.must(f.daemon.Pause("coder", swarm.PauseOrder{By: dropbox.Lead}))
				f.must(f.daemon.Resume("coder", dropbox.Lead))
			},
			want: []string{`[UNPAUSED] coder goes on: resumed by lead.`},
		},
		"a pause with an end": {
			do: func(f *field) {
				f.must(f.daemon.Pause("coder", swarm.PauseOrder{By: dropbox.Lead, For: 300 * time.Millisecond}))
			},
			want: []string{`[UNPAUSED] coder goes on: its pause is over.`},
		},
		"an aborted turn": { // no notice, because the person who aborted the turn already knows
			do: func(f *field) {
				id := f.send("coder", "@say begun\n@hang", subject("Paint the door"))
				f.untilState("coder", swarm.Working)
				f.until("its turn runs", func() bool { return f.backend.Running() > 0 })
				_, err := f.daemon.Abort(f.t.Context(), "coder", dropbox.Lead, "")
				f.must(err)
				f.answer(id)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				f := newField(t, "coder")
				f.announcer = everywhere{}
				if row.plan != nil {
					row.plan(f)
				}
				f.start()
				f.untilState("coder", swarm.Idle)
				row.do(f)
				matches := func(got []string) bool {
					slices.Sort(got)
					return slices.EqualFunc(got, row.want, strings.HasPrefix)
				}
				f.until("its notices", func() bool { return matches(f.noticeTexts()) })
				f.halt()
				if got := f.noticeTexts(); !matches(got) {
					t.Errorf("noticed %q, want %q", got, row.want)
				}
			})
		})
	}
}

func (f *field) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// When a cap is reached, each listener gets one event about it. The event lists the words
// with which the person can answer.
func TestACapIsToldOnce(t *testing.T) {
	f := newField(t, "coder")
	f.plan.Budget = budget.Rules{Swarm: dollars(0.25)}
	f.announcer = everywhere{}
	f.spends(0.25)
	f.start()
	f.answer(f.send("coder", "one"))
	f.send("coder", "two")
	f.untilState("coder", swarm.Parked)
	q := f.askedOnce()
	f.until("the question is shown", func() bool { return len(f.copies("mail-"+q.ID)) == 1 })
	f.halt()
	var told []string
	for _, ev := range f.notices() {
		if ev.Word() == journal.BudgetReached && ev.Notice.Held {
			told = append(told, ev.Key+" "+ev.Notice.Text())
		}
	}
	want := fmt.Sprintf("mail-%s [BUDGET] the swarm has spent 0.25 USD of 0.25 USD today. Awaiting guidance. To answer: reply %[1]s more, stop or end.", q.ID)
	if len(told) != 1 || told[0] != want {
		t.Errorf("told %q, want %q", told, want)
	}
}

// A wait after a failure is for another try of the message. It ends when the message is given
// up, and the next message begins at once.
func TestABackoffEndsWithItsMessage(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder")
		f.plan.Agents[0].MaxFailures = 1
		f.start()
		bad := f.send("coder", "@noresult")
		f.until("it is given up", func() bool { return len(f.files("coder", "dead")) > 0 && f.status("coder").State != swarm.Working })
		if st := f.status("coder"); st.State != swarm.Idle || st.Why != "" {
			t.Errorf("after %s was given up: %s %q, want idle", bad, st.State, st.Why)
		}
		began := time.Now()
		f.answer(f.send("coder", "@say fine"))
		if took := time.Since(began); took > time.Minute {
			t.Errorf("the next message waited %v", took)
		}
	})
}
