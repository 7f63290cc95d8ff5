package rendezvous

import (
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// Knock tells whether a daemon listens at a socket of the project. It connects and sends
// nothing, which costs a `send` a few microseconds; a greeting would wait for the daemon.
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

// Elsewhere looks further where [Knock] finds no daemon. listens: a daemon holds the project
// and listens where its note says, since its environment is another one. moved: the project
// was moved while it ran, so that it cannot work any more. A copy of a project has the note
// too, but no daemon holds its lock.
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

// Holder is the note of the daemon that holds a lock. Where none does, the note is empty: the
// one in the file is of a daemon that has ended, or of the project that this is a copy of.
func Holder(lock string) (note Note, held bool) {
	f, err := os.Open(lock)
	if err != nil {
		return Note{}, false // no such file: no daemon ever ran here
	}
	defer f.Close() // this frees the lock
	if unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != unix.EWOULDBLOCK {
		return Note{}, false
	}
	return ReadNote(lock), true
}

// answers tells whether a program listens at a socket. Package net would start its poller
// first, which takes longer than all of this.
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
	// A program whose queue of connections is full refuses to wait, but it listens.
	return err == nil || err == unix.EAGAIN || err == unix.EINPROGRESS
}
