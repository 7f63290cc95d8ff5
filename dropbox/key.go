package dropbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// keyLife is the duration for which a key is remembered.
const keyLife = 7 * 24 * time.Hour

// keyFile returns the path of a key's file. Because of this file, at most one message
// with that key is delivered to the mailbox. A sender writes the message in tmp/ and
// links it to keys/<sha256 of the key>; only one caller can create this link. The sender
// then moves the message from tmp/ to new/. Again only one caller succeeds, because a
// rename removes the old name. A caller that finds the key file can therefore complete
// the delivery without a duplicate, even while the first caller is still working on it.
func keyFile(mailbox, key string) string {
	sum := sha256.Sum256([]byte(key))
	return mailbox + "/" + keysFolder + "/" + hex.EncodeToString(sum[:])
}

// errForgotten reports that a key is no longer remembered and can be used again.
var errForgotten = errors.New("the key is being forgotten; try again")

// keys represents the key files of a store's mailboxes; see [keyFile].
type keys struct{ store *Store }

func (s *Store) keys() keys { return keys{s} }

// finish reads the message in a key file and completes its delivery if that was
// interrupted. When finish returns the delivery, the delivery is durable.
func (k keys) finish(to, key string) (Delivery, error) {
	link := keyFile(to, key)
	first, data, ino, err := k.read(to, key)
	if err != nil {
		return Delivery{}, err
	}
	e := first.entry()
	if k.store.opts.Now().Sub(e.Created) > keyLife {
		return Delivery{}, k.forget(to, link, ino)
	}
	d := Delivery{ID: e.ID, To: to, Name: e.Name, Thread: first.Thread, Duplicate: true}
	if purged, err := k.store.disk.exists(purgedFile(to, first)); err != nil {
		return Delivery{}, err
	} else if purged {
		return d, k.sync(to)
	}
	fresh := to + "/" + newFolder
	// Look for the message, then move it, then look again. Between the first look and the
	// move, another caller may have delivered the message and a turn may have claimed it.
	for range 3 {
		there, err := k.has(to, e)
		if err != nil {
			return Delivery{}, err
		}
		if there {
			return d, k.sync(to)
		}
		// The first caller may not have synced keys/. Sync it now, because a power cut must
		// not remove the key of a message in new/.
		if err := k.store.disk.syncDir(to + "/" + keysFolder); err != nil {
			return Delivery{}, err
		}
		err = k.store.disk.move(to+"/"+tmpFolder+"/"+e.Name, fresh+"/"+e.Name)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return d, k.sync(to)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return Delivery{}, err
		}
	}
	// If the key file has a second name, the message exists and was merely moved between
	// the checks, unless the second name is in tmp/ and Clean is about to remove it.
	st, err := k.store.disk.stat(link)
	if errors.Is(err, fs.ErrNotExist) {
		return Delivery{}, errForgotten
	} else if err != nil {
		return Delivery{}, err
	}
	if st.Nlink > 1 {
		old, err := k.isOld(to, st.Ino)
		if err != nil {
			return Delivery{}, err
		}
		if old {
			return Delivery{}, k.forget(to, link, st.Ino)
		}
		return d, k.sync(to)
	}
	// The message has no other name, and no caller is delivering it: the disk lost the rename
	// in a power cut, or the file in tmp/ was removed. The key file contains the message.
	err = k.store.disk.link(link, fresh+"/"+e.Name, data)
	if errors.Is(err, fs.ErrNotExist) {
		return Delivery{}, errForgotten
	} else if err != nil && !errors.Is(err, fs.ErrExist) {
		return Delivery{}, err
	}
	return d, k.sync(to)
}

// Delivered finds the message that was delivered to a mailbox with the given key, in any
// state, and completes an interrupted delivery. ok is false for an unknown key.
func (s *Store) Delivered(to, key string) (d Delivery, ok bool, err error) {
	if reason := badShape(to); reason != "" {
		return Delivery{}, false, &NameError{Name: to, Reason: reason}
	}
	there, err := s.disk.exists(keyFile(to, key))
	if err == nil && there {
		d, err = s.keys().finish(to, key)
	}
	if errors.Is(err, errForgotten) {
		return Delivery{}, false, nil
	}
	if err != nil {
		return Delivery{}, false, fmt.Errorf("look for a key of %s: %w", to, err)
	}
	return d, there, nil
}

// read reads the message in a key file. A file that another program wrote or changed is set
// aside, and the key is forgotten.
func (k keys) read(to, key string) (m *Message, data []byte, ino uint64, err error) {
	link := keyFile(to, key)
	f, err := k.store.disk.openRead(link)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, 0, errForgotten
	case err == nil:
		defer f.close()
		if data, err = f.read(k.store.maxFile()); err == nil {
			m, err = Parse(data)
		}
		if err == nil && (m.Key != key || m.ID == "") {
			err = invalid("it is not the message that belongs to its key")
		}
	case isOdd(err) && !errors.Is(err, fs.ErrPermission):
		err = cannotOpen(err)
	}
	if errors.Is(err, ErrInvalid) || errors.Is(err, ErrTooLarge) {
		b := &Mailbox{store: k.store, disk: k.store.disk, name: to}
		_, err = b.setAside(keysFolder, path.Base(link), fmt.Sprintf("it was in keys/, but is not a key file: %v", err))
		if ignoreMissing(err) == nil {
			err = errForgotten
		}
	}
	if err != nil {
		return nil, nil, 0, fmt.Errorf("key: %w", err)
	}
	return m, data, f.st.Ino, nil
}

// isOld reports whether the file has a name in tmp/ that marks it for removal; see
// [Mailbox.Clean].
func (k keys) isOld(to string, ino uint64) (bool, error) {
	names, err := k.store.disk.names(to + "/" + tmpFolder)
	if err != nil {
		return false, err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, oldPrefix) {
			continue
		}
		if old, err := k.store.disk.isFile(to+"/"+tmpFolder+"/"+name, ino); old || err != nil {
			return old, err
		}
	}
	return false, nil
}

// purgedFile returns the path of the file that marks a message as purged. The file is
// beside the key file, and its name contains the id of the message, because the mark may
// outlive the key file: if another message then has the same key, the mark must not
// prevent its delivery.
func purgedFile(mailbox string, m *Message) string {
	return keyFile(mailbox, m.Key) + "." + m.ID + ".purged"
}

// markPurged durably records the key of a message that is about to be removed, so that a
// repeated delivery does not recreate it. path is the message's file in the mailbox or in
// refused/. A file that is not a message or cannot be read needs no mark. If it has a key
// file, both are names of the same file, so [keys.finish] cannot read the key file
// either.
func (k keys) markPurged(b *Mailbox, path string) error {
	data, err := k.store.disk.readFile(path, k.store.maxFile())
	switch {
	case errors.Is(err, ErrInvalid), errors.Is(err, ErrTooLarge), errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EIO):
		return nil
	case err != nil:
		return ignoreMissing(err)
	}
	m, err := Parse(data)
	if err != nil || m.Key == "" {
		return nil
	}
	if known, err := k.store.disk.exists(keyFile(b.name, m.Key)); !known || err != nil {
		return err // without a key file there is no key to remember
	}
	return b.put("purged", purgedFile(b.name, m), nil)
}

// sync makes the first caller's delivery durable. A caller whose message is a duplicate
// relies on that delivery.
func (k keys) sync(to string) error {
	return errors.Join(k.store.disk.syncDir(to+"/"+keysFolder), k.store.disk.syncDir(to+"/"+newFolder))
}

// forget removes an old key file and then returns [errForgotten]. A lock on keys/ lets only
// one caller at a time check the file and remove it. Otherwise a slow caller could remove a
// newer key file with the same name, and the next caller would deliver the message again.
func (k keys) forget(to, link string, ino uint64) error {
	folder, err := k.store.disk.folder(to + "/" + keysFolder)
	if err != nil {
		return err
	}
	defer folder.Close() // this releases the lock
	if err := retryEINTR(func() error { return unix.Flock(int(folder.Fd()), unix.LOCK_EX) }); err != nil {
		return fmt.Errorf("lock %s: %w", folder.Name(), err)
	}
	if same, err := k.store.disk.isFile(link, ino); err != nil {
		return err
	} else if !same {
		return errForgotten
	}
	if err := k.store.disk.remove(link); ignoreMissing(err) != nil {
		return err
	}
	return errForgotten
}

// has reports whether any folder of a mailbox contains a message. It checks the folders in
// the order in which a message moves through them, so that it does not miss a message that
// is moving.
func (k keys) has(mailbox string, e Entry) (bool, error) {
	base := e.Base()
	if there, err := k.store.disk.exists(mailbox + "/" + newFolder + "/" + base + ".md"); there || err != nil {
		return there, err
	}
	// Check new/ again, because the name of a message that was put back contains counts.
	for _, folder := range []string{curFolder, newFolder} {
		names, err := k.store.disk.names(mailbox + "/" + folder)
		if err != nil {
			return false, err
		}
		for _, name := range names {
			if strings.HasPrefix(name, base) && strings.HasSuffix(name, ".md") {
				return true, nil
			}
		}
	}
	for _, folder := range []string{mailbox + "/" + deadFolder, refusedDir + "/" + mailbox} {
		if there, err := k.store.disk.exists(folder + "/" + base + ".md"); there || err != nil {
			return there, err
		}
	}
	day, err := k.store.doneDay(mailbox, e, base+".md")
	return day != "", err
}

// oldPrefix is the name prefix of files in tmp/ that Clean is about to remove.
const oldPrefix = "old-"
