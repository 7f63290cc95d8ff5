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

// A Change indicates where the caller should look. It may arrive late, twice or never, so
// callers must rely only on the contents of the folder.
type Change struct {
	Mailbox string // the mailbox; empty for All and Halt, and for Lost if the mailbox is unknown
	Name    string // the file that appeared in new/, if the event contained its name
	Stray   bool   // a file changed in the mailbox's own folder, or there is room again; see [Drops.List]
	Halt    bool   // HALT was created or removed
	All     bool   // events were lost, or folders were created or removed, so the caller should look everywhere
	Lost    bool   // a watch was lost or an error occurred, so the caller should call [Watcher.Rewatch] soon
}

// A Watcher reports changes in a store. One watcher can watch thousands of folders, so it
// is enough for all mailboxes. By default, Linux allows each user 128 watchers.
type Watcher struct {
	store  *Store
	notify func(Change)
	runs   sync.WaitGroup

	mu      sync.Mutex
	fs      *fsnotify.Watcher // nil until the system allows another watcher
	watched map[string]bool   // mailboxes that were added; true if all their watches are set
	err     error             // the most recent reason for a missing watch
}

// Watch starts watching the store's folder and every mailbox in it, or only the named
// mailboxes. It calls notify in the watcher's own goroutine. notify must not block,
// because a callback that takes 20 microseconds per event loses events in a burst. notify
// should set a flag or make a non-blocking send on a channel with a buffer for one value.
//
// Close stops the watcher. Watch also succeeds if the system has no watches left. In that
// case [Watcher.Missing] returns the number of mailboxes that are not watched, and
// [Watcher.Rewatch] retries.
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
			_ = w.add(name) // the error is kept in w.err
		}
	}
	return w, nil
}

// begin watches the store's folder. The caller must hold the lock.
func (w *Watcher) begin() error {
	if w.fs == nil {
		fw, err := fsnotify.NewBufferedWatcher(4096)
		if err != nil {
			return fmt.Errorf("watch %s: %w", w.store.dir, noWatches(err))
		}
		w.fs = fw
		w.runs.Go(func() { w.run(fw) }) // this goroutine runs until Close is called; Close waits for it
	}
	if err := w.fs.Add(w.store.dir); err != nil {
		return fmt.Errorf("watch %s: %w", w.store.dir, noWatches(err))
	}
	return nil
}

// noWatches replaces the error for a system limit, because inotify returns ENOSPC for
// some limits although the disk is not full.
func noWatches(err error) error {
	switch {
	case errors.Is(err, unix.ENOSPC):
		return fmt.Errorf("%w (fs.inotify.max_user_watches)", ErrWatches)
	case errors.Is(err, unix.EMFILE):
		return fmt.Errorf("%w (fs.inotify.max_user_instances, or open files)", ErrWatches)
	}
	return err
}

// Missing returns the number of mailboxes that are not watched. New messages in them are
// found only by listing. err is the most recent known reason why they are not watched.
// Missing does not make a system call.
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

// Close stops the watcher. notify is not called after Close returns. notify must not call
// Close.
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

// Add starts watching another mailbox. It is safe to repeat the call. After an error the
// mailbox stays on the list, and Rewatch retries.
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

// Remove stops watching a mailbox. It is safe to repeat the call.
func (w *Watcher) Remove(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.watched, name)
	if w.fs == nil {
		return
	}
	for _, folder := range []string{name + "/" + newFolder, name} {
		// This fails if the folder no longer exists, because its watch no longer exists
		// either.
		_ = w.fs.Remove(filepath.Join(w.store.dir, folder))
	}
}

// Rewatch recreates deleted folders of the watched mailboxes and adds missing watches.
// Call it regularly (every 30 s) and list the folders at the same time. missing is the
// number of mailboxes that are still not watched; messages in them are found only by that
// listing. err is the reason why they are not watched, usually [ErrWatches].
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
		// Adding a watched folder again costs one system call and is the only reliable way
		// to watch a folder that was replaced by another one with the same name.
		_ = w.add(name) // the error is kept in w.err
	}
	return w.missing()
}

// run is the watcher's goroutine. It passes events to notify and does not modify the
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
			// An overflow means that any number of events in any folder may have been
			// lost. The meaning of any other error is unknown, so it is treated like an
			// overflow.
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
	case rel == "": // the store's folder
		return Change{All: true, Lost: true}, gone
	case rel == haltFile:
		return Change{Halt: true}, true
	case !inside: // a folder was created or removed
		if CheckMailbox(mailbox) != nil {
			return Change{}, false
		}
		return Change{All: true, Lost: gone}, gone || ev.Has(fsnotify.Create)
	case deep: // in new/
		return Change{Mailbox: mailbox, Name: name}, ev.Has(fsnotify.Create) && !strings.HasPrefix(name, ".")
	case gone && slices.Contains(mailboxFolders, folder): // folders other than new/ are not watched, but the caller recreates them
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
