package budget

import (
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Find returns the scope with the name that a person typed, with or without the suffix
// ".day" or the prefix "task.". agents lists the names of all agents. The error is an
// [*UnknownScopeError].
func (b *Book) Find(name string, agents []string) (Scope, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	whole := strings.TrimSuffix(name, day)
	if whole == string(KindSwarm) {
		return Scope{Kind: KindSwarm}, nil
	} else if slices.Contains(agents, whole) {
		return Scope{KindAgent, whole}, nil
	}
	s, ok := ScopeNamed(name)
	if !ok {
		s = Scope{KindTask, name}
	}
	if b.knows(s) {
		return s, nil
	}
	near := []string{Scope{Kind: KindSwarm}.String()}
	for _, agent := range agents {
		near = append(near, Scope{KindAgent, agent}.String())
	}
	for _, s := range b.tasks() {
		near = append(near, s.String())
	}
	meant := dropbox.Nearest(name, near)
	if len(meant) == 0 { // corder.day is closer to coder.day than the misspelled name corder is
		meant = dropbox.Nearest(whole+day, near)
	}
	return Scope{}, &UnknownScopeError{Name: name, Near: meant}
}

// knows reports whether the scope is a task that is running or has spent something, or a
// message whose last turn did not end well. The caller holds the mutex.
func (b *Book) knows(s Scope) bool {
	switch s.Kind {
	case KindTask:
		if b.spent.tasks[s.Name] != nil {
			return true
		}
		for r := range b.open {
			if r.Trace == s.Name {
				return true
			}
		}
	case KindTurn:
		return b.spent.agents[s.Name] != ""
	}
	return false
}
