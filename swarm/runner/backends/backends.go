// Package backends lists the kinds of client programs that this version runs. No other
// package names all kinds. The daemon runs turns with the listed backends, and the
// configuration and the doctor command use the list to find out what each kind supports.
package backends

import (
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/acp"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// New creates a backend for each kind and returns them by name.
func New() map[string]runner.Backend {
	all := map[string]runner.Backend{claude.Kind().Name: claude.New(claude.Options{})}
	for _, c := range acp.Clients() {
		all[c.Kind.Name] = acp.New(acp.Options{Client: c})
	}
	return all
}

// Kinds returns all kinds of clients. The first one is the default for agents.
func Kinds() []*runner.Kind {
	kinds := []*runner.Kind{claude.Kind()}
	for _, c := range acp.Clients() {
		kinds = append(kinds, &c.Kind)
	}
	return kinds
}

// Kind returns the kind with the given name, or the first kind if name is "". It returns
// nil if the name is unknown.
func Kind(name string) *runner.Kind {
	for _, k := range Kinds() {
		if k.Name == name || name == "" {
			return k
		}
	}
	return nil
}
