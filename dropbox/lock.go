package dropbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"
)

// lockPatience is how long Lock keeps trying. Retries are needed because a call of Holder
// briefly holds the lock.
const lockPatience = 500 * time.Millisecond

// Lock makes this process the only one that can claim messages in the store. If another
// process keeps the lock for half a second, the error is a [*LockedError] that names that
// process. The kernel releases the lock when the process ends, even if it crashes. The
// text in the file is only a note for people. A symlink in place of the lock file is an
// error.
//
// Deliveries do not need the lock.
func (s *Store) Lock() (release func() error, err error) {
	path := filepath.Join(s.dir, lockFile)
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW), flock.SetPermissions(0o600))
	got, err := lock.TryLock()
	for deadline := time.Now().Add(lockPatience); err == nil && !got && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
		got, err = lock.TryLock()
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", s.dir, err)
	}
	if !got {
		note, _ := s.disk.readFile(lockFile, 4096) // without a note, the error only says "locked"
		return nil, fmt.Errorf("lock %s: %w", s.dir, &LockedError{Holder: strings.TrimSpace(string(note))})
	}
	host, err := os.Hostname()
	if err != nil {
		host = "this host"
	}
	if err := writeNote(path, fmt.Sprintf("pid %d on %s\n", os.Getpid(), host)); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", s.dir, err), lock.Unlock())
	}
	if locked, err := os.Lstat(path); err == nil {
		s.locked.Store(&locked)
	}
	return lock.Unlock, nil
}

// LockLost reports whether another program deleted or replaced the file that Lock locked.
// Another process could then lock the new file.
func (s *Store) LockLost() bool {
	locked := s.locked.Load()
	if locked == nil {
		return false
	}
	is, err := os.Lstat(filepath.Join(s.dir, lockFile))
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(is, *locked)
}

// Holder returns the process that holds the lock, as in "pid 4711 on host". held is false
// if no process holds it.
func (s *Store) Holder() (holder string, held bool) {
	f, err := os.OpenFile(filepath.Join(s.dir, lockFile), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return "", false // no daemon has ever run here
	}
	defer f.Close() // this releases the lock
	if unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != unix.EWOULDBLOCK {
		return "", false
	}
	note, _ := s.disk.readFile(lockFile, 4096) // without a note, the holder has no name
	return strings.TrimSpace(string(note)), true
}

// writeNote replaces the text in the lock file. It does not follow a symlink.
func writeNote(path, note string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(note)
	return errors.Join(err, f.Close())
}

// Halted reports whether the file HALT exists. While it exists, no message can be
// claimed, but deliveries continue. Any program can create or remove HALT: `touch` is
// enough to create it.
func (s *Store) Halted() bool {
	there, err := s.disk.exists(haltFile)
	return there || err != nil // treat an error as halted
}

// Halt creates the file HALT and writes the reason into it for people to read. If the
// file already exists, its reason is kept.
func (s *Store) Halt(why string) error {
	if err := s.disk.put(scratchPrefix+NewID(), haltFile, []byte(why+"\n")); err != nil {
		return fmt.Errorf("halt: %w", err)
	}
	return nil
}

// HaltReason returns the text that Halt or a person wrote into HALT, or "" if HALT does
// not exist or cannot be read.
func (s *Store) HaltReason() string {
	data, err := s.disk.readFile(haltFile, 4096)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// Unhalt removes HALT. It is not an error if HALT is missing.
func (s *Store) Unhalt() error {
	err := s.disk.remove(haltFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("unhalt: %w", err)
	}
	return s.disk.syncDir(".")
}
