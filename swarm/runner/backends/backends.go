// Package backends lists the kinds of client programs that this version runs. It is the
// one place that names them all: the daemon runs turns by the list, and the configuration
// and doctor ask it what each kind knows.
package backends

import (
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// New makes a backend of each kind, by its name.
func New() map[string]runner.Backend {
	all := make(map[string]runner.Backend)
	for _, b := range []runner.Backend{
		claude.New(claude.Options{}),
	} {
		all[b.Kind().Name] = b
	}
	return all
}

// Kinds are all kinds. The first is the one of an agent for which nobody names another.
func Kinds() []*runner.Kind { return []*runner.Kind{claude.Kind()} }

// Kind finds a kind by its name, where "" is the first; nil when there is none of that name.
func Kind(name string) *runner.Kind {
	for _, k := range Kinds() {
		if k.Name == name || name == "" {
			return k
		}
	}
	return nil
}
