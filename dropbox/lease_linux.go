package dropbox

import "golang.org/x/sys/unix"

// isAwaited reports whether a program waits for the end of the lease on fd, to open the file
// for writing.
func isAwaited(fd int) bool {
	kind, err := unix.FcntlInt(uintptr(fd), unix.F_GETLEASE, 0)
	return err == nil && kind != unix.F_RDLCK
}

// lease takes a read lease on a file that is open for reading. The kernel refuses it with
// EAGAIN while any program has the file open for writing, and while the lease is held, a
// program that opens the file for writing waits. Closing the file gives the lease back. NFS
// refuses every lease with EAGAIN, and the kernel refuses one on the file of another user.
func lease(fd int) error {
	return retryEINTR(func() error {
		_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
		return err
	})
}
