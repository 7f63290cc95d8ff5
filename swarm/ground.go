package swarm

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// A ground is the folder of all mailboxes. While the daemon is running, another program may
// delete, move or replace the folder. Only the sweep goroutine uses a ground.
type ground struct {
	store  *dropbox.Store
	parent projectFolder // in which the folder lies
	halted *hold.Halted
	taken  func(error)    // called if another daemon has locked the mailboxes; may be nil
	locks  []func() error // releases locks that were acquired again
}

func newGround(store *dropbox.Store, halted *hold.Halted, taken func(error)) (*ground, error) {
	if _, err := os.Stat(store.Dir()); err != nil {
		return nil, err
	}
	return &ground{store: store, parent: projectFolderAt(filepath.Dir(store.Dir())), halted: halted, taken: taken}, nil
}

// check recreates the folder if it was deleted, and the store's own files and the lock if
// they were deleted from it. It returns a description of any problem with the folder, or
// "". A folder that was moved is not recreated, because it may be put back.
func (g *ground) check() string {
	dir := g.store.Dir()
	if g.store.Deleted() && g.parent.check() == nil {
		if err := dropbox.Recreate(dir); err != nil {
			return "the mailboxes were deleted and cannot be recreated: " + err.Error()
		}
	}
	switch is, err := g.store.InPlace(); {
	case errors.Is(err, fs.ErrNotExist):
		return dir + " is gone: put it back, or run claude-swarm restart to create a new one"
	case err != nil:
		return "the mailboxes cannot be read: " + err.Error()
	case !is:
		return dir + " is not the folder that the daemon uses: put that folder back, or run claude-swarm restart"
	}
	unlocked := isMissing(filepath.Join(dir, ".lock")) || g.store.LockLost()
	if !unlocked && !isMissing(filepath.Join(dir, "version")) {
		return ""
	}
	if err := dropbox.Refill(dir); err != nil {
		return "files that were deleted from the mailboxes cannot be recreated: " + err.Error()
	}
	if !unlocked {
		return ""
	}
	if err := g.halted.Restore(); err != nil { // before the lock, whose file shows that not only HALT was deleted
		return "everything is halted, but HALT was deleted and cannot be recreated: " + err.Error()
	}
	// The daemon's lock is on a deleted file, so no other process would notice the lock.
	release, err := g.store.Lock()
	if err != nil {
		if _, locked := errors.AsType[*dropbox.LockedError](err); locked && g.taken != nil {
			g.taken(err)
		}
		return "another daemon may be using the same mailboxes (" + err.Error() + "): stop one of them"
	}
	g.locks = append(g.locks, release)
	return ""
}

// close releases the locks.
func (g *ground) close() error {
	var errs []error
	for _, release := range g.locks {
		errs = append(errs, release())
	}
	return errors.Join(errs...)
}

// If a file system has less free space than this, the daemon tests it with a write. If it
// has more, the daemon assumes that there is room. If a quota is exceeded anyway, the
// next write fails.
const (
	scarceBytes = 1 << 20
	scarceFiles = 100
)

// fullDisks lists the disks that are full, even if no agent is writing.
func fullDisks(store *dropbox.Store, home journal.Home) (full []Problem) {
	look := func(dir string, try func() error) {
		if isScarce(dir) && dropbox.IsNoRoom(try()) {
			full = append(full, Problem{
				Why:  fmt.Sprintf("the disk is full: nothing can be written in %s", dir),
				Next: "df -h . && df -i .   (make room on the disk)",
			})
		}
	}
	look(store.Dir(), store.Room)
	if dir := home.Dir(); !sameDevice(store.Dir(), dir) {
		look(dir, func() error { return mail.TryWriting(dir) })
	}
	return full
}

// isScarce reports whether a file system has so little free space that it may be full.
func isScarce(dir string) bool {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return false // the folder is gone; ground.check reports it
	}
	// A file system that does not limit the number of files reports a total of 0.
	return uint64(st.Bavail)*uint64(st.Bsize) < scarceBytes || st.Files > 0 && st.Ffree < scarceFiles
}

// sameDevice reports whether two folders are on the same file system.
func sameDevice(a, b string) bool {
	var x, y unix.Stat_t
	return unix.Stat(a, &x) == nil && unix.Stat(b, &y) == nil && x.Dev == y.Dev
}
