package runner

import (
	"errors"
	"os"
)

// roomAhead is the disk space that is reserved for a client's further output, in bytes.
// When less than roomLow bytes of it remain, more is reserved.
const (
	roomAhead = 1 << 20
	roomLow   = roomAhead / 2
)

// A Room is reserved disk space for a client's output. A client does not detect that its
// output cannot be written. The text and the result are then lost, and the client waits
// indefinitely. For this reason, no turn begins without a Room, and the Room of a running
// turn is larger than the usual output of a client between two checks.
//
// The zero value has no reserved space yet. On a file system that cannot reserve space, a
// Room does nothing. A Room is not safe for concurrent use.
type Room struct{ end int64 }

// Keep reserves more space after the first size bytes of the file at path if too little
// is left.
func (r *Room) Keep(path string, size int64) error {
	if size+roomLow <= r.end {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = setAside(f, size, roomAhead)
	if err == nil {
		r.end = size + roomAhead
	}
	return errors.Join(err, f.Close())
}

// ReleaseRoom frees the unused reserved space of a file, regardless of which process
// reserved it. The caller must make sure that no process is still writing to the file.
func ReleaseRoom(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size())
}
