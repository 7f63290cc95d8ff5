package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// An agent names verifiers that exist, and works in a working tree.
func TestVerify(t *testing.T) {
	const verifiers = "verifiers: {test: {run: make test, run_in: [./box, -n]}, lint: {run: make lint, timeout: 1m}}\n"
	f := parse(t, verifiers+"defaults: {worktree: task}\nagents: {coder: {verify: [test, lint]}}\n")
	coder, _ := f.Agent("coder")
	test := f.Verifiers["test"]
	if !slices.Equal(coder.Verify, []string{"test", "lint"}) || test.Run != "make test" || test.Timeout.Minutes() != 10 || !slices.Equal(test.RunIn, []string{"/project/box", "-n"}) {
		t.Errorf("verify is %q, the verifier %+v", coder.Verify, test)
	}
	for text, want := range map[string]string{
		verifiers + "agents: {coder: {worktree: task, verify: [tests]}}\n": "there is no verifier tests; did you mean test?",
		"agents: {coder: {worktree: task, verify: [test]}}\n":              "there is no verifier test",
		verifiers + "agents: {coder: {verify: [test]}}\n":                  "coder works in no working tree, so there is no commit to verify",
		"verifiers: {test: {timeout: 1m}}\nagents: {coder: }\n":            "verifiers.test: the command line is missing",
		"verifiers: {test: make test}\nagents: {coder: }\n":                "want keys with values, got text",
		"verifiers: {Test: {run: x}}\nagents: {coder: }\n":                 `"Test" cannot name a verifier`,
		"protect: [../x]\nagents: {coder: }\n":                             `"../x" is not a pattern`,
	} {
		_, err := config.Parse("/project/claude-swarm.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A command that is new or changed is a right that grows.
func TestGrownVerifiers(t *testing.T) {
	old := parse(t, "verifiers: {test: {run: make test}}\nprotect: [ci/]\nagents: {coder: }\n")
	new := parse(t, "verifiers: {test: {run: make tests}, lint: {run: make lint}}\nagents: {coder: }\n")
	want := []string{"verifiers.lint none → make lint", "verifiers.test make test → make tests", "protect - ci/"}
	if got := config.Grown(&old, &new); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
