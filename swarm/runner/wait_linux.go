package runner

import "golang.org/x/sys/unix"

// awaitExit blocks until our child pid has ended. It does not reap the child.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}
