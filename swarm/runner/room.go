package runner

import (
	"errors"
	"os"
)

// roomAhead is the disk space, in bytes, that is reserved for a client's further output.
// When less than roomLow of it is left, more is reserved.
const (
	roomAhead = 1 << 20
	roomLow   = roomAhead / 2
)

// A Room is reserved disk space for a client's output. A client does not notice when its
// output cannot be written: the text and the result are lost, and the client then waits
// forever. So no turn begins without room, and the room of a running turn is larger than
// the usual output of a client between two checks.
//
// The zero value has no room yet. On a file system that cannot reserve space, a Room does
// nothing. A Room belongs to one goroutine.
type Room struct{ end int64 }

// Keep ensures that there is room after the first size bytes of the file at path.
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

// ReleaseRoom frees the unused reserved space of a file, whichever process reserved it. No
// process may write to the file any more.
func ReleaseRoom(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size())
}
