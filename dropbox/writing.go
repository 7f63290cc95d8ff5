package dropbox

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Writing reports whether a program has a file open for writing.
type Writing int

const (
	WritersUnknown Writing = iota // this system, file system or file does not tell
	NoWriter
	BeingWritten
)

// Writing reports whether a program has a dropped file open for writing. On Linux the kernel
// knows; elsewhere, on network file systems and for a file of another user, the result is
// WritersUnknown. The result is NoWriter for whatever is not a regular file, and for a file
// that is gone.
func (drops Drops) Writing(st Stray) Writing {
	if st.Kind != KindFile {
		return NoWriter
	}
	f, err := drops.box.disk.openRead(drops.box.name + "/" + st.Name)
	if err != nil {
		return NoWriter
	}
	defer f.close()
	return drops.box.store.writing(f)
}

// writing reports whether a program has an open file open for writing. If not, none can open
// it for writing until f is closed.
func (s *Store) writing(f readable) Writing {
	err := lease(f.fd)
	switch {
	case err == nil:
		return NoWriter
	case errors.Is(err, unix.EAGAIN) && s.hasLeases():
		return BeingWritten
	}
	return WritersUnknown
}

// hasLeases reports whether the file system of the store has leases. It tries one on a file
// that nobody writes.
func (s *Store) hasLeases() bool {
	s.leases.Do(func() {
		f, err := s.disk.openRead(versionFile)
		if err != nil {
			return
		}
		defer f.close()
		s.leased = lease(f.fd) == nil
	})
	return s.leased
}
