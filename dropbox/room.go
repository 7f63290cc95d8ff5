package dropbox

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// roomTried is how many bytes [Store.Room] writes: a block of the usual file systems,
// which is what a message of usual size needs.
const roomTried = 4 << 10

// Room tells whether the disk takes a message: it writes a file of 4 KiB into the
// store's folder, durable, and removes it. The error says why not; [IsNoRoom] tells a
// full disk from other trouble. It is safe for several goroutines.
func (s *Store) Room() error {
	name := scratchPrefix + "room-" + NewID()
	err := s.disk.write(name, make([]byte, roomTried))
	if err == nil {
		err = s.disk.remove(name)
	}
	if err != nil {
		return fmt.Errorf("try the disk: %w", err)
	}
	return nil
}

// IsNoRoom tells whether an error says that a disk is full, or a quota used up.
func IsNoRoom(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}
