package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// maxBatch is the maximum number of events that are passed to a listener at once.
const maxBatch = 100

// A cursor records which events a listener has heard.
type cursor struct {
	V   int   `json:"v"`
	Seq int64 `json:"seq"` // number of the last event that the listener has heard
	// First and Offset say where the next event is: after Offset bytes of the file whose
	// first event has the number First. They are a hint, and may be wrong.
	First  int64 `json:"first,omitempty"`
	Offset int64 `json:"offset,omitempty"`
}

func (e *Events) cursorFile(name string) string {
	return filepath.Join(e.dir, "cursors", name+".json")
}

// held holds the lock on a listener's cursor while f runs.
func (e *Events) held(name string, f func() error) error {
	if err := discovery.MakeInHome(filepath.Join(e.dir, "cursors")); err != nil {
		return err
	}
	return whileLocked(filepath.Join(e.dir, "cursors", name+".lock"), f)
}

// Begin durably creates a cursor for a new listener. The listener hears the events that
// are added from now on. A listener that already has a cursor keeps it.
func (e *Events) Begin(name string) error {
	err := e.held(name, func() error {
		_, err := os.Lstat(e.cursorFile(name))
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		last, err := e.Last()
		if err != nil {
			return err
		}
		return errors.Join(e.files.WriteJSON(e.cursorFile(name), cursor{V: 1, Seq: last}), e.files.SyncDir(e.dir))
	})
	if err != nil {
		return fmt.Errorf("cursor %s: %w", name, err)
	}
	return nil
}

// End removes the cursor of a listener that is no longer wanted. If the listener returns, it
// needs Begin again, and does not hear the events in between.
func (e *Events) End(name string) error {
	if _, err := os.Lstat(e.cursorFile(name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := e.held(name, func() error {
		e.tail.mu.Lock()
		delete(e.tail.heard, name)
		e.tail.mu.Unlock()
		if err := os.Remove(e.cursorFile(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("cursor %s: %w", name, err)
	}
	return nil
}

// Tell calls hear with the events that a listener has not heard, at most 100 at a time,
// until there are no more or hear returns an error. Tell then returns that error, and the
// next call to Tell repeats the refused events. missed is the number of events
// immediately before the given events that the listener has lost because they are no
// longer in the list or because their lines cannot be read. A listener for which Begin
// was never called hears the whole list.
//
// acts reports whether hear does anything about an event; nil means that it does about each.
// It may depend only on the event. The cursor of a listener that has heard only other events
// is written later, because nothing happens if the listener hears them again.
//
// While hear runs, no other process calls the listener with that name. hear may add
// events. It must not change what the events point to, because the listeners share them.
func (e *Events) Tell(name string, acts func(Event) bool, hear func(events []Event, missed int64) error) error {
	if e.hasHeardAll(name) {
		return nil
	}
	var heard error
	err := e.held(name, func() error {
		saved, err := e.cursor(name)
		if err != nil {
			return err
		}
		c := saved
		if mine := e.heardBy(name); mine.Seq > c.Seq { // the file is behind, or was deleted
			c = mine
		}
		for {
			events, next, err := e.after(&c)
			if err != nil || len(events) == 0 {
				return err
			}
			if heard = hear(events, events[0].Seq-c.Seq-1); heard != nil {
				return nil
			}
			c = next
			if acts != nil && !slices.ContainsFunc(events, acts) && saved.Seq > 0 && c.Seq-saved.Seq < maxBatch {
				e.setHeard(name, c)
				continue
			}
			// If a power cut undoes this, the listener hears some of the events again.
			if err := e.save(name, c); err != nil {
				return err
			}
			e.setHeard(name, c)
			saved = c
		}
	})
	if err != nil {
		return fmt.Errorf("cursor %s: %w", name, err)
	}
	return heard
}

// hasHeardAll reports whether this process has told a listener the whole list. It opens no
// file. An event that another process adds changes the size of the list.
func (e *Events) hasHeardAll(name string) bool {
	e.tail.mu.Lock()
	defer e.tail.mu.Unlock()
	c, ok := e.tail.heard[name]
	if !ok || !e.tail.current(e.dir) {
		return false
	}
	events, _, ok := e.tail.after(c)
	return ok && len(events) == 0
}

// heardBy returns the place up to which this process has told a listener the list.
func (e *Events) heardBy(name string) cursor {
	e.tail.mu.Lock()
	defer e.tail.mu.Unlock()
	return e.tail.heard[name]
}

func (e *Events) setHeard(name string, c cursor) {
	e.tail.mu.Lock()
	defer e.tail.mu.Unlock()
	if e.tail.heard == nil {
		e.tail.heard = map[string]cursor{}
	}
	e.tail.heard[name] = c
}

func (e *Events) save(name string, c cursor) error {
	c.V = 1
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return e.files.Write(e.cursorFile(name), durable.Options{Volatile: true}, append(data, '\n'))
}

// cursor reads a listener's cursor. A missing or damaged cursor is treated as a cursor
// before the first event, because it is better to hear an event twice than not at all.
func (e *Events) cursor(name string) (c cursor, err error) {
	data, err := os.ReadFile(e.cursorFile(name))
	if errors.Is(err, fs.ErrNotExist) {
		return cursor{}, nil
	} else if err != nil {
		return cursor{}, err
	}
	if json.Unmarshal(data, &c) != nil {
		return cursor{}, nil
	}
	return c, nil
}
