package control

import (
	"errors"

	"golang.org/x/sys/unix"
)

// An opener is the process that opened a connection. The number of a process can be reused
// after its end, also by a process of a person, while another process still holds the
// connection. The kernel's descriptor stays with the one process. The zero value has no
// descriptor, and never reports an end.
type opener struct {
	pidfd int  // 0 for none
	gone  bool // it had ended before the connection was accepted
}

// openerOf returns the process that opened the connection fd, which is on a socket; pid is
// its number. The caller must close the opener. Linux 6.5 and later return the process that
// connected. Older kernels return the process that has its number now, and before Linux 5.3
// there is no descriptor.
func openerOf(fd, pid int) opener {
	p, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	if errors.Is(err, unix.ENOPROTOOPT) {
		p, err = unix.PidfdOpen(pid, 0)
	}
	switch {
	case err == nil:
		return opener{pidfd: p}
	case errors.Is(err, unix.ESRCH), errors.Is(err, unix.EINVAL):
		return opener{gone: true}
	}
	return opener{}
}

// ended reports whether the process has ended.
func (o opener) ended() bool {
	if o.gone || o.pidfd == 0 {
		return o.gone
	}
	fds := []unix.PollFd{{Fd: int32(o.pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Poll(fds, 0)
	}
	return err != nil || n > 0
}

func (o opener) close() {
	if o.pidfd != 0 {
		_ = unix.Close(o.pidfd) // it was only polled
	}
}
