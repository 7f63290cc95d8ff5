package dropbox

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// noOpenat2 is set when the kernel or a system call filter does not support openat2 (new
// in Linux 5.6). In that case folders are opened one by one.
var noOpenat2 atomic.Bool

// openBeneath opens name below a folder without following a symlink.
func openBeneath(dirfd int, name string, flags int, perm uint32) (int, error) {
	if noOpenat2.Load() {
		return openStepwise(dirfd, name, flags, perm)
	}
	how := unix.OpenHow{
		Flags:   uint64(flags),
		Mode:    uint64(perm),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	}
	for {
		fd, err := unix.Openat2(dirfd, name, &how)
		switch err {
		case unix.EINTR, unix.EAGAIN:
		case unix.ENOSYS, unix.EPERM: // some containers return EPERM for unknown system calls
			if fd, err := openStepwise(dirfd, name, flags, perm); err == nil || err != unix.EPERM {
				noOpenat2.Store(true)
				return fd, err
			}
			return -1, err
		default:
			return fd, err
		}
	}
}

// pathOnly is the flag that opens a folder only as the base for other calls.
const pathOnly = unix.O_PATH

// replaceFD makes the file descriptor to refer to the file of from.
func replaceFD(from, to int) error { return unix.Dup3(from, to, unix.O_CLOEXEC) }

// renameNew renames a file and never replaces another file.
func renameNew(dirfd int, name string, todirfd int, to string) error {
	return unix.Renameat2(dirfd, name, todirfd, to, unix.RENAME_NOREPLACE)
}
