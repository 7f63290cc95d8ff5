package rendezvous

import "golang.org/x/sys/unix"

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
