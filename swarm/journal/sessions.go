package journal

import (
	"errors"
	"fmt"
	"sync"

	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// A Session is an agent's conversation inside its CLI. A client can continue it only in
// the same working directory.
type Session struct {
	ID   string `json:"id"`
	Dir  string `json:"dir"`
	Used bool   `json:"used"` // a client reported that it has this session
	// Cleared is set if the previous conversation was cleared on purpose. If ID is empty,
	// the next turn begins a new conversation.
	Cleared bool `json:"cleared,omitempty"`
}

// Sessions stores the session of each agent durably in sessions.json, so that a turn
// after a restart continues the same conversation. It is safe for concurrent use.
type Sessions struct {
	path  string
	files durable.Files
	mu    sync.Mutex
	of    map[string]Session
}

// OpenSessions reads the file. If the error is a [*durable.DamagedError], the returned sessions
// are empty but usable.
func OpenSessions(home Home) (*Sessions, error) {
	s := &Sessions{path: home.sessionsFile(), files: home.files}
	err := durable.ReadJSON(s.path, &s.of)
	if e, ok := errors.AsType[*durable.DamagedError](err); ok {
		e.Lost, e.Next = "each agent begins a new conversation", "claude-swarm start, which sets it aside"
		s.of = map[string]Session{}
		return s, e
	} else if err != nil {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	if s.of == nil { // the file is missing or contains null
		s.of = map[string]Session{}
	}
	return s, nil
}

func (s *Sessions) Get(agent string) (Session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	got, ok := s.of[agent]
	return got, ok
}

func (s *Sessions) Set(agent string, to Session) error {
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
	case had: // a session that is not durable must not be used
		s.of[agent] = was
	default:
		delete(s.of, agent)
	}
	return err
}

// Learned records the session that a client reported. The session keeps the folder that
// was planned for it, because the settings may have changed in the meantime.
func (s *Sessions) Learned(agent, id string) error {
	planned, _ := s.Get(agent)
	return s.Set(agent, Session{ID: id, Dir: planned.Dir, Used: true})
}

// Clear drops the conversation, so that the next turn begins a new one.
func (s *Sessions) Clear(agent string) error { return s.Set(agent, Session{Cleared: true}) }

// IsCleared reports whether Clear was called and no client has reported a session since
// then.
func (s *Sessions) IsCleared(agent string) bool {
	got, _ := s.Get(agent)
	return got.Cleared
}
