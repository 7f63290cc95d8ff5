package notice_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// The status shows at most fifty complaints. A known one can still change, and one that ends
// makes room for another.
func TestTheStatusShowsFiftyComplaints(t *testing.T) {
	var tr notice.Trouble
	for n := range 60 {
		tr.Set(fmt.Sprintf("%02d", n), "first")
	}
	if n := len(tr.List()); n != 50 {
		t.Errorf("%d complaints, want 50", n)
	}
	tr.Set("00", "second")
	if got := tr.List()[0]; got != "second" {
		t.Errorf("a known complaint says %q", got)
	}
	tr.Clear("01")
	tr.Set("60", "another")
	if got := tr.List(); len(got) != 50 || got[49] != "another" {
		t.Errorf("%d complaints, the last is %q", len(got), got[len(got)-1])
	}
}

// A complaint with a remedy stays until the remedy succeeds.
func TestAComplaintStaysUntilItIsMended(t *testing.T) {
	var tr notice.Trouble
	err := errors.New("the disk is full")
	tr.Until("disk", "the disk is full", func() error { return err })
	tr.Set("other", "something else")
	tr.Mend()
	if n := len(tr.List()); n != 2 {
		t.Errorf("%d complaints, want 2", n)
	}
	err = nil
	tr.Mend()
	if got := tr.List(); len(got) != 1 || got[0] != "something else" {
		t.Errorf("the status says %q", got)
	}
}
