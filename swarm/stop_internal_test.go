package swarm

import "testing"

// Only a wait that closes a cycle is refused. Cancelled waits, and waits by turns that
// have ended, do not count.
func TestWaits(t *testing.T) {
	var w waits
	coder, reviewer := make(chan struct{}), make(chan struct{})
	begin := func(who string, turn chan struct{}, whom string, want bool) func() {
		t.Helper()
		end, ok := w.begin(who, turn, whom)
		if ok != want {
			t.Fatalf("%s waits for %s = %v, want %v", who, whom, ok, want)
		}
		return end
	}
	begin("coder", coder, "coder", false)
	first := begin("coder", coder, "reviewer", true)
	second := begin("coder", coder, "reviewer", true)
	begin("reviewer", reviewer, "tester", true)
	begin("tester", make(chan struct{}), "coder", false)
	begin("tester", make(chan struct{}), "writer", true)
	begin("coder", coder, "tester", true)
	begin("lead", nil, "coder", true) // a person may always wait
	begin("reviewer", reviewer, "lead", true)
	first()
	begin("reviewer", reviewer, "coder", false)
	second()
	begin("reviewer", reviewer, "coder", true)
	begin("coder", coder, "reviewer", false)
	close(reviewer)
	begin("coder", coder, "reviewer", true)
}
