package swarm

import (
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// planSession says with which session the next turn of an agent runs, and writes it
// down before the client can know of it.
func planSession(s *sessions, agent string, spec Spec) (runner.Session, error) {
	got, ok := s.get(agent)
	switch {
	case spec.Session == SessionFresh:
		return freshSession(s, agent, spec)
	case spec.Session == SessionContinue && !got.Cleared:
		return runner.Session{How: runner.Continue}, nil
	}
	if !ok || got.ID == "" || got.Dir != spec.Client.Dir {
		return freshSession(s, agent, spec)
	}
	if got.Used {
		return runner.Session{ID: got.ID, How: runner.Resume}, nil
	}
	return runner.Session{ID: got.ID, How: runner.New}, nil
}

// freshSession begins a new session.
func freshSession(s *sessions, agent string, spec Spec) (runner.Session, error) {
	was, _ := s.get(agent)
	to := session{ID: randomUUID(), Dir: spec.Client.Dir, Cleared: was.Cleared}
	if err := s.set(agent, to); err != nil {
		return runner.Session{}, err
	}
	return runner.Session{ID: to.ID, How: runner.New}, nil
}
