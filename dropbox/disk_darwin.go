package dropbox

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openBeneath opens name below a folder without following a symlink.
func openBeneath(dirfd int, name string, flags int, perm uint32) (int, error) {
	return openStepwise(dirfd, name, flags, perm)
}

// pathOnly is the flag that opens a folder only as the base for other calls.
const pathOnly = unix.O_RDONLY

// replaceFD makes the file descriptor to refer to the file of from.
func replaceFD(from, to int) error {
	syscall.ForkLock.RLock() // a child must not inherit it before the flag is set
	defer syscall.ForkLock.RUnlock()
	err := unix.Dup2(from, to)
	unix.CloseOnExec(to)
	return err
}

// renameNew renames a file and never replaces another file.
func renameNew(dirfd int, name string, todirfd int, to string) error {
	return unix.RenameatxNp(dirfd, name, todirfd, to, unix.RENAME_EXCL)
}

// namesIn lists an open folder. It reads a large folder in several calls, so the list may
// lack one name but contain another that was added later.
func namesIn(folder *os.File) ([]string, error) { return folder.Readdirnames(-1) }
