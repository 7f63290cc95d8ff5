package dropbox

import (
	"errors"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"
)

// A Claim is a message that was taken for a turn. It lies in cur/ until it is
// settled: by Commit and Finish, by PutBack, or by Bury.
type Claim struct {
	Entry            // as it is now, in cur/
	Message *Message // nil when Bad is set

	// Bad says why the file is no message: broken, too large, a symlink, a folder.
	// It is claimed all the same, and is to be buried. It is an [ErrInvalid] or an
	// [ErrTooLarge].
	Bad error
}

// Claim takes a waiting message: one rename from new/ to cur/, with Begun one
// higher, durable before it returns. So a message that ends the machine each time
// it is begun is counted. The error is [ErrGone] when somebody else took it, and
// [ErrHalted] while HALT is there.
//
// The file is opened before it is moved and read through that, so what is read is
// what was claimed.
func (b *Mailbox) Claim(e Entry) (*Claim, error) {
	c, err := b.take(e)
	if err == nil {
		if err = b.disk.syncDir(b.dir(curFolder)); err != nil {
			// Not claimed for sure, so not claimed: or it would lie there until a restart.
			err = errors.Join(err, b.disk.move(b.at(curFolder, c.Name), b.at(newFolder, e.Name)))
		}
	}
	if err != nil {
		return nil, b.wrap("claim "+e.ID, err)
	}
	return c, nil
}

// Take is a Claim that a power cut may undo until [Mailbox.SyncClaims] returns.
// The caller prepares meanwhile what the message does not see: before a turn is
// begun its claim must be durable.
func (b *Mailbox) Take(e Entry) (*Claim, error) {
	c, err := b.take(e)
	if err != nil {
		return nil, b.wrap("claim "+e.ID, err)
	}
	return c, nil
}

// SyncClaims makes durable what was taken from this mailbox before the call.
func (b *Mailbox) SyncClaims() error {
	return b.wrap("make the claim durable", b.disk.syncDir(b.dir(curFolder)))
}

// take is the rename. It returns ErrGone when somebody else took the message.
func (b *Mailbox) take(e Entry) (*Claim, error) {
	if b.store.Halted() {
		return nil, ErrHalted
	}
	from := b.at(newFolder, e.Name)
	f, bad := b.disk.openRead(from)
	switch {
	case bad == nil:
		defer f.close()
	case errors.Is(bad, fs.ErrNotExist):
		return nil, ErrGone
	default:
		// Perhaps it is not the file that is strange, but the way to it.
		if err := b.disk.isFolder(b.dir(newFolder)); err != nil {
			return nil, err
		}
		bad = cannotOpen(bad)
	}
	c := &Claim{Entry: e, Bad: bad}
	c.Begun++
	c.Name = c.FileName()
	to := b.at(curFolder, c.Name)
	err := b.disk.move(from, to)
	if errors.Is(err, fs.ErrNotExist) { // which of the two?
		if there, statErr := b.disk.exists(from); !there {
			return nil, errors.Join(ErrGone, statErr)
		}
		if err = makeMailbox(b.disk, b.name); err == nil { // deleted by somebody: made again
			err = b.disk.move(from, to)
		}
	}
	if err != nil {
		return nil, err
	}
	if c.Bad == nil {
		c.read(&f, b.store.maxFile())
	}
	return c, nil
}

// isOdd says whether an open fails for what lies under the name, and always will; not
// for trouble of the disk or the process, which passes.
func isOdd(err error) bool {
	return slices.ContainsFunc([]error{
		unix.ELOOP, unix.ENXIO, unix.ENODEV, unix.EISDIR, unix.ENOTDIR, unix.EOPNOTSUPP, unix.ETXTBSY, unix.EOVERFLOW,
	}, func(e error) bool { return errors.Is(err, e) })
}

// cannotOpen turns the reasons for which an open fails, and will fail again, into
// what they say about the file.
func cannotOpen(err error) error {
	switch {
	case errors.Is(err, unix.ELOOP):
		return invalid("not a file but a %s", KindSymlink)
	case errors.Is(err, fs.ErrPermission):
		return invalid("the file cannot be read: %v", err)
	case errors.Is(err, unix.ENXIO):
		return invalid("not a file but a %s", KindSocket)
	}
	return invalid("the file cannot be opened: %v", err)
}

// read sets Message, or Bad.
func (c *Claim) read(f *readable, limit int64) {
	data, err := f.read(limit)
	if err == nil {
		c.Message, err = parseAs(c.Entry, data)
	}
	if err != nil && !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrTooLarge) {
		err = invalid("the file cannot be read: %v", err)
	}
	c.Bad = err
}

// Open reads again what is in cur/ already, after a crash. The error is [ErrGone]
// when it is not there.
func (b *Mailbox) Open(e Entry) (*Claim, error) {
	c := &Claim{Entry: e}
	f, err := b.disk.openRead(b.at(curFolder, e.Name))
	switch {
	case err == nil:
		c.read(&f, b.store.maxFile())
		f.close()
	case errors.Is(err, fs.ErrNotExist):
		return nil, b.wrap("open "+e.ID, ErrGone)
	default:
		c.Bad = cannotOpen(err)
	}
	return c, nil
}

// PutBack returns a claimed message to those that wait, durable: after a crash, a
// stop, or with failed after a turn that ended badly, which counts. Its place in
// the order stays. It returns the entry with its new name; the error is [ErrGone]
// when the message is not in cur/.
func (b *Mailbox) PutBack(e Entry, failed bool) (Entry, error) {
	back := e
	if failed {
		back.Failed++
	}
	back, err := b.putBack(e, back)
	return back, b.wrap("put back "+e.ID, err)
}

// Release is PutBack for a turn that never began: the claim is not counted.
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
	if errors.Is(err, fs.ErrNotExist) { // which of the two?
		if there, statErr := b.disk.exists(from); !there {
			return Entry{}, errors.Join(ErrGone, statErr)
		}
		if err = makeMailbox(b.disk, b.name); err == nil {
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
