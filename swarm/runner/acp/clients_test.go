package acp_test

import (
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acptest"
	"github.com/claude-swarm/claude-swarm/swarm/runner/acp"
)

// TestTestedVersionsAreThoseOfTheTests checks that the Tested version of each client is
// the one installed for the tests.
func TestTestedVersionsAreThoseOfTheTests(t *testing.T) {
	tested := map[string]*acp.Client{}
	for _, c := range acp.Clients() {
		if c.Tested != "" {
			tested[c.Kind.Name] = c
		}
	}
	for _, c := range acptest.Clients {
		row := tested[c.Name]
		if row == nil {
			t.Errorf("%s is installed for the tests and no row names a tested version", c.Name)
			continue
		}
		if want := "npm install -g " + c.Package + "@" + c.Version; row.Kind.Version.Install != want {
			t.Errorf("%s is installed with %q, the tests use %q", c.Name, row.Kind.Version.Install, want)
		}
		if got := row.Kind.Command[0]; got != c.Program {
			t.Errorf("the program of %s is %q, the tests start %q", c.Name, got, c.Program)
		}
		delete(tested, c.Name)
	}
	for name := range tested {
		t.Errorf("no test installs %s", name)
	}
}
