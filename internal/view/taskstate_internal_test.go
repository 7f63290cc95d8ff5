package view

import "testing"

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
