package view

import (
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// The first state for which there is a fact wins.
func TestStateOfATask(t *testing.T) {
	parts := func(states ...TaskState) (f taskFacts) {
		for _, s := range states {
			f.parts = append(f.parts, TaskPart{State: s})
		}
		return f
	}
	denied := parts()
	denied.denied = true
	for name, tc := range map[string]struct {
		facts taskFacts
		want  TaskState
		open  bool
	}{
		"nothing is left":                     {parts(), TaskUnverified, false},
		"waits, and a turn works":             {parts(TaskWaiting, TaskWorking), TaskWorking, true},
		"a person's answer comes first":       {parts(TaskWorking, TaskAsking), TaskAsking, true},
		"one waits for money, one for a turn": {parts(TaskWaiting, TaskParked), TaskParked, true},
		"a part was given up, another waits":  {parts(TaskFailed, TaskWaiting), TaskWaiting, true},
		"a part was given up":                 {parts(TaskFailed), TaskFailed, false},
		"what was asked was given up":         {parts(TaskFailed, TaskGivenUp), TaskGivenUp, false},
		"nothing was permitted":               {denied, TaskFailed, false},
		"the verifiers are green":             {taskFacts{word: "verified"}, TaskVerified, false},
		"the verifiers are red":               {taskFacts{word: "failed"}, TaskFailed, false},
		"it was merged":                       {taskFacts{word: "unverified", merged: true}, TaskMerged, false},
		"it was merged, and goes on":          {taskFacts{parts: parts(TaskWaiting).parts, merged: true}, TaskWaiting, true},
	} {
		got := tc.facts.state()
		if got != tc.want || got.IsOpen() != tc.open {
			t.Errorf("%s: %s, open %t; want %s, %t", name, got, got.IsOpen(), tc.want, tc.open)
		}
	}
}

// The proof of a task is the word of its verifiers. An open task and one that was given up have
// none.
func TestProofOfATask(t *testing.T) {
	for name, tc := range map[string]struct {
		facts taskFacts
		want  string
	}{
		"without verifiers": {taskFacts{}, "unverified"},
		"green":             {taskFacts{word: "verified"}, "verified"},
		"green and merged":  {taskFacts{word: "verified", merged: true}, "verified"},
		"red":               {taskFacts{word: "failed"}, "failed"},
		"denied":            {taskFacts{denied: true}, ""},
		"given up":          {taskFacts{word: "verified", parts: []TaskPart{{State: TaskGivenUp}}}, ""},
		"open":              {taskFacts{word: "verified", parts: []TaskPart{{State: TaskWaiting}}}, ""},
	} {
		if got := tc.facts.verified(); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// The proof belongs to the newest commit with a proof.
func TestWhichTurnProvesATask(t *testing.T) {
	line := func(branch, commit, word string) journal.LedgerLine {
		return journal.LedgerLine{Branch: branch, Commit: commit, Verified: word}
	}
	for name, tc := range map[string]struct {
		lines        []journal.LedgerLine
		commit, word string
	}{
		"red, then nothing was committed":      {[]journal.LedgerLine{line("a", "1", "failed"), line("a", "1", "unverified")}, "1", "failed"},
		"red, then the verifier became green":  {[]journal.LedgerLine{line("a", "1", "failed"), line("a", "1", "verified")}, "1", "verified"},
		"green, then a commit without verdict": {[]journal.LedgerLine{line("a", "1", "verified"), line("a", "2", "unverified")}, "2", "unverified"},
		"green, then a reviewer":               {[]journal.LedgerLine{line("a", "1", "verified"), line("b", "1", "")}, "1", "verified"},
		"green, then a turn without a tree":    {[]journal.LedgerLine{line("a", "1", "verified"), line("", "", "")}, "1", "verified"},
		"a reviewer, then green":               {[]journal.LedgerLine{line("b", "1", ""), line("a", "2", "verified")}, "2", "verified"},
	} {
		var got taskTrace
		for _, l := range tc.lines {
			got.judged(l)
		}
		if got.commit != tc.commit || got.word != tc.word {
			t.Errorf("%s: %s at %s, want %s at %s", name, got.word, got.commit, tc.word, tc.commit)
		}
	}
}
