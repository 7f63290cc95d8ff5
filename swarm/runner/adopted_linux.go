package runner

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A handle identifies a process by a pidfd, which refers to the same process even after
// the process number has been reused. Kernels before 5.3 have no pidfds, so the start
// time is compared instead.
type handle struct {
	process Process
	fd      int // -1: no pidfd
}

func hold(p Process) (handle, bool) {
	h := handle{process: p, fd: -1}
	if p.PID <= 0 {
		return h, false
	}
	fd, err := unix.PidfdOpen(p.PID, 0)
	if err == nil {
		h.fd = fd
	}
	if !p.Alive() { // checked after the pidfd is opened, to be certain that the pidfd belongs to p
		h.close()
		return h, false
	}
	return h, true
}

// alive waits for at most d and reports whether the process is still running.
func (h handle) alive(d time.Duration) bool {
	if h.fd < 0 {
		time.Sleep(d)
		return h.process.Alive()
	}
	fds := []unix.PollFd{{Fd: int32(h.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(d.Milliseconds()))
	if err != nil && err != unix.EINTR {
		return h.process.Alive()
	}
	return n <= 0
}

func (h handle) signal(sig syscall.Signal) {
	switch {
	case h.fd >= 0:
		unix.PidfdSendSignal(h.fd, sig, nil, 0) // an error means that the process has ended
	case h.process.Alive():
		syscall.Kill(h.process.PID, sig)
	}
}

func (h handle) close() {
	if h.fd >= 0 {
		unix.Close(h.fd)
	}
}
