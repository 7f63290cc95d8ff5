package dropbox

import (
	"os"

	"golang.org/x/sys/unix"
)

func statFileSystem(dir string) (FileSystem, error) {
	var st unix.Statfs_t
	if err := retryEINTR(func() error { return unix.Statfs(dir, &st) }); err != nil {
		return FileSystem{}, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return FileSystem{Kind: unix.ByteSliceToString(st.Fstypename[:]), Remote: st.Flags&unix.MNT_LOCAL == 0}, nil
}
