package dropbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// maxBatch is the maximum number of messages in a batch. A batch keeps one file open for
// each message.
const maxBatch = 64

// An outgoing is a message that is being delivered.
type outgoing struct {
	Delivery
	key  string
	data []byte

	folders *boxFolders
	over    bool  // it was delivered, or failed permanently
	err     error // why it failed; if over is false, why this batch cannot deliver it
}

func (o *outgoing) scratch() string { return o.To + "/" + tmpFolder + "/" + o.Name }
func (o *outgoing) path() string    { return o.To + "/" + newFolder + "/" + o.Name }

func (o *outgoing) end(err error) { o.over, o.err = true, err }

// failed returns the outgoing for a message that cannot be delivered. to is its mailbox,
// and err is the reason.
func failed(to string, err error) *outgoing {
	return &outgoing{Delivery: Delivery{To: to}, over: true, err: err}
}

// outcome returns the result for the sender.
func (o *outgoing) outcome() Outcome {
	if o.err != nil {
		return Outcome{Err: fmt.Errorf("deliver to %s: %w", o.To, o.err)}
	}
	return Outcome{Delivery: o.Delivery}
}

// mayGoAlone reports whether a message that failed in a batch may succeed when it is
// delivered alone: after a repair of its mailbox, with fewer open files, or by completing
// an earlier delivery with the same key.
func mayGoAlone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) ||
		errors.Is(err, errForgotten)
}

// pick chooses the messages that can be delivered together. It omits a message whose key
// is known or is also the key of an earlier message to the same mailbox.
func (b *batch) pick(all []*outgoing) {
	for _, o := range all {
		if o.over {
			continue
		}
		if o.key != "" {
			known, err := b.disk.exists(keyFile(o.To, o.key))
			if err != nil {
				o.end(err)
				continue
			}
			if known || slices.ContainsFunc(b.mail, func(m *outgoing) bool { return m.To == o.To && m.key == o.key }) {
				continue
			}
		}
		b.mail = append(b.mail, o)
	}
}

// deliver delivers one message or, if its key is already known, completes the earlier
// delivery with that key. It repairs the mailbox if necessary.
func (s *Store) deliver(o *outgoing) {
	if o.over {
		return
	}
	repaired := false
	// A round can fail because another caller removes an old or broken key file. Ten
	// rounds are more than enough.
	for range 10 {
		b := &batch{store: s, disk: s.disk, mail: []*outgoing{o}}
		if o.err = b.finishKnown(o); errors.Is(o.err, errForgotten) {
			o.err = nil
			b.deliver()
		}
		switch {
		case o.over:
			return
		case errors.Is(o.err, fs.ErrNotExist) && !repaired:
			repaired = true
			if err := s.repair(o.To); err != nil {
				o.end(err)
				return
			}
		case !errors.Is(o.err, errForgotten):
			return
		}
	}
}

// finishKnown completes the delivery of the first message that had the same key as o. The
// error is [errForgotten] if no message has the key.
func (b *batch) finishKnown(o *outgoing) error {
	if o.key == "" {
		return errForgotten
	}
	first, err := b.store.keys().finish(o.To, o.key)
	if err != nil {
		return err
	}
	first.Duplicate = first.ID != o.ID
	o.Delivery = first
	o.end(nil)
	return nil
}

// A batch delivers messages together. It performs each step for all messages before the
// next step, so that they share each wait for the disk:
//
//	write all in tmp/ -> sync them -> link those with a key to keys/ -> sync keys/
//	-> move all to new/, in order -> sync new/
type batch struct {
	store *Store
	disk  *disk
	boxes []*boxFolders
	mail  []*outgoing // the messages that have neither been delivered nor failed
}

// boxFolders are the folders of a mailbox that a batch holds open.
type boxFolders struct {
	name        string
	fresh, keys *os.File // keys is nil until the first key file is linked in the folder
	tmp         nameAt

	linked, moved []*outgoing // messages with a new key file; messages that are in new/
}

func (b *batch) deliver() {
	defer b.close()
	for _, step := range []func(){b.open, b.write, b.linkKeys, b.move} {
		step()
		b.mail = slices.DeleteFunc(b.mail, func(o *outgoing) bool { return o.over || o.err != nil })
	}
}

// stop removes a message without a file in tmp/ from the batch.
func (b *batch) stop(o *outgoing, err error) { o.over, o.err = !mayGoAlone(err), err }

// drop removes a message's file from tmp/ and removes the message from the batch.
func (b *batch) drop(o *outgoing, err error) {
	if left := ignoreMissing(b.disk.removeAt(o.folders.tmp.sibling(o.Name), o.scratch())); left != nil {
		o.end(errors.Join(err, left))
		return
	}
	b.stop(o, err)
}

func (b *batch) open() {
	for _, o := range b.mail {
		var err error
		if o.folders, err = b.foldersOf(o.To); err != nil {
			b.stop(o, err)
		}
	}
}

func (b *batch) foldersOf(to string) (*boxFolders, error) {
	if i := slices.IndexFunc(b.boxes, func(box *boxFolders) bool { return box.name == to }); i >= 0 {
		return b.boxes[i], nil
	}
	// If work/ is missing, the other folders may not be durable yet: see [makeMailbox].
	if there, err := b.disk.exists(to + "/" + workFolder); err != nil {
		return nil, err
	} else if !there {
		return nil, pathError("open", to+"/"+workFolder, fs.ErrNotExist)
	}
	fresh, err := b.disk.folder(to + "/" + newFolder)
	if err != nil {
		return nil, err
	}
	tmp, err := b.disk.nameAt(to + "/" + tmpFolder + "/-")
	if err != nil {
		return nil, errors.Join(err, fresh.Close())
	}
	box := &boxFolders{name: to, fresh: fresh, tmp: tmp}
	b.boxes = append(b.boxes, box)
	return box, nil
}

func (b *batch) close() {
	for _, box := range b.boxes {
		box.fresh.Close()
		box.tmp.close()
		if box.keys != nil {
			box.keys.Close()
		}
	}
}

func (b *batch) write() {
	files := make([]*os.File, len(b.mail))
	for i, o := range b.mail {
		var err error
		if files[i], err = b.disk.fillAt(o.folders.tmp.sibling(o.Name), o.scratch(), o.data); err != nil {
			b.stop(o, err)
		}
	}
	for i, err := range b.disk.syncFiles(files) {
		if err != nil {
			b.drop(b.mail[i], err)
		}
	}
}

// linkKeys creates the key files; see [keyFile].
func (b *batch) linkKeys() {
	for _, o := range b.mail {
		if o.key == "" {
			continue
		}
		link := keyFile(o.To, o.key)
		err := b.openKeys(o.folders)
		if err == nil {
			err = b.disk.linkAt(o.folders.tmp.sibling(o.Name), nameIn(o.folders.keys, link), o.scratch(), link, o.data)
		}
		if errors.Is(err, fs.ErrExist) {
			// Another caller created the key file first. In that case deliver completes
			// that caller's delivery.
			err = errForgotten
		}
		if err != nil {
			b.drop(o, err)
			continue
		}
		o.folders.linked = append(o.folders.linked, o)
	}
	for _, box := range b.boxes {
		if len(box.linked) == 0 {
			continue
		}
		if err := b.disk.syncFolder(box.keys); err != nil {
			for _, o := range box.linked {
				o.end(err) // the next caller with that key completes the delivery
			}
		}
	}
}

func (b *batch) openKeys(box *boxFolders) (err error) {
	if box.keys == nil {
		box.keys, err = b.disk.folder(box.name + "/" + keysFolder)
	}
	return err
}

// move makes the messages visible in order.
func (b *batch) move() {
	for _, o := range b.mail {
		err := b.disk.moveAt(o.folders.tmp.sibling(o.Name), nameIn(o.folders.fresh, o.Name), o.scratch(), o.path())
		switch {
		case err == nil:
			o.folders.moved = append(o.folders.moved, o)
		case o.key == "":
			b.drop(o, err)
		case errors.Is(err, fs.ErrNotExist):
			// Another caller completed this delivery first, or a program emptied tmp/. In
			// both cases the key file contains the message.
			if err := b.finishKnown(o); err != nil {
				b.stop(o, err)
			}
		default:
			o.end(err) // the next caller with that key completes the delivery
		}
	}
	for _, box := range b.boxes {
		if len(box.moved) == 0 {
			continue
		}
		err := b.disk.syncFolder(box.fresh)
		for _, o := range box.moved {
			o.end(err)
			if err != nil && o.key == "" {
				o.end(b.takeBack(o, err))
			}
		}
	}
}

// takeBack removes a message from new/ because its move could not be made durable. reason
// is the error of the sync. takeBack returns the error for the sender.
func (b *batch) takeBack(o *outgoing, reason error) error {
	tmp, fresh := o.folders.tmp.sibling(o.Name), nameIn(o.folders.fresh, o.Name)
	if back := b.disk.moveAt(fresh, tmp, o.path(), o.scratch()); back != nil {
		return errors.Join(reason, ErrNotDurable, back) // a turn may have already claimed it
	}
	return errors.Join(reason, b.disk.removeAt(tmp, o.scratch()))
}
