package rendezvous

import (
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// Knock tells whether somebody listens at a socket of the project. It asks
// nothing: that costs a `send` a few microseconds, where a greeting waits for the
// daemon.
func Knock(project string, getenv func(string) string) bool {
	paths, err := Paths(project, getenv)
	if err != nil {
		return false
	}
	for _, path := range paths {
		if answers(path) {
			return true
		}
	}
	return false
}

// Elsewhere is for where nobody hears a Knock: it tells whether the daemon that holds
// the project listens where its note says, since its environment is another; and
// whether the project was moved under it, so that it can do nothing any more. A copy
// of a project has the note too, but nobody holds it.
func Elsewhere(project string, getenv func(string) string) (listens, moved bool) {
	note, held := Holder(filepath.Join(project, HomeName, "daemon.lock"))
	if !held || note.Socket == "" || !answers(note.Socket) {
		return false, false
	}
	paths, err := Paths(project, getenv)
	return true, err == nil && !slices.ContainsFunc(paths, func(path string) bool {
		return filepath.Base(path) == filepath.Base(note.Socket) // made of the project's path
	})
}

// Holder is the note of the daemon that holds a lock. Where nobody does, whatever note
// lies there is of one that has ended, or of the project that this is a copy of: then
// it is empty.
func Holder(lock string) (note Note, held bool) {
	f, err := os.Open(lock)
	if err != nil {
		return Note{}, false // no such file: no daemon ever ran here
	}
	defer f.Close() // frees it again
	if unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != unix.EWOULDBLOCK {
		return Note{}, false
	}
	return ReadNote(lock), true
}

// answers knocks at one socket. Package net would start its poller first, which
// takes longer than all of this.
func answers(path string) bool {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		return false
	}
	err = unix.Connect(fd, &unix.SockaddrUnix{Name: path})
	// Who has a queue at the door, and so refuses to wait, is there.
	return err == nil || err == unix.EAGAIN || err == unix.EINPROGRESS
}
