package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

func TestChangedKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "claude-swarm.yaml")
	const before = "agents: {coder: {}}\nsupervisor: {model: small}\n"
	for after, want := range map[string][]string{
		before:                     {},
		"# a comment\n\n" + before: {},
		"agents: {coder: {model: large}, tester: {}}\nsupervisor: {model: small}\n": {},
		"agents: {coder: {}}\nsupervisor: {model: large}\n":                         {"supervisor"},
		"agents: {coder: {}}\n": {"supervisor"},
		before + "debounce: 2s\nwebhooks: [{name: ops, url: 'https://example.com/x'}]\nirc: {server: localhost}\n": {"debounce", "irc", "webhooks"},
	} {
		if got := config.ChangedKeys(loaded(t, path, before), loaded(t, path, after)); !slices.Equal(got, want) || got == nil {
			t.Errorf("%q: %q, want %q", after, got, want)
		}
	}
}

// Every setting of an agent counts, also one that another package enforces.
func TestChangedAgents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "claude-swarm.yaml")
	const before = "agents: {coder: {budget: {day: 0.03}}, tester: {}}\n"
	for after, want := range map[string][]string{
		before:                     nil,
		"# a comment\n\n" + before: nil,
		"agents: {coder: {budget: {day: 0.025}}, tester: {}}\n":                                               {"coder"},
		"agents: {coder: {budget: {day: 0.03}}, reviewer: {}}\n":                                              nil,
		"agents: {coder: {budget: {day: 0.03}}, tester: {}}\nbudget: {agent: {day: 4}}\n":                     {"tester"},
		"agents: {coder: {budget: {day: 0.03}}, tester: {}}\ndefaults: {role: worker}\n":                      {"coder", "tester"},
		"agents: {coder: {budget: {day: 0.03}}, tester: {hours: {work: \"mon-fri 08:00-20:00\"}}}\n":          {"tester"},
		"agents: {coder: {budget: {day: 0.03}}, tester: {tags: [go]}}\nsupervisor: {eval_interval: 7}\n":      {"tester"},
		"agents: {coder: {budget: {day: 0.03}}, tester: {env_drop: [TOKEN]}}\npolicy: {turns_per_hour: 12}\n": {"tester"},
	} {
		if got := config.ChangedAgents(loaded(t, path, before), loaded(t, path, after)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", after, got, want)
		}
	}
}

func loaded(t *testing.T, path, text string) *config.File {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
