package dropbox

import (
	"strings"

	"golang.org/x/sys/unix"
)

// openStepwise opens name below a folder, one folder after the other, each without
// following a symlink. Names have no empty part and no "..": they are made of
// constants, checked agents and names that a folder listed.
func openStepwise(dirfd int, name string, flags int, perm uint32) (int, error) {
	at := dirfd
	for {
		part, rest, more := strings.Cut(name, "/")
		partFlags, partPerm := flags, perm
		if more {
			partFlags, partPerm = unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0
		}
		var fd int
		err := again(func() (err error) {
			fd, err = unix.Openat(at, part, partFlags, partPerm)
			return err
		})
		if at != dirfd {
			unix.Close(at)
		}
		if err != nil || !more {
			return fd, err
		}
		at, name = fd, rest
	}
}
