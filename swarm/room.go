package swarm

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// A file system with less free than this is tested by a write. With more it has room,
// unless a quota says otherwise; a quota shows at the next write.
const (
	scarceBytes = 1 << 20
	scarceFiles = 100
)

// fullDisks lists the disks that are full, also where no agent writes at the moment.
func (s *Swarm) fullDisks() (full []Problem) {
	look := func(dir string, try func() error) {
		if isScarce(dir) && dropbox.IsNoRoom(try()) {
			full = append(full, Problem{
				Why:  fmt.Sprintf("the disk is full: nothing can be written in %s", dir),
				Next: "df -h . && df -i .   (make room on the disk)",
			})
		}
	}
	look(s.store.Dir(), s.store.Room)
	if home := s.home.Dir(); !sameDevice(s.store.Dir(), home) {
		look(home, func() error { return mail.TryWriting(home) })
	}
	return full
}

// isScarce reports whether a file system has so little left that it may be full.
func isScarce(dir string) bool {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return false // gone: ground.check reports that
	}
	// A file system without a fixed number of files says 0 for all of them.
	return uint64(st.Bavail)*uint64(st.Bsize) < scarceBytes || st.Files > 0 && st.Ffree < scarceFiles
}

// sameDevice reports whether two folders are in one file system.
func sameDevice(a, b string) bool {
	var x, y unix.Stat_t
	return unix.Stat(a, &x) == nil && unix.Stat(b, &y) == nil && x.Dev == y.Dev
}
