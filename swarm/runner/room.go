package runner

import (
	"errors"
	"os"
)

// roomAhead is the room, in bytes, that is set aside on the disk in front of what a
// client has printed, and roomLow what is left of it when more is.
const (
	roomAhead = 1 << 20
	roomLow   = roomAhead / 2
)

// A Room is room on the disk for what a client will print. A client whose output
// cannot be written does not notice: what it says is lost, its result with it, and
// it waits for ever. So no turn begins without room, and while one runs there is
// more in front of it than a client prints between two looks.
//
// The zero value has no room yet. Where a file system knows no such thing it does
// nothing. It belongs to one goroutine.
type Room struct{ end int64 }

// Keep sees to it that there is room in the file at path, which has this size.
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

// ReleaseRoom gives back what was not printed into, whoever set it aside. Nothing
// may write to the file any more.
func ReleaseRoom(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size())
}
