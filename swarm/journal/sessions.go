package journal

import (
	"fmt"

	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// A Session is an agent's conversation inside its CLI. A client can continue it only in
// the same working directory; in another one, it can continue a copy.
type Session struct {
	ID   string `json:"id"`
	Dir  string `json:"dir"`
	Used bool   `json:"used"` // a client reported that it has this session
	// Cleared is set if the previous conversation was cleared on purpose. If ID is empty,
	// the next turn begins a new conversation.
	Cleared bool `json:"cleared,omitempty"`
	// From is the session of which this one becomes a copy, and FromDir the folder in which that
	// one began. Both are empty once a client has reported this session.
	From    string `json:"from,omitempty"`
	FromDir string `json:"from_dir,omitempty"`
}

// Sessions stores the session of each agent durably in sessions.json, so that a turn
// after a restart continues the same conversation. It is safe for concurrent use.
type Sessions struct {
	doc *durable.Doc[sessionsFile]
}

type sessionsFile map[string]Session // by agent

// OpenSessions reads the file. If the error is a [*durable.DamagedError], the returned
// sessions are empty but usable.
func OpenSessions(home Home) (*Sessions, error) {
	doc, err := durable.OpenDoc[sessionsFile](home.files, home.sessionsFile(), durable.DocOptions{
		Lost: "each agent begins a new conversation", Next: "claude-swarm start, which sets it aside",
	})
	if err != nil {
		err = fmt.Errorf("sessions: %w", err)
	}
	return &Sessions{doc}, err
}

func (s *Sessions) Get(agent string) (Session, bool) {
	got, ok := s.doc.Get()[agent]
	return got, ok
}

// Set replaces an agent's session. If the file cannot be written, the agent keeps the old
// one, because a session that is not durable must not be used.
func (s *Sessions) Set(agent string, to Session) error {
	return s.doc.Change(func(of *sessionsFile) bool {
		if (*of)[agent] == to {
			return false
		}
		(*of)[agent] = to
		return true
	})
}

// Restore writes the sessions if their file is missing.
func (s *Sessions) Restore() error { return s.doc.Restore() }

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
