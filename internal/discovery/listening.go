package discovery

import (
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// Listening reports whether a daemon is listening on a socket of the project. It connects
// without sending anything, so it adds only a few microseconds to each `send`. If it
// exchanged hellos, it would have to wait for the daemon.
func Listening(project string, getenv func(string) string) bool {
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

// Elsewhere looks for a daemon on the socket that the daemon's note names. [Paths] might
// not include that socket if the daemon's environment differs from the caller's. listens
// means that a daemon holds the project's lock and listens on the socket. moved means that
// the project was moved while the daemon was running, so the daemon can no longer work. A
// copy of a project also contains the note, but no daemon holds the copy's lock.
func Elsewhere(project string, getenv func(string) string) (listens, moved bool) {
	note, held := Holder(filepath.Join(project, HomeName, "daemon.lock"))
	if !held || note.Socket == "" || !answers(note.Socket) {
		return false, false
	}
	paths, err := Paths(project, getenv)
	return true, err == nil && !slices.ContainsFunc(paths, func(path string) bool {
		return filepath.Base(path) == filepath.Base(note.Socket) // the name contains a hash of the project's path
	})
}

// Holder returns the note of the daemon that holds a lock. If no daemon holds it, Holder
// returns an empty note, because the note in the file is from a daemon that has ended, or
// was copied with the project.
func Holder(lock string) (note Note, held bool) {
	f, err := os.Open(lock)
	if err != nil {
		return Note{}, false // there is no file, so no daemon has ever run here
	}
	defer f.Close() // this releases the lock
	if unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != unix.EWOULDBLOCK {
		return Note{}, false
	}
	return ReadNote(lock), true
}

// answers reports whether a program is listening on a socket. It does not use package net,
// because starting that package's poller takes longer than this whole function.
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
	// If the program's connection queue is full, connect fails immediately even though
	// the program is listening.
	return err == nil || err == unix.EAGAIN || err == unix.EINPROGRESS
}
