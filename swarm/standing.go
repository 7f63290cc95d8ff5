package swarm

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// A standing is what must be known of an agent after a restart of the daemon:
// who paused or stopped it, and how its last turns failed.
type standing struct {
	Paused   *pause    `json:"paused,omitempty"`
	Stopped  *stop     `json:"stopped,omitempty"`
	Failures []Failure `json:"failures,omitempty"` // since the last good turn, at most maxFailureMemory
	Until    time.Time `json:"backoff_until,omitzero"`
	Why      string    `json:"backoff_why,omitempty"`
	Order    *order    `json:"order,omitempty"` // what is to be done before the next message
	Word     time.Time `json:"word,omitzero"`   // when a person began the count of its turns again
	Doubt    *doubt    `json:"doubt,omitempty"` // a message that is parked for an unknown cause
}

// A doubt is a message whose turns end Limited for a cause that the client does not
// name: it may be the message's fault.
type doubt struct {
	Message string    `json:"message"`
	Since   time.Time `json:"since"`
}

// maxFailureMemory bounds the remembered failures of an agent; more than enough
// for every rule of [RestartPolicy.Decide].
const maxFailureMemory = 20

type pause struct {
	By    string    `json:"by"`
	Why   string    `json:"why,omitempty"`
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"`  // zero: until somebody resumes it
	Turns bool      `json:"turns,omitempty"` // it began too many turns: only a person lets it go on
}

// holds tells whether it is a pause that has not ended by itself.
func (p *pause) holds(now time.Time) bool {
	return p != nil && (p.Until.IsZero() || p.Until.After(now))
}

type stop struct {
	By      string    `json:"by"`
	Why     string    `json:"why,omitempty"`
	Hint    string    `json:"hint,omitempty"`
	Since   time.Time `json:"since"`
	Breaker bool      `json:"breaker,omitempty"` // not by hand
}

// standings keeps the standing of every agent and the limits of every account,
// durably in state.json. It is safe for several goroutines.
type standings struct {
	path  string
	files durable.Files
	mu    sync.Mutex
	file  standingsFile
	stale bool // the last change could not be written down
}

type standingsFile struct {
	V      int                 `json:"v"`
	Agents map[string]standing `json:"agents"`
	Limits map[string]limit    `json:"limits,omitempty"`
}

func openStandings(home Home) (*standings, error) {
	s := &standings{path: home.stateFile(), files: home.files}
	err := readJSON(s.path, &s.file)
	if e, ok := errors.AsType[*DamagedError](err); ok {
		e.Lost = "it is not known who was paused or stopped"
		e.Next = fmt.Sprintf("mv %s %s, claude-swarm start, and pause or stop again who was", screen.ShellWord(s.path), screen.ShellWord(e.aside()))
		return nil, e
	} else if err != nil {
		return nil, fmt.Errorf("what was paused and stopped: %w", err)
	}
	if s.file.Agents == nil {
		s.file.Agents = map[string]standing{}
	}
	if s.file.Limits == nil {
		s.file.Limits = map[string]limit{}
	}
	for name, st := range s.file.Agents {
		if time.Since(st.Word) > countedFor { // what it began before does not count any more
			st.Word = time.Time{}
			s.file.Agents[name] = st
		}
	}
	return s, nil
}

// of returns the standing of an agent. What it points to must not be changed.
func (s *standings) of(agent string) standing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file.Agents[agent]
}

// change lets f change an agent's standing and writes it down. f must set new
// values, not change what the old ones point to.
func (s *standings) change(agent string, f func(*standing)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.file.Agents[agent]
	was := st
	f(&st)
	if was.empty() && st.empty() && !s.stale {
		return nil // as after every good turn
	}
	s.file.Agents[agent] = st
	if st.empty() {
		delete(s.file.Agents, agent)
	}
	return s.write()
}

func (st standing) empty() bool {
	return st.Paused == nil && st.Stopped == nil && len(st.Failures) == 0 && st.Until.IsZero() && st.Order == nil && st.Word.IsZero() && st.Doubt == nil
}

// catchUp writes down what could not be written when it changed.
func (s *standings) catchUp() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stale {
		return nil
	}
	return s.write()
}

func (s *standings) write() error {
	s.file.V = 1
	err := s.files.WriteJSON(s.path, standingsFile{V: 1, Agents: maps.Clone(s.file.Agents), Limits: s.file.Limits})
	s.stale = err != nil
	if err != nil {
		return fmt.Errorf("write what was paused and stopped: %w", err)
	}
	return nil
}
