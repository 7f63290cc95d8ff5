package runner

import (
	"os"

	"golang.org/x/sys/unix"
)

// setAside reserves n bytes of disk space after the first size bytes of f. The size of
// the file does not change, and data appended later uses the reserved space.
func setAside(f *os.File, size, n int64) error {
	for {
		switch err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, size, n); err {
		case unix.EINTR:
		case nil, unix.EOPNOTSUPP, unix.ENOSYS:
			return nil
		default:
			return &os.PathError{Op: "reserve space in", Path: f.Name(), Err: err}
		}
	}
}
