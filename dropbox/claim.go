package dropbox

import (
	"errors"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"
)

// A Claim is a message that has been claimed for a turn. It stays in cur/ until it is
// settled, for example by Commit and Finish, by PutBack or by GiveUp.
type Claim struct {
	Entry            // the message's name and counts in cur/
	Message *Message // nil if Bad is set

	// Bad is the reason why the file is not a valid message: for example, it is broken,
	// too large, a symlink or a folder. The file is claimed anyway, and the caller must
	// give it up. Bad is an [ErrInvalid] or an [ErrTooLarge].
	Bad error

	data []byte // the file, for Restore; nil if it could not be read
}

// Claim claims a waiting message: it increments Begun and moves the file from new/ to
// cur/. The rename is durable when Claim returns, so every attempt is counted, even if
// the message crashes the machine each time. The error is [ErrGone] if another caller
// claimed the message, and [ErrHalted] while HALT exists. After any other error the
// message is still waiting, unless the disk refused to move it back. In that case it is
// in cur/, as after a crash.
//
// Claim opens and reads the file before it renames it.
func (b *Mailbox) Claim(e Entry) (*Claim, error) {
	c, err := b.claim(e)
	if err == nil {
		if err = b.disk.syncDir(b.dir(curFolder)); err != nil {
			// The claim is not durable, so undo it. Otherwise the message would stay in
			// cur/ until a restart.
			err = errors.Join(err, b.disk.move(b.at(curFolder, c.Name), b.at(newFolder, e.Name)))
		}
	}
	if err != nil {
		return nil, b.wrap("claim "+e.ID, err)
	}
	return c, nil
}

// Take is Claim without the sync: until [Mailbox.SyncClaims] returns, a power cut may
// undo the claim. The caller can prepare the turn in the meantime, but the claim must be
// durable before the turn begins.
func (b *Mailbox) Take(e Entry) (*Claim, error) {
	c, err := b.claim(e)
	if err != nil {
		return nil, b.wrap("claim "+e.ID, err)
	}
	return c, nil
}

// SyncClaims makes all earlier claims by [Mailbox.Take] in this mailbox durable.
func (b *Mailbox) SyncClaims() error {
	return b.wrap("make the claim durable", b.disk.syncDir(b.dir(curFolder)))
}

// claim reads the message and renames its file. It returns ErrGone if another caller
// claimed the message.
func (b *Mailbox) claim(e Entry) (*Claim, error) {
	if b.store.Halted() {
		return nil, ErrHalted
	}
	from := b.at(newFolder, e.Name)
	c := &Claim{Entry: e}
	if err := b.read(c, from); err != nil {
		return nil, err
	}
	c.Begun++
	c.Name = c.FileName()
	to := b.at(curFolder, c.Name)
	err := b.disk.move(from, to)
	if errors.Is(err, fs.ErrNotExist) { // which is missing: the message or the folder cur/?
		if there, statErr := b.disk.exists(from); !there {
			return nil, errors.Join(ErrGone, statErr)
		}
		if err = makeMailbox(b.disk, b.name); err == nil { // cur/ was deleted
			err = b.disk.move(from, to)
		}
	}
	if err != nil {
		return nil, err
	}
	fullMark{b}.messageLeft()
	return c, nil
}

// read sets c.Message, or sets c.Bad if the file is not a message and will never be one.
// The error is [ErrGone] if the file is missing. Any other error is a temporary failure
// of the disk or of this process, and the message may still be valid.
func (b *Mailbox) read(c *Claim, path string) error {
	f, err := b.disk.openRead(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrGone
	case isOdd(err):
		// The error may concern a folder on the path rather than the file itself.
		folder, _ := strings.CutSuffix(path, "/"+c.Name)
		if err := b.disk.isFolder(folder); err != nil {
			return err
		}
		c.Bad = cannotOpen(err)
		return nil
	case err != nil:
		return err
	}
	defer f.close()
	data, err := f.read(b.store.maxFile())
	if err == nil {
		c.data = data
		c.Message, err = parseAs(c.Entry, data)
	}
	if errors.Is(err, unix.EIO) && b.works() {
		// Only this file is broken. Endless retries would block all other messages.
		err = invalid("the file cannot be read: %v", err)
	}
	if errors.Is(err, ErrInvalid) || errors.Is(err, ErrTooLarge) {
		c.Bad = err
		return nil
	}
	return err
}

// works reports whether a small file can be written to the disk.
func (b *Mailbox) works() bool {
	scratch := b.at(tmpFolder, "trial-"+NewID())
	return b.disk.write(scratch, []byte("Is this disk working?\n")) == nil && b.disk.remove(scratch) == nil
}

// Open rereads a message in cur/ after a crash. The error is [ErrGone] if the message is
// missing.
func (b *Mailbox) Open(e Entry) (*Claim, error) {
	c := &Claim{Entry: e}
	if err := b.read(c, b.at(curFolder, e.Name)); err != nil {
		return nil, b.wrap("open "+e.ID, err)
	}
	return c, nil
}

// PutBack durably returns a claimed message to the waiting messages after a crash, a stop
// or a failed turn. If failed is set, PutBack counts the turn as failed. The message
// keeps its position in the queue. PutBack returns the entry with its new name. The error
// is [ErrGone] if the message is neither in cur/ nor already put back.
func (b *Mailbox) PutBack(e Entry, failed bool) (Entry, error) {
	back := e
	if failed {
		back.Failed++
	}
	back, err := b.putBack(e, back)
	return back, b.wrap("put back "+e.ID, err)
}

// Release is PutBack for a turn that never began, so it also undoes the increment of
// Begun.
func (b *Mailbox) Release(e Entry) (Entry, error) {
	back := e
	back.Begun = max(0, e.Begun-1)
	back, err := b.putBack(e, back)
	return back, b.wrap("release "+e.ID, err)
}

func (b *Mailbox) putBack(e, back Entry) (Entry, error) {
	back.Name = back.FileName()
	from, to := b.at(curFolder, e.Name), b.at(newFolder, back.Name)
	err := b.disk.move(from, to)
	if errors.Is(err, fs.ErrNotExist) { // which is missing: the message or the folder new/?
		claimed, statErr := b.disk.exists(from)
		if statErr != nil {
			return Entry{}, statErr
		}
		if !claimed { // an earlier PutBack may have moved it but failed before the sync
			var back bool
			if back, err = b.disk.exists(to); err == nil && !back {
				err = ErrGone
			}
		} else if err = makeMailbox(b.disk, b.name); err == nil {
			err = b.disk.move(from, to)
		}
	}
	if err == nil {
		err = b.disk.syncDir(b.dir(newFolder))
	}
	if err == nil {
		err = b.disk.syncLeft(b.dir(curFolder))
	}
	if err != nil {
		return Entry{}, err
	}
	return back, nil
}
