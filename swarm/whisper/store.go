package whisper

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A Whisper is a line of text from the supervisor to an agent. No other agent sees it.
//
//	waiting --Give--> given to a turn --Shown--> shown
//	   ^                     |
//	   +------TakeBack-------+   the turn ended, and its client had not read it
type Whisper struct {
	// Key identifies the verdict, so that a daemon that reads a turn's events a second
	// time does not repeat the turn's whispers.
	Key   string    `json:"key"`
	At    time.Time `json:"at"`
	About string    `json:"about,omitempty"` // the turn that the verdict is about
	Type  string    `json:"type"`            // CORRECTION, THINK_DEEPER or ESCALATION
	Text  string    `json:"text"`            // one line

	Turn  string    `json:"turn,omitempty"` // the turn to which it was given; "" while it is waiting
	UUID  string    `json:"uuid,omitempty"` // UUID of the line that delivered it to the running turn
	Way   Way       `json:"way,omitempty"`  // how it was given
	Shown time.Time `json:"shown,omitzero"` // when the agent's client read it; zero if the client has not yet read it

	lent bool // a connection is writing it; see Lend
}

// A Way identifies how a whisper is delivered.
type Way string

const (
	BySteering Way = "steering" // into the running turn
	BySocket   Way = "socket"   // before an answer to the agent's own command line or tools
	ByPrompt   Way = "prompt"   // at the beginning of a prompt
)

// Line returns the whisper in the form that the agent reads.
func (w Whisper) Line() string { return "[SUPERVISOR/" + w.Type + "] " + w.Text }

// waits reports whether the whisper has not been given, shown or lent.
func (w Whisper) waits() bool { return w.Way == "" && w.Shown.IsZero() && !w.lent }

// open reports whether the whisper was given but the client is not yet known to have read
// it.
func (w Whisper) open() bool { return w.Way != "" && w.Shown.IsZero() }

// maxWhispers is the maximum number of whispers that are kept for an agent. The oldest
// whispers that were shown are dropped first.
const maxWhispers = 32

// A Store keeps the whispers of all agents durably, in one file for each agent. Only the
// daemon writes these files. A Store is safe for concurrent use.
type Store struct {
	home journal.Home
	mu   sync.Mutex
	docs map[string]*durable.Doc[file] // by agent; contains only agents whose file has been read
}

type file struct {
	V        durable.Version1 `json:"v"`
	Whispers []Whisper        `json:"whispers"`
}

// Open opens the whispers of a home. It reads an agent's file only when the file is
// needed.
func Open(home journal.Home) *Store {
	return &Store{home: home, docs: map[string]*durable.Doc[file]{}}
}

// Of lists the whispers of an agent, oldest first. The list contains all whispers that
// have not been shown, and the most recent of those that have been shown. Of reads the
// file, and is intended for programs other than the daemon.
func Of(home journal.Home, agent string) ([]Whisper, error) {
	var f file
	err := durable.ReadJSON(path(home, agent), &f)
	return f.Whispers, err
}

func path(home journal.Home, agent string) string {
	return filepath.Join(home.Dir(), "whispers", agent+".json")
}

// Add adds a whisper for an agent. It returns false if the agent already has a whisper
// with the same key.
func (s *Store) Add(agent string, w Whisper) (added bool, err error) {
	err = s.change(agent, func(list []Whisper) []Whisper {
		if slices.ContainsFunc(list, func(old Whisper) bool { return old.Key == w.Key }) {
			return nil
		}
		added = true
		list = append(list, w)
		for i := 0; len(list) > maxWhispers && i < len(list); {
			if list[i].Shown.IsZero() {
				i++
				continue
			}
			list = slices.Delete(list, i, i+1)
		}
		return list[max(0, len(list)-maxWhispers):]
	})
	return added && err == nil, err
}

// Waiting counts the whispers that are waiting for an agent.
func (s *Store) Waiting(agent string) (n int) {
	list, err := s.read(agent)
	for _, w := range list {
		if err == nil && w.waits() {
			n++
		}
	}
	return n
}

// Give gives the waiting whispers to a turn. The parameter "most" limits their number; 0
// means all. Once given, a whisper is not delivered in any other way. The function uuid
// returns the UUID of the line that delivers a whisper to the running turn. It may be
// nil. The file is written before Give returns, so the next daemon can determine that the
// whispers were given.
func (s *Store) Give(agent, turn string, way Way, most int, uuid func(Whisper) string) (given []Whisper, err error) {
	err = s.change(agent, func(list []Whisper) []Whisper {
		for i := range list {
			if !list[i].waits() || most > 0 && len(given) == most {
				continue
			}
			list[i].Turn, list[i].Way = turn, way
			if uuid != nil {
				list[i].UUID = uuid(list[i])
			}
			given = append(given, list[i])
		}
		if given == nil {
			return nil
		}
		return list
	})
	if err != nil {
		return nil, err
	}
	return given, nil
}

// Lend lends the waiting whispers to a connection. Until Written is called, the lent
// whispers are not delivered in any other way. The file does not record the loan, so the
// next daemon treats these whispers as waiting.
func (s *Store) Lend(agent string) (lent []Whisper, err error) {
	doc, err := s.doc(agent)
	if err != nil {
		return nil, err
	}
	doc.ChangeMemory(func(f *file) {
		for i := range f.Whispers {
			if f.Whispers[i].waits() {
				f.Whispers[i].lent = true
				lent = append(lent, f.Whispers[i])
			}
		}
	})
	return lent, nil
}

// Written records that the first n of the lent whispers were shown in the given way. The
// others go back to waiting. This applies in the current daemon even if the file cannot
// be written.
func (s *Store) Written(agent string, lent []Whisper, n int, way Way) (shown []Whisper, err error) {
	now := time.Now().UTC()
	note := func(list []Whisper) []Whisper {
		shown = nil
		for i := range list {
			at := slices.IndexFunc(lent, func(w Whisper) bool { return w.Key == list[i].Key })
			if at < 0 || !list[i].lent {
				continue
			}
			list[i].lent = false
			if at < n && list[i].Shown.IsZero() {
				list[i].Way, list[i].Shown = way, now
				shown = append(shown, list[i])
			}
		}
		return list
	}
	doc, err := s.doc(agent)
	if err != nil {
		return nil, err
	}
	if err = s.change(agent, note); err != nil {
		doc.ChangeMemory(func(f *file) { note(f.Whispers) })
	}
	return shown, err
}

// Wait reports whether a whisper is waiting for any agent. It considers only agents whose
// file has been read, for example by Waiting.
func (s *Store) Wait() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, doc := range s.docs {
		if slices.ContainsFunc(doc.Get().Whispers, Whisper.waits) {
			return true
		}
	}
	return false
}

// Waits reports whether a whisper is waiting for an agent. It reads the file, and is
// intended for programs other than the daemon.
func Waits(home journal.Home, agent string) bool {
	list, err := Of(home, agent)
	return err == nil && slices.ContainsFunc(list, Whisper.waits)
}

// Shown records that the client of a turn has read those of the turn's whispers for
// which pick returns true. If pick is nil, the client has read all of them.
func (s *Store) Shown(agent, turn string, pick func(Whisper) bool) (shown []Whisper, err error) {
	now := time.Now().UTC()
	err = s.change(agent, func(list []Whisper) []Whisper {
		for i := range list {
			if !list[i].open() || list[i].Turn != turn || pick != nil && !pick(list[i]) {
				continue
			}
			list[i].Shown = now
			shown = append(shown, list[i])
		}
		if shown == nil {
			return nil
		}
		return list
	})
	return shown, err
}

// Knows reports whether the store contains a whisper with the given key for an agent,
// whether or not the whisper has been shown.
func (s *Store) Knows(agent, key string) (bool, error) {
	list, err := s.read(agent)
	return slices.ContainsFunc(list, func(w Whisper) bool { return w.Key == key }), err
}

// given reports whether an agent has an open whisper.
func (s *Store) given(agent string) bool {
	list, err := s.read(agent)
	return err == nil && slices.ContainsFunc(list, Whisper.open)
}

// TakeBack marks an agent's open whispers as waiting again. It may be called only while
// no turn of the agent is running.
func (s *Store) TakeBack(agent string) error {
	return s.takeBack(agent, func(Whisper) bool { return true })
}

func (s *Store) takeBack(agent string, which func(Whisper) bool) error {
	return s.change(agent, func(list []Whisper) []Whisper {
		back := false
		for i := range list {
			if list[i].open() && which(list[i]) {
				list[i].Turn, list[i].Way, list[i].UUID, back = "", "", "", true
			}
		}
		if !back {
			return nil
		}
		return list
	})
}

// Forget drops the waiting and lent whispers of an agent, because they refer to work that
// has ended.
func (s *Store) Forget(agent string) error {
	over := func(w Whisper) bool { return w.waits() || w.lent }
	return s.change(agent, func(list []Whisper) []Whisper {
		if !slices.ContainsFunc(list, over) {
			return nil
		}
		now := time.Now().UTC()
		for i := range list {
			if over(list[i]) {
				list[i].Shown = now // the whisper was not shown, but its key must be remembered
			}
		}
		return list
	})
}

// change calls f with a copy of an agent's whispers, and writes the result of f. The
// function f returns nil if it changes nothing.
func (s *Store) change(agent string, f func([]Whisper) []Whisper) error {
	doc, err := s.doc(agent)
	if err != nil {
		return err
	}
	var made error
	err = doc.Change(func(d *file) bool {
		if d.Whispers = f(d.Whispers); d.Whispers == nil {
			return false
		}
		made = s.home.MakeInHome(filepath.Dir(path(s.home, agent)))
		return made == nil
	})
	if err := errors.Join(made, err); err != nil {
		return fmt.Errorf("keep a whisper: %w", err)
	}
	return nil
}

// read returns the whispers of an agent. The caller must not change them.
func (s *Store) read(agent string) ([]Whisper, error) {
	doc, err := s.doc(agent)
	if err != nil {
		return nil, err
	}
	return doc.Get().Whispers, nil
}

// doc returns the document with the whispers of an agent. It sets a damaged file aside.
// Whispers are only advice, so their loss must not stop an agent.
func (s *Store) doc(agent string) (*durable.Doc[file], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if doc, ok := s.docs[agent]; ok {
		return doc, nil
	}
	doc, err := durable.OpenDoc[file](s.home.Files(), path(s.home, agent), durable.DocOptions{})
	if err := durable.SetAside(err); err != nil {
		return nil, fmt.Errorf("read the whispers: %w", err)
	}
	s.docs[agent] = doc
	return doc, nil
}
