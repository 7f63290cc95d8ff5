package swarm

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// trouble is what is wrong with the daemon itself, for the status: one sentence
// for each thing that can be wrong. It is safe for several goroutines.
type trouble struct {
	mu   sync.Mutex
	what map[string]complaint
}

// A complaint says what is wrong. Where whoever complained cannot know when it is
// over, fix finds that out, or brings it about: it is tried at each look at the
// folders, and an error keeps the complaint.
type complaint struct {
	sentence string
	mend     func() error
}

// maxTrouble bounds the complaints; what goes beyond is in the log.
const maxTrouble = 50

func (t *trouble) set(key, sentence string) { t.until(key, sentence, nil) }

// until complains until fix succeeds.
func (t *trouble) until(key, sentence string, mend func() error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.what == nil {
		t.what = map[string]complaint{}
	}
	if _, known := t.what[key]; !known && len(t.what) >= maxTrouble {
		return
	}
	t.what[key] = complaint{sentence, mend}
}

func (t *trouble) clear(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.what, key)
}

// mend tries to mend what it can, one after the other.
func (t *trouble) mend() {
	t.mu.Lock()
	what := maps.Clone(t.what)
	t.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(what)) {
		if c := what[key]; c.mend != nil && c.mend() == nil {
			t.clear(key)
		}
	}
}

func (t *trouble) list() []Problem {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []Problem
	for _, key := range slices.Sorted(maps.Keys(t.what)) {
		out = append(out, Problem{Why: t.what[key].sentence})
	}
	return out
}

// note logs an error that cannot be acted on here, and keeps it in the status
// until that folder can be written again.
func (h *house) note(err error) {
	if err == nil {
		return
	}
	h.log.Error("could not be written down", keyErr, err)
	folder := h.folderOf(err)
	h.trouble.until("notes "+folder, "could not be written down: "+err.Error(), func() error {
		// What somebody deleted is made again.
		return errors.Join(h.home.Make(), tryWriting(folder))
	})
}

// folderOf is where an error of a file happened: the daemon's folder, one below
// it, or the scratch of a mailbox.
func (h *house) folderOf(err error) string {
	path := ""
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		path = e.Path
	} else if e, ok := errors.AsType[*os.LinkError](err); ok {
		path = e.New
	}
	switch {
	case path == "":
		return h.home.Dir()
	case filepath.IsAbs(path):
		return filepath.Dir(path)
	}
	// A store names its files relative to itself, a window to its folder.
	mailbox, _, inside := strings.Cut(path, "/")
	if !inside {
		return filepath.Dir(h.home.WindowFile("any"))
	}
	return filepath.Join(h.store.Dir(), mailbox, "tmp")
}

// tryWriting makes a file of a block's size in a folder, durable, and takes it
// away again.
func tryWriting(folder string) error {
	f, err := os.CreateTemp(folder, ".try-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 4<<10))
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close(), os.Remove(f.Name())); err != nil {
		return fmt.Errorf("write in %s: %w", folder, err)
	}
	return nil
}
