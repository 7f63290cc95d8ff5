package dropbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A FileSystem describes the disk that a folder is on, in particular the features that
// matter to a store.
type FileSystem struct {
	Kind     string // the name that mount uses, such as "ext4"; empty for an unknown kind
	Remote   bool   // other machines can change it without causing events on this one; locks may not work
	Volatile bool   // its files are lost with the machine or the container: tmpfs, overlay

	HardLinks bool // it supports hard links
	NoReplace bool // it supports a rename that refuses to replace a file
	FoldsCase bool // it treats "a" and "A" as the same name
	Locks     bool // a lock held by one program excludes other programs
}

// Usable reports whether deliveries with a key work on the file system: they need hard
// links or a rename that refuses to replace a file. Deliveries without a key work on every
// file system.
func (f FileSystem) Usable() bool { return f.HardLinks || f.NoReplace }

// ProbeFileSystem tests the disk that the folder dir is on. It creates a temporary
// folder in dir and then removes it. dir must exist and be writable.
func ProbeFileSystem(dir string) (FileSystem, error) {
	f, err := probe(dir)
	if err != nil {
		return f, fmt.Errorf("test the file system of %s: %w", dir, err)
	}
	return f, nil
}

func probe(dir string) (f FileSystem, err error) {
	if f, err = statFileSystem(dir); err != nil {
		return f, err
	}
	scratch, err := os.MkdirTemp(dir, scratchPrefix)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	at := func(name string) string { return filepath.Join(scratch, name) }
	for _, name := range []string{"one", "two", "three"} {
		if err := os.WriteFile(at(name), nil, 0o600); err != nil {
			return f, err
		}
	}
	_, err = os.Lstat(at("ONE"))
	f.FoldsCase = err == nil

	f.HardLinks = os.Link(at("one"), at("link")) == nil
	folder, err := os.Open(scratch)
	if err != nil {
		return f, err
	}
	defer folder.Close()
	fd := int(folder.Fd())
	f.NoReplace = errors.Is(renameNew(fd, "one", fd, "two"), unix.EEXIST) && renameNew(fd, "three", fd, "four") == nil
	f.Locks, err = locksHold(at("two"))
	return f, err
}

// locksHold tries to acquire the same lock twice and reports whether only the second
// attempt fails.
func locksHold(path string) (bool, error) {
	var fds [2]*os.File
	for i := range fds {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return false, err
		}
		defer f.Close()
		fds[i] = f
	}
	lock := func(f *os.File) error {
		return retryEINTR(func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) })
	}
	return lock(fds[0]) == nil && errors.Is(lock(fds[1]), unix.EWOULDBLOCK), nil
}

// Misplaced lists the mailbox folders that files cannot be moved into or out of. Each
// listed name either does not refer to a folder (it may be a symlink) or refers to one on
// a different disk from the mailbox. Names are relative to the store's folder and use
// slashes.
func (s *Store) Misplaced() ([]string, error) {
	names, err := s.Mailboxes()
	if err != nil {
		return nil, err
	}
	var list []string
	for _, name := range names {
		box, err := s.disk.stat(name)
		if err != nil {
			return nil, fmt.Errorf("look at mailbox %s: %w", name, err)
		}
		for _, folder := range mailboxFolders {
			st, err := s.disk.stat(name + "/" + folder)
			if ignoreMissing(err) != nil {
				return nil, fmt.Errorf("look at mailbox %s: %w", name, err)
			}
			if err == nil && (kindOf(st.Mode) != KindFolder || st.Dev != box.Dev) {
				list = append(list, name+"/"+folder)
			}
		}
	}
	return list, nil
}

// roomTried is the number of bytes that [Store.Room] writes: one block on most file
// systems, which is enough for an ordinary message.
const roomTried = 4 << 10

// Room checks that the disk has room for a message: it durably writes a file of 4 KiB in
// the store's folder and then removes the file. The error is a disk error; [IsNoRoom]
// distinguishes a full disk from other errors. Room is safe for concurrent use.
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

// IsNoRoom reports whether an error means that a disk is full or a quota is exceeded.
func IsNoRoom(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}
