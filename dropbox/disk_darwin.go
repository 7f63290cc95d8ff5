package dropbox

import "golang.org/x/sys/unix"

// openBeneath opens name below a folder, following no symlink on the way.
func openBeneath(dirfd int, name string, flags int, perm uint32) (int, error) {
	return openStepwise(dirfd, name, flags, perm)
}

// renameNew renames without replacing.
func renameNew(dirfd int, name, to string) error {
	return unix.RenameatxNp(dirfd, name, dirfd, to, unix.RENAME_EXCL)
}
