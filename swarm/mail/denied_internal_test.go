package mail

import (
	"fmt"
	"slices"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// If an agent's calls are denied again and again, they must not fill up its receipt or
// its answer.
func TestDenialsAreBounded(t *testing.T) {
	refused := func(n int) (out runner.Outcome) {
		for i := range n {
			out.Denied = append(out.Denied, runner.Denial{Tool: "Bash", Input: fmt.Appendf(nil, `{"command":"rm %d"}`, i)})
		}
		return out
	}
	asked := refused(maxDenied)
	asked.Decisions = append(asked.Decisions, runner.Decision{Request: runner.PermissionRequest{Kind: "execute", Command: "make"}})
	for _, c := range []struct {
		name  string
		out   runner.Outcome
		lines int
		last  string
	}{
		{"none", runner.Outcome{}, 0, ""},
		{"at the bound", refused(maxDenied), maxDenied, `Bash {"command":"rm 49"}`},
		{"one above it", refused(maxDenied + 1), maxDenied, "and 2 more"},
		{"far above it", refused(5000), maxDenied, "and 4951 more"},
		{"a call that the client asked about", asked, maxDenied, "and 2 more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := denials(c.out)
			if len(got) != c.lines {
				t.Fatalf("%d lines, want %d", len(got), c.lines)
			}
			if c.lines > 0 && got[c.lines-1] != c.last {
				t.Errorf("the last line is %q, want %q", got[c.lines-1], c.last)
			}
			if unique := slices.Compact(slices.Sorted(slices.Values(got))); len(unique) != len(got) {
				t.Errorf("%d of %d lines differ", len(unique), len(got))
			}
		})
	}
}
