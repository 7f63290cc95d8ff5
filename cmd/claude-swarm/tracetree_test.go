package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// family is a task, a question asked in its turn, the answer to that, and the
// result.
func family(at time.Time) []*tracedMessage {
	second := func(n int) time.Time { return at.Add(time.Duration(n) * time.Second) }
	return []*tracedMessage{
		{ID: "resultresu", From: "coder", To: "lead", Type: dropbox.Result, Subject: "Re: greet the world", ReplyTo: "tasktaskta", Turn: "tasktaskta-1", Created: second(9), State: view.StateUnread},
		{ID: "answeransw", From: "reviewer", To: "coder", Type: dropbox.Result, Subject: "Re: whom?", ReplyTo: "questionqu", Turn: "questionqu-1", Created: second(5), State: view.StateDone},
		{ID: "tasktaskta", From: "lead", To: "coder", Type: dropbox.Task, Subject: "greet the world", Created: second(0), State: view.StateDone,
			Attempts: []swarm.Attempt{
				{Start: second(1), End: second(2), Outcome: "failed", Reason: "the API is overloaded", CostUSD: 0.01},
				{Start: second(3), End: second(8), Outcome: "done", CostUSD: 0.04},
			},
			Receipt: &swarm.Receipt{Outcome: "done", ToolCalls: 5, Sent: []string{"questionqu"}, Files: []string{"/p/greet.sh", "/p/test.sh"}, Denied: []string{"Bash(rm x)"}}},
		{ID: "questionqu", From: "coder", To: "reviewer", Type: dropbox.Question, Subject: "whom?", Created: second(4), State: view.StateDone,
			Attempts: []swarm.Attempt{{Start: second(4), End: second(5), Outcome: "done", CostUSD: 0.02}},
			Receipt:  &swarm.Receipt{Outcome: "done"}},
	}
}

func TestTraceTree(t *testing.T) {
	at := time.Date(2026, 11, 21, 5, 12, 0, 0, time.Local)
	view := newTrace("tasktaskta", family(at))
	view.dir = "/p"
	var out strings.Builder
	view.write(&out, "tasktaskta", at.Add(time.Minute), 80)
	want := `tasktaskta  05:12:00  lead → coder  task  greet the world
│  turn 1 failed: the API is overloaded · 1 s · 0.01 USD
│  turn 2 done · 5 s · 0.04 USD · 5 tool calls
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

// What is for IRC is no part of the work: it is counted, and shown where it is asked for.
func TestTraceCopies(t *testing.T) {
	at := time.Date(2026, 11, 21, 5, 12, 0, 0, time.Local)
	messages := func() []*tracedMessage {
		return []*tracedMessage{
			{ID: "tasktaskta", From: "lead", To: "coder", Type: dropbox.Task, Subject: "greet", Created: at, State: view.StateUnread},
			{ID: "joinjoinjo", From: "lead", To: "irc", Type: dropbox.Task, Created: at, State: view.StateUnread, Copy: true},
			{ID: "copycopyco", From: "lead", To: "irc", Type: dropbox.Task, Subject: "greet", Created: at, State: view.StateUnread, Copy: true, about: "tasktaskta"},
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
			view := newTrace("x", messages())
			view.all = tc.all
			view.write(&out, tc.asked, at, width)
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("the tree (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTraceParents(t *testing.T) {
	at := time.Date(2026, 11, 21, 5, 12, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		messages []*tracedMessage
		want     map[string]string // parents
	}{
		"what a turn sent": {family(at), map[string]string{
			"tasktaskta": "", "questionqu": "tasktaskta", "answeransw": "questionqu", "resultresu": "tasktaskta",
		}},
		"what came first is not below what came later": {[]*tracedMessage{
			{ID: "a", ReplyTo: "b", Created: at},
			{ID: "b", ReplyTo: "a", Created: at.Add(time.Second)},
		}, map[string]string{"a": "", "b": "a"}},
		"two that name each other at one moment": {[]*tracedMessage{
			{ID: "a", ReplyTo: "b", Created: at},
			{ID: "b", ReplyTo: "a", Created: at},
		}, map[string]string{"a": "b", "b": ""}},
		"itself":              {[]*tracedMessage{{ID: "a", ReplyTo: "a", Created: at}}, map[string]string{"a": ""}},
		"one that was purged": {[]*tracedMessage{{ID: "a", ReplyTo: "gone", Created: at}}, map[string]string{"a": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]string{}
			for _, m := range newTrace("x", tc.messages).Messages {
				got[m.ID] = m.Parent
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("parents (-want +got):\n%s", diff)
			}
		})
	}
}

// A ring of three that all name each other must neither be lost nor be walked
// for ever.
func TestTraceRing(t *testing.T) {
	at := time.Date(2026, 11, 21, 5, 12, 0, 0, time.UTC)
	view := newTrace("x", []*tracedMessage{
		{ID: "a", ReplyTo: "c", Created: at}, {ID: "b", ReplyTo: "a", Created: at}, {ID: "c", ReplyTo: "b", Created: at},
	})
	var out strings.Builder
	view.write(&out, "", at, 80)
	for _, id := range []string{"a  ", "b  ", "c  "} {
		if strings.Count(out.String(), id) != 1 {
			t.Errorf("message %s is printed %d times, want once:\n%s", id, strings.Count(out.String(), id), out.String())
		}
	}
}

func TestMoment(t *testing.T) {
	now := time.Date(2026, 11, 21, 18, 0, 0, 0, time.Local)
	if got := moment(now.Add(-time.Hour), now); got != "17:00:00" {
		t.Errorf("today: %s", got)
	}
	if got := moment(now.Add(-24*time.Hour), now); got != "2026-11-20 18:00" {
		t.Errorf("yesterday: %s", got)
	}
}

// The offers of a publication are its branches, whoever published it: a person, or an
// agent in a turn.
func TestOffersAreBranchesOfTheirPublication(t *testing.T) {
	at := time.Date(2026, 11, 21, 5, 12, 0, 0, time.Local)
	for _, turn := range []string{"", "tasktaskta-1"} {
		messages := []*tracedMessage{
			{ID: "tasktaskta", From: "lead", To: "boss", Created: at.Add(-time.Second)},
			{ID: "publishpub", From: "boss", To: "topics", Turn: turn, Created: at},
			{ID: "offeroffer", From: "boss", To: "coder", Turn: turn, offer: "publishpub", Created: at.Add(time.Millisecond)},
			{ID: "urgenturge", From: "boss", To: "coder", Turn: turn, offer: "publishpub", Created: at.Add(time.Minute)},
			{ID: "resultresu", From: "coder", To: "boss", Turn: "urgenturge-1", ReplyTo: "publishpub", Created: at.Add(2 * time.Minute)},
		}
		if turn != "" {
			messages[0].Receipt = &swarm.Receipt{Sent: []string{"publishpub"}}
		}
		parents := map[string]string{}
		for _, m := range newTrace("tasktaskta", messages).Messages {
			parents[m.ID] = m.Parent
		}
		want := map[string]string{"tasktaskta": "", "publishpub": "", "offeroffer": "publishpub", "urgenturge": "publishpub", "resultresu": "urgenturge"}
		if turn != "" {
			want["publishpub"] = "tasktaskta"
		}
		if diff := cmp.Diff(want, parents); diff != "" {
			t.Errorf("published in turn %q, parents (-want +got):\n%s", turn, diff)
		}
	}
}

// What was brought to a running turn says whose turn that was: it had none itself.
func TestAnUrgentMessageNamesTheTurnThatTookItIn(t *testing.T) {
	at := time.Date(2026, 11, 21, 5, 12, 0, 0, time.Local)
	view := newTrace("urgenturge", []*tracedMessage{{
		ID: "urgenturge", From: "lead", To: "coder", Type: dropbox.Task, Subject: "hurry", Created: at, State: view.StateDone,
		Receipt: &swarm.Receipt{ID: "urgenturge", Turn: "tasktaskta-1", Outcome: "done", Into: "tasktaskta"},
	}})
	var out strings.Builder
	view.write(&out, "urgenturge", at, 80)
	want := `urgenturge  05:12:00  lead → coder  task  hurry
   done in the turn of tasktaskta

1 message · 0 turns
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("the tree (-want +got):\n%s", diff)
	}
}
