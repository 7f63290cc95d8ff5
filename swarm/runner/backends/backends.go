// Package backends lists the kinds of client programs that this version runs. Only this
// package names all kinds. The daemon runs turns with the backends in the list, and the
// configuration and doctor read from the list what each kind can do.
package backends

import (
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/acp"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// New makes a backend of each kind, by name.
func New() map[string]runner.Backend {
	all := map[string]runner.Backend{claude.Kind().Name: claude.New(claude.Options{})}
	for _, c := range acp.Clients() {
		all[c.Kind.Name] = acp.New(acp.Options{Client: c})
	}
	return all
}

// Kinds returns all kinds of clients. The first one is the default of an agent.
func Kinds() []*runner.Kind {
	kinds := []*runner.Kind{claude.Kind()}
	for _, c := range acp.Clients() {
		kinds = append(kinds, &c.Kind)
	}
	return kinds
}

// Kind returns the kind with that name, where "" means the first kind. It returns nil for
// an unknown name.
func Kind(name string) *runner.Kind {
	for _, k := range Kinds() {
		if k.Name == name || name == "" {
			return k
		}
	}
	return nil
}
