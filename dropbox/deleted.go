package dropbox

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// Deleted reports whether another program, such as git clean, has deleted the store's
// folder. A folder that was moved or renamed is not deleted, and the Store keeps using it.
//
// As soon as the folder's path contains a store again, for example after [Create], every
// open Store uses that one, and Deleted returns false.
func (s *Store) Deleted() bool {
	s.disk.followPath()
	return s.disk.deleted()
}

// InPlace reports whether the folder that the Store uses is the one at its path. The error
// is [fs.ErrNotExist] if there is no folder at the path.
func (s *Store) InPlace() (bool, error) {
	is, err := os.Stat(s.dir)
	if err != nil {
		return false, err
	}
	own, err := s.disk.top.Stat()
	return err == nil && os.SameFile(is, own), err
}

// deleted reports whether the folder that the disk uses has no name anymore.
func (d *disk) deleted() bool {
	var st unix.Stat_t
	return retryEINTR(func() error { return unix.Fstat(d.fd, &st) }) == nil && st.Nlink == 0
}

// followPath makes the disk use the store that is now at the path of its deleted folder.
// It reports whether it did. The file descriptor keeps its number, so calls that are under
// way use either the old folder or the new one.
func (d *disk) followPath() bool {
	if !d.deleted() {
		return false
	}
	d.following.Lock()
	defer d.following.Unlock()
	if !d.deleted() {
		return true // another goroutine was faster
	}
	top, err := os.Open(d.dir)
	if err != nil {
		return false
	}
	defer top.Close()
	// The version file is written last, so with it the store is complete.
	if checkVersion(&disk{dir: d.dir, top: top, fd: int(top.Fd())}) != nil {
		return false
	}
	return replaceFD(int(top.Fd()), d.fd) == nil
}

// removeAll removes a name and everything below it. It does not follow a symlink.
func (d *disk) removeAll(name string) error {
	root, err := os.OpenRoot(d.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	is, err := root.Stat(".")
	if err != nil {
		return err
	}
	own, err := d.top.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(is, own) {
		return pathError("remove", name, fs.ErrNotExist) // the folder was moved; nothing may be removed from the one in its place
	}
	return root.RemoveAll(name)
}

// Restore recreates the file of a claimed message in cur/ if another program deleted it.
// It does nothing if the message is anywhere in the mailbox. When Restore returns nil, the
// file is durable. After that, the claim can be settled in any way.
func (b *Mailbox) Restore(c *Claim) error { return b.wrap("restore "+c.ID, b.restore(c)) }

func (b *Mailbox) restore(c *Claim) error {
	at := b.at(curFolder, c.Name)
	if there, err := b.disk.exists(at); there || err != nil || c.data == nil {
		return err
	}
	for f, err := range b.All() {
		if err != nil {
			return err
		}
		if f.Entry.ID == c.ID {
			return nil
		}
	}
	// Another goroutine may have put the message back after new/ was listed.
	fresh, _, err := b.list(newFolder)
	if err != nil {
		return err
	}
	for _, e := range fresh {
		if e.ID == c.ID {
			return nil
		}
	}
	if err := makeMailbox(b.disk, b.name); err != nil {
		return err
	}
	return b.put("restored", at, c.data)
}

// IsDeleted reports whether an error means that a file or a folder does not exist, or that
// a mailbox does not. That is the case after another program, such as git clean, has
// deleted it.
func IsDeleted(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNoMailbox) || errors.Is(err, ErrNoStore)
}

// IsUndeliverable reports whether an error means that a retry cannot deliver the message
// either. Retries would then block the mailbox.
func IsUndeliverable(err error) bool {
	return slices.ContainsFunc([]error{ErrNoMailbox, ErrName, ErrInvalid, ErrTooLarge, ErrHops}, func(never error) bool { return errors.Is(err, never) })
}
