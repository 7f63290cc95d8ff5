package journal_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// People and programs rely on the wording of the first rows, so it must not change.
func TestTextsOfNotices(t *testing.T) {
	for _, row := range []struct {
		of   journal.Notice
		want string
	}{
		{journal.Notice{Word: journal.AgentSpiraling, Agent: "spark-culture", Task: "benchmark nemotron", Why: "Retried cmake 4 times"},
			`[SPIRALING] spark-culture stuck on task "benchmark nemotron". Retried cmake 4 times. Awaiting guidance.`},
		{journal.Notice{Word: journal.AgentSpiraling, Agent: "spark-culture", Task: "benchmark nemotron", Why: "Retried same approach 4 times", Held: true},
			`[ESCALATION] Agent spark-culture appears stuck on task "benchmark nemotron". Retried same approach 4 times. Awaiting human guidance. Reply @spark-culture resume/abort`},
		{journal.Notice{Word: journal.AgentQuestion, Agent: "spark-culture", Why: "Delete 47 files. Proceed?"},
			`[QUESTION] spark-culture needs input: "Delete 47 files. Proceed?"`},
		{journal.Notice{Word: journal.AgentError, Agent: "spark-culture", Why: "crashed: process exited with code 1"},
			`[ERROR] spark-culture crashed: process exited with code 1`},
		{journal.Notice{Word: journal.AgentComplete, Agent: "spark-culture", Task: "benchmark nemotron", Results: "#benchmarks"},
			`[COMPLETE] spark-culture finished task "benchmark nemotron". Results in #benchmarks.`},

		{journal.Notice{Word: journal.AgentComplete, Agent: "coder", Task: "Paint\nthe door 👩‍👩‍👧", Why: "It is green.\nTwice."},
			`[COMPLETE] coder finished task "Paint the door 👩‍👩‍👧": It is green. Twice.`},
		{journal.Notice{Word: journal.AgentTimeout, Agent: "coder", Why: "got no answer to k7f3q9m2xd in #x within 5m0s"},
			`[TIMEOUT] coder got no answer to k7f3q9m2xd in #x within 5m0s.`},
		{journal.Notice{Word: journal.AgentError, Agent: "coder", Why: "is stopped: the key is wrong", Next: "To go on: claude-swarm start coder", Held: true},
			`[ERROR] coder is stopped: the key is wrong. To go on: claude-swarm start coder.`},
		{journal.Notice{Word: journal.LimitReached, Agent: "coder, tester", Why: "wait for the usage limit of their account", Next: "They go on by themselves at 14:00"},
			`[LIMIT] coder, tester wait for the usage limit of their account. They go on by themselves at 14:00.`},
		{journal.Notice{Word: journal.BudgetReached, Why: "has spent $16.00 of $20.00 today"},
			`[BUDGET] the swarm has spent $16.00 of $20.00 today.`},
		{journal.Notice{Word: journal.BudgetReached, Agent: "coder", Why: "has spent $8.00 of $8.00 today", Next: "reply k7f3q9m2xd more, stop or end", Held: true},
			`[BUDGET] coder has spent $8.00 of $8.00 today. Awaiting guidance. reply k7f3q9m2xd more, stop or end.`},
		{journal.Notice{Word: journal.ContextFull, Agent: "coder", Why: "has used 85 % of its context: 170,000 of 200,000 tokens", Next: "To make room: claude-swarm clear coder"},
			`[CONTEXT] coder has used 85 % of its context: 170,000 of 200,000 tokens. To make room: claude-swarm clear coder.`},
		{journal.Notice{Word: journal.DeadLetter, Agent: "coder", Task: "Paint the door", Why: "failed 3 times; last: no luck", Next: "To try again: claude-swarm dead retry k7f3q9m2xd"},
			`[DEAD] coder gave up "Paint the door": failed 3 times; last: no luck. To try again: claude-swarm dead retry k7f3q9m2xd.`},
		{journal.Notice{Word: journal.DeadLetter, Agent: "coder", Why: "it is no message"},
			`[DEAD] coder gave up a message: it is no message.`},
		{journal.Notice{Word: journal.Unpaused, Agent: "coder", Why: "its usage limit is over"},
			`[UNPAUSED] coder goes on: its usage limit is over.`},
		{journal.Notice{Word: "melted", Agent: "coder", Why: "is a puddle"}, `[MELTED] coder is a puddle.`},
	} {
		if got := row.of.Text(); got != row.want {
			t.Errorf("text of %s:\n%s, want\n%s", row.of.Word, got, row.want)
		}
	}
}

// Each word is known and has the documented severity.
func TestWordsOfNotices(t *testing.T) {
	got := map[journal.Severity][]journal.Word{}
	for _, w := range journal.Words() {
		if !w.Known() {
			t.Errorf("%s is not known", w)
		}
		got[w.Severity()] = append(got[w.Severity()], w)
	}
	want := map[journal.Severity][]journal.Word{
		journal.Info:    {journal.AgentQuestion, journal.AgentComplete, journal.Unpaused},
		journal.Warning: {journal.AgentSpiraling, journal.AgentTimeout, journal.LimitReached, journal.BudgetReached, journal.ContextFull},
		journal.Error:   {journal.AgentError, journal.DeadLetter},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("severities (-want +got):\n%s", diff)
	}
	if journal.Word("melted").Known() {
		t.Error("a word is known that nobody has defined")
	}
}

// The notice of an event is the same after encoding and decoding, and an event from an
// earlier version has no notice.
func TestNoticesOnTheList(t *testing.T) {
	var old journal.Event
	if err := json.Unmarshal([]byte(`{"v":1,"seq":7,"kind":"alert","key":"k"}`), &old); err != nil || old.Notice != nil || old.Word() != "" {
		t.Errorf("a line of an earlier version is %+v, %v", old, err)
	}
	ev := journal.Event{Kind: journal.Noticed, Key: "k", Notice: &journal.Notice{Word: journal.Unpaused, Agent: "coder", Why: "resumed by lead"}}
	data, err := json.Marshal(ev)
	if err != nil {
		t.Fatal(err)
	}
	var back journal.Event
	if err := json.Unmarshal(data, &back); err != nil || back.Word() != journal.Unpaused {
		t.Errorf("it came back as %+v, %v", back, err)
	}
	if diff := cmp.Diff(ev.Notice, back.Notice); diff != "" {
		t.Errorf("notice (-want +got):\n%s", diff)
	}
}
