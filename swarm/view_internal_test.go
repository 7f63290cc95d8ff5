package swarm

import "testing"

// A client that has ended has no pid, also while its turn is still written down.
func TestNoProcessHasNoPID(t *testing.T) {
	v := new(view)
	v.process(7)
	if v.s.PID == nil || *v.s.PID != 7 {
		t.Fatalf("pid = %v, want 7", v.s.PID)
	}
	if v.process(0); v.s.PID != nil {
		t.Errorf("pid = %d, want none", *v.s.PID)
	}
}
