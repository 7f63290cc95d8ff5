package journal_test

import (
	"fmt"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A receipt keeps the first hundred decisions that people may ask about, and the first hundred
// that a rule allowed, in their order. Only if it leaves some out does it say how many there were.
func TestAReceiptKeepsTheFirstDecisions(t *testing.T) {
	allowed := func(n int) (all []runner.Decision) {
		for i := range n {
			all = append(all, runner.Decision{Request: runner.PermissionRequest{Kind: "read", Paths: []string{fmt.Sprint(i)}}, Allowed: true, Rule: "read"})
		}
		return all
	}
	denied := func(n int) (all []runner.Decision) {
		for i := range n {
			all = append(all, runner.Decision{Request: runner.PermissionRequest{Kind: "execute", Command: fmt.Sprint(i)}, Rule: "execute"})
		}
		return all
	}
	for name, c := range map[string]struct {
		all           []runner.Decision
		kept, decided int
		last          string
	}{
		"none":                {},
		"one":                 {denied(1), 1, 0, "execute 0"},
		"as many as it keeps": {append(allowed(100), denied(100)...), 200, 0, "execute 99"},
		"one more":            {append(allowed(101), denied(1)...), 101, 102, "execute 0"},
		"many":                {append(denied(300), allowed(2)...), 102, 302, "read 1"},
	} {
		r := new(journal.Receipt)
		r.Decide(c.all)
		if len(r.Decisions) != c.kept || r.Decided != c.decided {
			t.Errorf("%s: %d are kept of %d, want %d of %d", name, len(r.Decisions), r.Decided, c.kept, c.decided)
		} else if c.kept > 0 && r.Decisions[c.kept-1].About() != c.last {
			t.Errorf("%s: the last is %q, want %q", name, r.Decisions[c.kept-1].About(), c.last)
		}
	}
}
