package backends_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acptest"
)

// dependencies are what the rows of a client depend on: the backend, the tests, and the
// list of clients.
var dependencies = []string{
	"swarm/runner", "internal/e2e/backends", "internal/testkit/acptest", "internal/testkit/models", "go.mod",
	":!" + provenFile,
}

const provenFile = "internal/testkit/acptest/proven.txt"

// provenAt returns the commit at which the rows of a client passed, or "" if the client or
// anything else that they depend on has changed since then.
func provenAt(t *testing.T, c acptest.Client) (commit string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository, provenFile))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		if len(words) == 3 && words[0] == c.Name && words[1] == c.Version {
			commit = words[2]
		}
	}
	if commit == "" {
		return ""
	}
	// git fails if it does not know the commit, for example in a shallow clone.
	diff := exec.CommandContext(t.Context(), "git", append([]string{"-C", repository, "diff", "--quiet", commit, "--"}, dependencies...)...)
	if out, err := diff.CombinedOutput(); err != nil {
		t.Logf("something has changed since %s: %v %s", commit, err, out)
		return ""
	}
	return commit
}

// allPassed reports whether a client's rows, by name, have the results that the list of
// exceptions names. All rows that an agent needs must have run.
func allPassed(rows map[string]string) bool {
	for _, r := range acptest.Rows {
		if result, ran := rows[r.Name]; result == "FAILED" || !ran && !r.Full {
			return false
		}
	}
	return true
}

// writeProven records the current commit for each client whose rows all have the result
// that the list of exceptions names. The source must be committed.
func writeProven() error {
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", repository}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	changes, err := git(append([]string{"status", "--porcelain", "--"}, dependencies...)...)
	if err != nil {
		return fmt.Errorf("git status: %w", err)
	} else if changes != "" {
		return fmt.Errorf("%s is not written, because the source has changes that are not committed:\n%s", provenFile, changes)
	}
	commit, err := git("rev-parse", "HEAD")
	if err != nil {
		return fmt.Errorf("git rev-parse: %w", err)
	}
	path := filepath.Join(repository, provenFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := slices.Collect(strings.Lines(string(data)))
	for _, c := range acptest.Clients {
		if !allPassed(results.of[c.Name]) {
			continue
		}
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, c.Name+" ") })
		lines = append(lines, fmt.Sprintf("%s %s %s\n", c.Name, c.Version, commit))
	}
	return os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644)
}
