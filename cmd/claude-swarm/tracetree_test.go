package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// family returns four related messages: a task, a question asked in the task's turn, the
// answer to the question, and the result.
func family(at time.Time) []*view.TracedMessage {
	second := func(n int) time.Time { return at.Add(time.Duration(n) * time.Second) }
	return []*view.TracedMessage{
		{ID: "resultresu", From: "coder", To: "lead", Type: dropbox.Result, Subject: "Re: greet the world", ReplyTo: "tasktaskta", Turn: "tasktaskta-1", Created: second(9), State: view.StateUnread},
		{ID: "answeransw", From: "reviewer", To: "coder", Type: dropbox.Result, Subject: "Re: whom?", ReplyTo: "questionqu", Turn: "questionqu-1", Created: second(5), State: view.StateDone},
		{ID: "tasktaskta", From: "lead", To: "coder", Type: dropbox.Task, Subject: "greet the world", Created: second(0), State: view.StateDone,
			Attempts: []journal.Attempt{
				{Start: second(1), End: second(2), Outcome: "failed", Reason: "the API is overloaded", CostUSD: 0.01},
				{Start: second(3), End: second(8), Outcome: "done", CostUSD: 0.04},
			},
			Whispers: []view.TracedWhisper{{At: second(6), Turn: "tasktaskta-2", Text: "[SUPERVISOR/CORRECTION] You tried the same thing 3 times, with the same result each time."}},
			Receipt:  &journal.Receipt{Outcome: "done", ToolCalls: 5, Sent: []string{"questionqu"}, Files: []string{"/p/greet.sh", "/p/test.sh"}, Denied: []string{"Bash(rm x)"}}},
		{ID: "questionqu", From: "coder", To: "reviewer", Type: dropbox.Question, Subject: "whom?", Created: second(4), State: view.StateDone,
			Attempts: []journal.Attempt{{Start: second(4), End: second(5), Outcome: "done", CostUSD: 0.02}},
			Receipt:  &journal.Receipt{Outcome: "done"}},
	}
}

func TestTraceTree(t *testing.T) {
	at := time.Date(2026, 11, 21, 5, 12, 0, 0, time.Local)
	var out strings.Builder
	tree{asked: "tasktaskta", dir: "/p", now: at.Add(time.Minute), columns: 80}.write(&out, view.NewTrace("tasktaskta", family(at)))
	want := `tasktaskta  05:12:00  lead → coder  task  greet the world
│  turn 1 failed: the API is overloaded · 1 s · 0.01 USD
│  turn 2 done · 5 s · 0.04 USD · 5 tool calls
│  ~ 05:12:06 [SUPERVISOR/CORRECTION] You tried the same thing 3 times, with th…
│  wrote greet.sh, test.sh
│  denied Bash(rm x)
├─ questionqu  05:12:04  coder → reviewer  question  whom?
│  │  turn 1 done · 1 s · 0.02 USD
│  └─ answeransw  05:12:05  reviewer → coder  result  Re: whom?
│        filed
└─ resultresu  05:12:09  coder → lead  result  Re: greet the world
      unread

4 messages · 3 turns · 0.07 USD · 9 s
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("the tree (-want +got):\n%s", diff)
	}
	for line := range strings.Lines(out.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// A copy for IRC is not part of the work. A trace counts copies separately and shows them
// only on request.
func TestTraceCopies(t *testing.T) {
	at := time.Date(2026, 11, 21, 5, 12, 0, 0, time.Local)
	messages := func() []*view.TracedMessage {
		return []*view.TracedMessage{
			{ID: "tasktaskta", From: "lead", To: "coder", Type: dropbox.Task, Subject: "greet", Created: at, State: view.StateUnread},
			{ID: "joinjoinjo", From: "lead", To: "irc", Type: dropbox.Task, Created: at, State: view.StateUnread, Copy: true},
			{ID: "copycopyco", From: "lead", To: "irc", Type: dropbox.Task, Subject: "greet", Created: at, State: view.StateUnread, Copy: true, About: "tasktaskta"},
		}
	}
	for name, tc := range map[string]struct {
		all   bool
		asked string
		want  string
	}{
		"folded": {false, "tasktaskta", `tasktaskta  05:12:00  lead → coder  task  greet
   unread

1 message · 0 turns · 2 for IRC are left out: --all
`},
		"all": {true, "tasktaskta", `joinjoinjo  05:12:00  lead → irc  task
   for IRC
   unread
tasktaskta  05:12:00  lead → coder  task  greet
│  unread
└─ copycopyco  05:12:00  lead → irc  task  greet
      for IRC
      unread

1 message · 0 turns · 2 for IRC
`},
		"one that is asked for": {false, "copycopyco", `tasktaskta  05:12:00  lead → coder  task  greet
│  unread
└─ copycopyco  05:12:00  lead → irc  task  greet
      for IRC
      unread

1 message · 0 turns · 2 for IRC are left out: --all
`},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			tree{asked: tc.asked, now: at, columns: width, all: tc.all}.write(&out, view.NewTrace("x", messages()))
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("the tree (-want +got):\n%s", diff)
			}
		})
	}
}

// If three messages refer to each other in a cycle, the trace prints each of them exactly
// once.
func TestTraceRing(t *testing.T) {
	at := time.Date(2026, 11, 21, 5, 12, 0, 0, time.UTC)
	ring := view.NewTrace("x", []*view.TracedMessage{
		{ID: "a", ReplyTo: "c", Created: at}, {ID: "b", ReplyTo: "a", Created: at}, {ID: "c", ReplyTo: "b", Created: at},
	})
	var out strings.Builder
	tree{now: at, columns: 80}.write(&out, ring)
	for _, id := range []string{"a  ", "b  ", "c  "} {
		if strings.Count(out.String(), id) != 1 {
			t.Errorf("message %s is printed %d times, want once:\n%s", id, strings.Count(out.String(), id), out.String())
		}
	}
}

func TestMoment(t *testing.T) {
	now := time.Date(2026, 11, 21, 18, 0, 0, 0, time.Local)
	if got := timeText(now.Add(-time.Hour), now); got != "17:00:00" {
		t.Errorf("today: %s", got)
	}
	if got := timeText(now.Add(-24*time.Hour), now); got != "2026-11-20 18:00" {
		t.Errorf("yesterday: %s", got)
	}
}

// The trace of an urgent message names the turn that received the message, because no
// turn was started for the message.
func TestAnUrgentMessageNamesTheTurnThatTookItIn(t *testing.T) {
	at := time.Date(2026, 11, 21, 5, 12, 0, 0, time.Local)
	trace := view.NewTrace("urgenturge", []*view.TracedMessage{{
		ID: "urgenturge", From: "lead", To: "coder", Type: dropbox.Task, Subject: "hurry", Created: at, State: view.StateDone,
		Receipt: &journal.Receipt{ID: "urgenturge", Turn: "tasktaskta-1", Outcome: "done", Into: "tasktaskta"},
	}})
	var out strings.Builder
	tree{asked: "urgenturge", now: at, columns: 80}.write(&out, trace)
	want := `urgenturge  05:12:00  lead → coder  task  hurry
   done in the turn of tasktaskta

1 message · 0 turns
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("the tree (-want +got):\n%s", diff)
	}
}
