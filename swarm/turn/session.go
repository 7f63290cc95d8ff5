package turn

import (
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// planSession chooses the session of an agent's next turn, and saves it before the client
// can use it. A client that cannot resume sessions gets a new session each time.
func planSession(all *journal.Sessions, kind *runner.Kind, agent string, s Settings) (runner.Session, error) {
	got, ok := all.Get(agent)
	switch {
	case s.Session == SessionFresh || !kind.Resumes:
		return freshSession(all, agent, s)
	case s.Session == SessionContinue && !got.Cleared:
		return runner.Session{How: runner.Continue}, nil
	}
	if s.Moves && kind.Forks && ok {
		if fork, ok := forkOf(got, s.Client.Dir); ok {
			return runner.Session{ID: fork.ID, How: runner.Fork, From: fork.From}, all.Set(agent, fork)
		}
	}
	if !ok || got.ID == "" || got.Dir != s.Client.Dir {
		return freshSession(all, agent, s)
	}
	if got.Used {
		return runner.Session{ID: got.ID, How: runner.Resume}, nil
	}
	return runner.Session{ID: got.ID, How: runner.New}, nil
}

// forkOf returns the session that carries a conversation into another folder, if it must be
// carried. If a client was to carry it and never reported that it did, it is tried again.
func forkOf(was journal.Session, dir string) (fork journal.Session, ok bool) {
	switch {
	case was.Used && was.Dir != dir:
		return journal.Session{ID: journal.RandomUUID(), Dir: dir, From: was.ID, FromDir: was.Dir}, true
	case !was.Used && was.From != "" && was.FromDir != dir:
		return journal.Session{ID: journal.RandomUUID(), Dir: dir, From: was.From, FromDir: was.FromDir}, true
	}
	return journal.Session{}, false
}

// freshSession begins a new session.
func freshSession(all *journal.Sessions, agent string, s Settings) (runner.Session, error) {
	was, _ := all.Get(agent)
	to := journal.Session{ID: journal.RandomUUID(), Dir: s.Client.Dir, Cleared: was.Cleared}
	if err := all.Set(agent, to); err != nil {
		return runner.Session{}, err
	}
	return runner.Session{ID: to.ID, How: runner.New}, nil
}
