package swarm

import (
	"errors"
	"fmt"
	"sync"

	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// A session is the conversation of an agent inside its CLI. It can be taken up
// from the same folder only.
type session struct {
	ID   string `json:"id"`
	Dir  string `json:"dir"`
	Used bool   `json:"used"` // a client has said that it has this session
	// Cleared says that the conversation before this one was let go on purpose. With
	// no ID the next turn begins another.
	Cleared bool `json:"cleared,omitempty"`
}

// sessions remembers the session of each agent, durably in sessions.json, so
// that a turn after a restart continues the same conversation. It is safe for
// several goroutines.
type sessions struct {
	path  string
	files durable.Files
	mu    sync.Mutex
	of    map[string]session
}

// openSessions reads the file. A [*DamagedError] comes with sessions that can be used: no
// agent has one.
func openSessions(home Home) (*sessions, error) {
	s := &sessions{path: home.sessionsFile(), files: home.files}
	err := readJSON(s.path, &s.of)
	if e, ok := errors.AsType[*DamagedError](err); ok {
		e.Lost, e.Next = "each agent begins a new conversation", "claude-swarm start, which sets it aside"
		s.of = map[string]session{}
		return s, e
	} else if err != nil {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	if s.of == nil { // the file says null
		s.of = map[string]session{}
	}
	return s, nil
}

func (s *sessions) get(agent string) (session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	got, ok := s.of[agent]
	return got, ok
}

func (s *sessions) set(agent string, to session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	was, had := s.of[agent]
	if was == to {
		return nil
	}
	s.of[agent] = to
	err := s.files.WriteJSON(s.path, s.of)
	switch {
	case err == nil:
	case had: // a session that is not durable must not be begun
		s.of[agent] = was
	default:
		delete(s.of, agent)
	}
	return err
}

// learned notes the session that a client said it has, in the folder for which
// it was planned: the settings may have changed since.
func (s *sessions) learned(agent, id string) error {
	planned, _ := s.get(agent)
	return s.set(agent, session{ID: id, Dir: planned.Dir, Used: true})
}

// clear lets the conversation go: the next turn begins another.
func (s *sessions) clear(agent string) error { return s.set(agent, session{Cleared: true}) }

// isCleared tells whether no turn has begun since.
func (s *sessions) isCleared(agent string) bool {
	got, _ := s.get(agent)
	return got.Cleared
}
