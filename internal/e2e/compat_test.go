package e2e_test

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/compat"
)

// A person tests the client: every fact holds in a form that was recorded. The client runs
// outside of a network namespace, with the person's PATH, and finds no settings of the person.
func TestAPersonTestsTheClient(t *testing.T) {
	p := newProject(t, `{"replies":[]}`, "  coder: {role: coder}\n")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "compat", "--json")
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("compat: %v\n%s", err, out)
	}
	var r compat.Result
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	for _, a := range r.Answers {
		if a.State != compat.Yes {
			t.Errorf("%s: %s: %s\n%s", a.State, a.Claim, a.Text, strings.Join(compat.Difference(a.Known, a.Shape), "\n"))
		}
	}
	if len(r.Answers) != len(compat.Facts()) || r.Version == "" {
		t.Errorf("compat answered %d of %d facts for version %q", len(r.Answers), len(compat.Facts()), r.Version)
	}
	if asked := p.requests(); len(asked) != 0 {
		t.Errorf("the project's API got %d requests", len(asked))
	}
}
