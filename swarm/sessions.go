package swarm

import (
	"crypto/rand"
	"crypto/sha1"
	"errors"
	"fmt"
	"sync"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
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

// openSessions reads the file. With a [*DamagedError] it returns what can be used all
// the same: no sessions.
func openSessions(path string) (*sessions, error) {
	s := &sessions{path: path, of: map[string]session{}}
	err := readJSON(path, &s.of)
	if e, ok := errors.AsType[*DamagedError](err); ok {
		e.Lost, e.Next = "each agent begins a new conversation", "claude-swarm start, which sets it aside"
		return &sessions{path: path, of: map[string]session{}}, e
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

// plan says with which session the next turn of an agent runs, and writes it
// down before the client can know of it.
func (s *sessions) plan(agent string, spec Spec) (runner.Session, error) {
	got, ok := s.get(agent)
	switch {
	case spec.Session == SessionFresh:
		return s.fresh(agent, spec)
	case spec.Session == SessionContinue && !got.Cleared:
		return runner.Session{How: runner.Continue}, nil
	}
	if !ok || got.ID == "" || got.Dir != spec.Client.Dir {
		return s.fresh(agent, spec)
	}
	if got.Used {
		return runner.Session{ID: got.ID, How: runner.Resume}, nil
	}
	return runner.Session{ID: got.ID, How: runner.New}, nil
}

// fresh begins a new session.
func (s *sessions) fresh(agent string, spec Spec) (runner.Session, error) {
	was, _ := s.get(agent)
	to := session{ID: randomUUID(), Dir: spec.Client.Dir, Cleared: was.Cleared}
	if err := s.set(agent, to); err != nil {
		return runner.Session{}, err
	}
	return runner.Session{ID: to.ID, How: runner.New}, nil
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

func randomUUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return formatUUID(b, 4)
}

// promptSpace is the name space of the prompts' UUIDs.
var promptSpace = [16]byte{0x9d, 0x2c, 0x11, 0x5e, 0x4b, 0x8a, 0x4c, 0x0f, 0x8f, 0x21, 0x6a, 0x37, 0xc4, 0x90, 0x5d, 0xe2}

// promptUUID is the version 5 UUID (RFC 9562) of one attempt at a message. The
// CLI runs a prompt with a UUID that it knows only once, even in a later
// process; so each attempt has its own, and sending a line twice within one
// attempt is harmless.
func promptUUID(turn string) string {
	h := sha1.New()
	h.Write(promptSpace[:])
	h.Write([]byte(turn))
	return formatUUID([16]byte(h.Sum(nil)[:16]), 5)
}

func formatUUID(b [16]byte, version byte) string {
	b[6] = b[6]&0x0f | version<<4
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
