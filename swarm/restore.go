package swarm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// restoreDelay is the time from the last event that a folder was deleted to the recreation.
// The program that deletes them, such as git clean, fails if a folder that it has emptied is
// filled again. After mostDelay, the recreation begins even if it goes on.
const (
	restoreDelay = 300 * time.Millisecond
	mostDelay    = 5 * time.Second
)

// afterDeletions waits until no folder was deleted for restoreDelay, or until mostDelay has
// passed. lost receives a value for each deletion. afterDeletions returns false if ctx is
// done before.
func afterDeletions(ctx context.Context, lost <-chan struct{}) bool {
	most := time.NewTimer(mostDelay)
	defer most.Stop()
	quiet := time.NewTimer(restoreDelay)
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-lost:
			quiet.Reset(restoreDelay)
		case <-quiet.C:
			return true
		case <-most.C:
			return true
		}
	}
}

// restore recreates folders and files that another program, such as git clean, deleted
// while the daemon is running. It recreates the files of which the daemon has the content
// in memory.
func (s *Swarm) restore() {
	err := errors.Join(s.restoreHome(), s.restoreMail())
	const trouble = "restore"
	if err != nil {
		s.log.Warn("deleted files could not be recreated", keyErr, err)
		s.notices.Trouble.Set(trouble, "files that were deleted cannot be recreated: "+err.Error())
		return
	}
	s.notices.Trouble.Clear(trouble)
}

// restoreHome recreates the daemon's own folder and files.
func (s *Swarm) restoreHome() error {
	if err := s.folder.check(); err != nil {
		return err
	}
	whole := s.home.IsWhole()
	deleted, err := s.ledger.Restore()
	if err != nil {
		return err
	}
	unlocked := s.opts.LockLost != nil && s.opts.LockLost()
	if whole && !deleted && !unlocked {
		return nil
	}
	s.log.Warn("the daemon's files were deleted by another program, and are recreated", "folder", s.home.Dir())
	if err := s.home.Make(); err != nil {
		return err
	}
	errs := []error{s.tokens.Restore(), s.holds.Restore(), s.sessions.Restore(), s.trees.Restore(), s.verified.Restore(), s.mail.Questions.Restore(), s.book.RestoreFile()}
	for _, m := range s.members() {
		errs = append(errs, m.turns.Restore())
	}
	s.turnDeps.Streams.Rewatch()
	if s.opts.Restored != nil {
		errs = append(errs, s.opts.Restored())
	}
	return errors.Join(errs...)
}

// projectFiles are the daemon's files and the mailboxes, as an agent uses them.
type projectFiles struct {
	home   journal.Home
	folder projectFolder
	store  *dropbox.Store
	lost   wakeup // a watch or a folder was lost; the sweep checks the watches and recreates folders
}

// restoreHome recreates the daemon's own folder if it was deleted.
func (f *projectFiles) restoreHome() error {
	if f.home.IsWhole() {
		return nil
	}
	return errors.Join(f.folder.check(), f.home.Make())
}

// A projectFolder is the project's folder at the start of the daemon.
type projectFolder struct {
	path string
	info fs.FileInfo // nil if it could not be read
}

// movedFor is how long the project's folder may be away. A person who moved it by mistake can put
// it back in that time.
const movedFor = 2 * time.Minute

// A departure records since when the project's folder has been away. Only the sweep goroutine
// uses it.
type departure struct {
	since time.Time // zero if the folder is in its place
	told  bool
}

// check calls moved if the folder has been away for [movedFor].
func (d *departure) check(f projectFolder, now time.Time, moved func(error)) {
	err := f.check()
	switch {
	case err == nil:
		*d = departure{}
	case d.since.IsZero():
		d.since = now
	case now.Sub(d.since) >= movedFor && !d.told && moved != nil:
		d.told = true
		moved(err)
	}
}

func projectFolderAt(path string) projectFolder {
	info, err := os.Stat(path)
	if err != nil {
		info = nil
	}
	return projectFolder{path, info}
}

// check returns an error if the folder was moved or deleted, also if another one is at its
// path. The daemon must then not create anything there.
func (f projectFolder) check() error {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s is gone", f.path)
	case err != nil:
		return err
	case f.info != nil && !os.SameFile(f.info, info):
		return fmt.Errorf("%s is another folder than at the start of the daemon", f.path)
	}
	return nil
}

// restoreMail recreates the mailboxes, and the claimed messages of running turns.
func (s *Swarm) restoreMail() error {
	if s.store.Deleted() {
		return nil // the folder check reports it
	}
	errs := []error{s.completeMailboxes()}
	for _, m := range s.members() {
		errs = append(errs, s.store.MakeMailbox(m.name), m.inbox.Restore())
	}
	return errors.Join(errs...)
}

// completeMailboxes creates the lead's mailbox, and the missing folders of the mailboxes that
// belong to the daemon. A clone of a repository in which mailboxes are committed contains
// only their folders with finished messages.
func (s *Swarm) completeMailboxes() error {
	errs := []error{s.store.MakeMailbox(dropbox.Lead)}
	for _, name := range append(dropbox.Bridges(), dropbox.Swarm, dropbox.Hooks) {
		if s.store.Known(name) == nil { // a bridge, a webhook or the first question creates the mailbox
			errs = append(errs, s.store.MakeMailbox(name))
		}
	}
	return errors.Join(errs...)
}

func isMissing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}
