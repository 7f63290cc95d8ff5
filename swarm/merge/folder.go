package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// List returns all merges, ordered by the time at which they were asked for; see [List].
func (q *Queue) List() ([]Merge, error) { return List(q.o.Dir) }

// List returns all merges of the queue in the folder dir, ordered by the time at which they were
// asked for. It needs no lock and no git. A merge that changes its state meanwhile is listed once.
func List(dir string) ([]Merge, error) {
	found := map[string]Merge{}
	// In the order of the states, so that a merge that moves on is seen in its later state.
	for _, state := range []State{Waiting, Merging, Merged, Refused} {
		entries, err := os.ReadDir(filepath.Join(dir, folders[state]))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		for _, e := range entries {
			id, ok := strings.CutSuffix(e.Name(), ".json")
			if !ok || strings.HasPrefix(id, ".") { // a temporary file that a crash left
				continue
			}
			m, err := read(dir, state, id)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			} else if err != nil {
				return nil, err
			}
			found[id] = m
		}
	}
	var all []Merge
	for id, m := range found {
		if undo := found[id+undoSuffix]; undo.State == Merged {
			m.Undone = cmp.Or(undo.Result, undo.Old)
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Merge) int { return cmp.Or(a.Asked.Compare(b.Asked), strings.Compare(a.ID, b.ID)) })
	return all, nil
}

// get returns a merge, in whichever state it is.
func (q *Queue) get(id string) (m Merge, ok bool, err error) {
	all, err := q.List()
	if err != nil {
		return Merge{}, false, err
	}
	i := slices.IndexFunc(all, func(m Merge) bool { return m.ID == id })
	if i < 0 {
		return Merge{}, false, nil
	}
	return all[i], true, nil
}

func (q *Queue) path(state State, id string) string { return pathIn(q.o.Dir, state, id) }

func pathIn(dir string, state State, id string) string {
	return filepath.Join(dir, folders[state], id+".json")
}

func read(dir string, state State, id string) (Merge, error) {
	var m Merge
	err := durable.ReadJSON(pathIn(dir, state, id), &m)
	m.State = state
	return m, err
}

// write replaces the file of a merge in its folder.
func (q *Queue) write(m Merge) error {
	m.Undone = ""
	q.step("write " + folders[m.State])
	err := q.o.Files.WriteJSON(q.path(m.State, m.ID), m)
	q.step("written " + folders[m.State])
	return err
}

// move writes a merge and gives it another state, with one rename.
func (q *Queue) move(m Merge, to State) (Merge, error) {
	if err := q.write(m); err != nil {
		return m, err
	}
	from := m.State
	m.State = to
	q.step("move to " + folders[to])
	if err := os.Rename(q.path(from, m.ID), q.path(to, m.ID)); err != nil {
		return m, err
	}
	q.step("moved to " + folders[to])
	return m, errors.Join(q.o.Files.SyncDir(filepath.Join(q.o.Dir, folders[to])), q.o.Files.SyncDir(filepath.Join(q.o.Dir, folders[from])))
}

// busyInterval is the time between two tries to get the lock.
const busyInterval = 100 * time.Millisecond

// exclusively runs f while no other program merges.
func (q *Queue) exclusively(ctx context.Context, f func() error) (err error) {
	for _, dir := range []string{"", "new", "cur", "done", "dead", treesFolder} {
		if err := os.MkdirAll(filepath.Join(q.o.Dir, dir), 0o700); err != nil {
			return err
		}
	}
	lock := flock.New(filepath.Join(q.o.Dir, "lock"), flock.SetPermissions(0o600))
	free, err := lock.TryLock()
	if err == nil && !free {
		if q.o.Busy != nil {
			q.o.Busy()
		}
		_, err = lock.TryLockContext(ctx, busyInterval)
	}
	if err != nil {
		return fmt.Errorf("lock the merge queue: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	return f()
}
