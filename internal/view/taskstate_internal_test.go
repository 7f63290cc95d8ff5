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
	} {
		got := tc.facts.state()
		if got != tc.want || got.IsOpen() != tc.open {
			t.Errorf("%s: %s, open %t; want %s, %t", name, got, got.IsOpen(), tc.want, tc.open)
		}
		if proof := got.verified(); (proof == "unverified") != (got == TaskUnverified) {
			t.Errorf("%s: verified %q", name, proof)
		}
	}
}
