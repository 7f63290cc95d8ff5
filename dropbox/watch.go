package dropbox

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"
)

// A Change tells the caller where to look. It may come late, twice, or never, so rely
// only on the contents of the folder.
type Change struct {
	Mailbox string // the mailbox; empty for All and Halt, and for Lost if it is not known
	Name    string // the file that appeared in new/, if the event had its name
	Stray   bool   // a file changed in the mailbox's own folder, or there is room again: see [Drops.List]
	Halt    bool   // HALT was made or removed
	All     bool   // events were lost, or folders were made or removed, so look everywhere
	Lost    bool   // a watch is gone, or an error occurred, so call [Watcher.Rewatch] soon
}

// A Watcher reports changes in a store. One watcher serves all mailboxes: by default Linux
// allows a user 128 watchers, and one is enough for thousands of folders.
type Watcher struct {
	store  *Store
	notify func(Change)
	runs   sync.WaitGroup

	mu      sync.Mutex
	fs      *fsnotify.Watcher // nil until the system allows one
	watched map[string]bool   // mailboxes that were added; true: all their watches are set
	err     error             // the newest reason for a missing watch
}

// Watch starts watching the store's folder and every mailbox in it, or only the named
// mailboxes. It calls notify in the watcher's own goroutine. notify must not block: a
// callback that takes 20 microseconds per event loses events in a burst. notify should
// set a flag, or try to send on a channel with a buffer for one value.
//
// Close ends the watcher. If the system has no watches left, Watch succeeds anyway:
// [Watcher.Missing] returns the number of mailboxes that are not watched, and
// [Watcher.Rewatch] tries again.
func (s *Store) Watch(notify func(Change), names ...string) (*Watcher, error) {
	if len(names) == 0 {
		var err error
		if names, err = s.Mailboxes(); err != nil {
			return nil, fmt.Errorf("watch %s: %w", s.dir, err)
		}
	}
	w := &Watcher{store: s, notify: notify, watched: make(map[string]bool)}
	for _, name := range names {
		w.watched[name] = false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err = w.begin(); w.err == nil {
		for name := range w.watched {
			_ = w.add(name) // kept in w.err
		}
	}
	return w, nil
}

// begin watches the store's folder. The caller holds the lock.
func (w *Watcher) begin() error {
	if w.fs == nil {
		fw, err := fsnotify.NewBufferedWatcher(4096)
		if err != nil {
			return fmt.Errorf("watch %s: %w", w.store.dir, noWatches(err))
		}
		w.fs = fw
		w.runs.Go(func() { w.run(fw) }) // this goroutine runs until Close, which waits for it
	}
	if err := w.fs.Add(w.store.dir); err != nil {
		return fmt.Errorf("watch %s: %w", w.store.dir, noWatches(err))
	}
	return nil
}

// noWatches replaces the error for a limit of the system: for some limits inotify returns
// ENOSPC, although the disk is not full.
func noWatches(err error) error {
	switch {
	case errors.Is(err, unix.ENOSPC):
		return fmt.Errorf("%w (fs.inotify.max_user_watches)", ErrWatches)
	case errors.Is(err, unix.EMFILE):
		return fmt.Errorf("%w (fs.inotify.max_user_instances, or open files)", ErrWatches)
	}
	return err
}

// Missing returns the number of mailboxes that are not watched. Only a listing finds
// their new mail. err is the newest known reason why they are not watched. Missing makes
// no system call.
func (w *Watcher) Missing() (missing int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.missing()
}

// missing is Missing for a caller that holds the lock.
func (w *Watcher) missing() (n int, err error) {
	for _, stands := range w.watched {
		if !stands {
			n++
		}
	}
	if n > 0 || w.fs == nil {
		err = w.err
	}
	return n, err
}

// Close ends the watcher; afterwards notify is no longer called. It must not be called from
// within notify.
func (w *Watcher) Close() error {
	w.mu.Lock()
	fw := w.fs
	w.mu.Unlock()
	if fw == nil {
		return nil
	}
	err := fw.Close()
	w.runs.Wait()
	return err
}

// Add watches one more mailbox. Repeating it is harmless. After an error the mailbox stays
// on the list, and Rewatch tries again.
func (w *Watcher) Add(name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.add(name)
}

// add is Add for a caller that holds the lock.
func (w *Watcher) add(name string) error {
	w.watched[name] = false
	if w.fs == nil {
		return w.err
	}
	for _, folder := range []string{name, name + "/" + newFolder} {
		// fsnotify would follow a symlink that replaced the folder.
		err := w.store.disk.isFolder(folder)
		if err == nil {
			err = w.fs.Add(filepath.Join(w.store.dir, folder))
		}
		if err != nil {
			w.err = fmt.Errorf("watch mailbox %s: %w", name, noWatches(err))
			return w.err
		}
	}
	w.watched[name] = true
	return nil
}

// Remove stops watching a mailbox. Repeating it is harmless.
func (w *Watcher) Remove(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.watched, name)
	if w.fs == nil {
		return
	}
	for _, folder := range []string{name + "/" + newFolder, name} {
		// This fails when the folder is gone, because its watch is gone, too.
		_ = w.fs.Remove(filepath.Join(w.store.dir, folder))
	}
}

// Rewatch recreates deleted folders of the watched mailboxes, and adds missing watches.
// Call it regularly (every 30 s), and list the folders at the same time. missing is the
// number of mailboxes that are still not watched; only that listing finds their mail. err
// says why they are not watched; it is usually [ErrWatches].
func (w *Watcher) Rewatch() (missing int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err = w.begin(); w.err != nil {
		for name := range w.watched {
			w.watched[name] = false
		}
		return w.missing()
	}
	for name := range w.watched {
		if err := w.store.MakeMailbox(name); err != nil {
			w.watched[name], w.err = false, err
			continue
		}
		// Adding a watched folder again is one call to the kernel, and the only sure way to
		// watch a folder that was replaced by another of the same name.
		_ = w.add(name) // kept in w.err
	}
	return w.missing()
}

// run is the watcher's goroutine. It passes events to notify, and changes nothing in the
// watcher.
func (w *Watcher) run(fw *fsnotify.Watcher) {
	events, errs := fw.Events, fw.Errors
	for events != nil || errs != nil {
		select {
		case ev, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			if r, ok := w.change(ev); ok {
				w.notify(r)
			}
		case _, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			// An overflow means any number of lost events in any folder. The meaning of any
			// other error is unknown, so it is treated like an overflow.
			w.notify(Change{All: true, Lost: true})
		}
	}
}

// change turns an event into a Change. It returns false for an event that can be ignored.
func (w *Watcher) change(ev fsnotify.Event) (Change, bool) {
	rel, ok := strings.CutPrefix(ev.Name, w.store.dir)
	if !ok || ev.Op == fsnotify.Chmod {
		return Change{}, false
	}
	gone := ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename)
	rel = strings.TrimPrefix(rel, "/")
	mailbox, rest, inside := strings.Cut(rel, "/")
	folder, name, deep := strings.Cut(rest, "/")
	switch {
	case rel == "": // the store itself
		return Change{All: true, Lost: true}, gone
	case rel == haltFile:
		return Change{Halt: true}, true
	case !inside: // a folder was made or removed
		if CheckMailbox(mailbox) != nil {
			return Change{}, false
		}
		return Change{All: true, Lost: gone}, gone || ev.Has(fsnotify.Create)
	case deep: // in new/
		return Change{Mailbox: mailbox, Name: name}, ev.Has(fsnotify.Create) && !strings.HasPrefix(name, ".")
	case folder == newFolder && gone:
		return Change{Mailbox: mailbox, Lost: true}, true
	case folder == newFolder || unfinished(folder):
		return Change{}, false
	}
	if folder == fullFile { // there is room again, and a dropped file may be waiting for it
		return Change{Mailbox: mailbox, Stray: true}, gone
	}
	if slices.Contains(mailboxFolders, folder) {
		return Change{}, false
	}
	return Change{Mailbox: mailbox, Stray: true}, ev.Has(fsnotify.Create) || ev.Has(fsnotify.Write)
}
