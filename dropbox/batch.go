package dropbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// maxBatch is how many files a batch has open at once.
const maxBatch = 64

// A Draft is a message that is to be delivered.
type Draft struct {
	To      string
	Message *Message
	Sign    func(*Message) string // nil for no proof; see [Store.DeliverSigned]
}

// An Outcome is what became of a [Draft].
type Outcome struct {
	Delivery
	Err error // as of [Store.Deliver]; nil: the message survives a crash of this machine
}

// DeliverBatch delivers several messages, in their order, and is to be preferred
// where many come at once: one by one each waits for the disk three times, here all
// of them wait together. What is promised for each of them is what [Store.Deliver]
// promises, and the failure of one leaves the others alone.
func (s *Store) DeliverBatch(drafts []Draft) []Outcome {
	outcomes := make([]Outcome, len(drafts))
	for at := 0; at < len(drafts); at += maxBatch {
		end := min(at+maxBatch, len(drafts))
		(&batch{store: s}).deliver(drafts[at:end], outcomes[at:end])
	}
	for i := range outcomes {
		if err := outcomes[i].Err; err != nil {
			outcomes[i] = Outcome{Err: fmt.Errorf("deliver to %s: %w", drafts[i].To, err)}
		}
	}
	return outcomes
}

// A batch delivers what can be delivered together. Its steps are those of a single
// delivery, each taken for all messages before the next one:
//
//	write all in tmp/ -> sync them -> link those with a key to keys/ -> sync keys/
//	-> move all to new/, in order -> sync new/
//
// What does not go this way without trouble (a key that is known, a mailbox that is to
// be made whole) is delivered by itself, after the others.
type batch struct {
	store   *Store
	boxes   []*batchBox
	letters []*letter
	alone   []*letter
}

// A batchBox holds open the folders of a mailbox that messages come to.
type batchBox struct {
	name        string
	fresh, keys *os.File
	tmp         spot
	guards      map[string]bool // of the messages with keys
}

// A letter is one message of a batch.
type letter struct {
	*Draft
	out  *Outcome
	box  *batchBox
	d    Delivery
	key  string
	data []byte
	over bool // delivered, failed, or to be delivered alone
}

func (l *letter) scratch() string { return l.To + "/" + tmpFolder + "/" + l.d.Name }
func (l *letter) path() string    { return l.To + "/" + newFolder + "/" + l.d.Name }

func (b *batch) deliver(drafts []Draft, outcomes []Outcome) {
	for i := range drafts {
		b.add(&letter{Draft: &drafts[i], out: &outcomes[i]})
	}
	b.write()
	b.guard()
	b.move()
	b.close() // who goes alone may need the files that it held
	for _, l := range b.alone {
		l.out.Delivery, l.out.Err = b.store.deliver(l.To, l.Message, l.Sign)
	}
}

// fail ends a letter whose file lies in tmp/.
func (b *batch) fail(l *letter, err error) {
	l.over = true
	l.out.Err = errors.Join(err, ignoreMissing(b.store.disk.removeAt(l.box.tmp.with(l.d.Name), l.scratch())))
}

// apart lets a letter of which there is no file be delivered by itself.
func (b *batch) apart(l *letter) {
	l.over = true
	b.alone = append(b.alone, l)
}

// mayGoAlone says whether a single delivery may succeed where a batch had this error: it
// makes the mailbox whole again, and holds few files open.
func mayGoAlone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE)
}

// goApart is apart for a letter whose file lies in tmp/.
func (b *batch) goApart(l *letter) {
	if b.fail(l, nil); l.out.Err == nil {
		b.apart(l)
	}
}

// add looks whether a message may be delivered, and whether together with others.
func (b *batch) add(l *letter) {
	out, err := b.store.prepare(l.To, l.Message)
	if err != nil {
		l.out.Err = err
		return
	}
	l.box, err = b.open(l.To)
	if mayGoAlone(err) {
		b.apart(l)
		return
	} else if err != nil {
		l.out.Err = err
		return
	}
	if l.key = out.Key; l.key != "" {
		guard := keyFile(l.To, l.key)
		known, err := b.store.disk.exists(guard)
		if err != nil {
			l.out.Err = err
			return
		}
		if known || l.box.guards[guard] {
			b.apart(l)
			return
		}
		l.box.guards[guard] = true
	}
	if l.d, l.data, err = b.store.compose(l.To, out, l.Sign); err != nil {
		l.out.Err = err
		return
	}
	b.letters = append(b.letters, l)
}

func (b *batch) open(to string) (*batchBox, error) {
	if i := slices.IndexFunc(b.boxes, func(box *batchBox) bool { return box.name == to }); i >= 0 {
		return b.boxes[i], nil
	}
	disk := b.store.disk
	fresh, err := disk.folder(to + "/" + newFolder)
	if err != nil {
		return nil, err
	}
	keys, err := disk.folder(to + "/" + keysFolder)
	if err != nil {
		return nil, errors.Join(err, fresh.Close())
	}
	tmp, err := disk.spot(to + "/" + tmpFolder + "/-")
	if err != nil {
		return nil, errors.Join(err, fresh.Close(), keys.Close())
	}
	box := &batchBox{name: to, fresh: fresh, keys: keys, tmp: tmp, guards: map[string]bool{}}
	b.boxes = append(b.boxes, box)
	return box, nil
}

func (b *batch) close() {
	for _, box := range b.boxes {
		box.fresh.Close()
		box.keys.Close()
		box.tmp.close()
	}
}

// left are the letters that go on together.
func (b *batch) left() []*letter {
	return slices.DeleteFunc(b.letters, func(l *letter) bool { return l.over })
}

func (b *batch) write() {
	files := make([]*os.File, len(b.letters))
	for i, l := range b.letters {
		var err error
		files[i], err = b.store.disk.fillAt(l.box.tmp.with(l.d.Name), l.scratch(), l.data)
		switch {
		case mayGoAlone(err):
			b.apart(l)
		case err != nil:
			l.over, l.out.Err = true, err
		}
	}
	for i, err := range b.store.disk.syncFiles(files) {
		if err != nil {
			b.fail(b.letters[i], err)
		}
	}
}

// guard takes the keys; see [keyFile].
func (b *batch) guard() {
	b.letters = b.left()
	disk := b.store.disk
	for _, l := range b.letters {
		if l.key == "" {
			continue
		}
		guard := keyFile(l.To, l.key)
		switch err := disk.linkAt(l.box.tmp.with(l.d.Name), spotIn(l.box.keys, guard), l.scratch(), guard, l.data); {
		case errors.Is(err, fs.ErrExist): // another caller was quicker
			b.goApart(l)
		case err != nil:
			b.fail(l, err)
		}
	}
	b.letters = b.left()
	for _, box := range b.boxes {
		mine := func(l *letter) bool { return l.box == box && l.key != "" }
		if !slices.ContainsFunc(b.letters, mine) {
			continue
		}
		if err := disk.syncFolder(box.keys); err != nil {
			for _, l := range b.letters {
				if mine(l) { // whoever tries again finishes it
					l.over, l.out.Err = true, err
				}
			}
		}
	}
}

// finished deals with a letter with a key that is in tmp/ no more.
func (b *batch) finished(l *letter) {
	first, err := b.store.finish(l.To, l.key) // a second caller finished this very delivery
	if errors.Is(err, errForgotten) {
		b.apart(l)
		return
	}
	first.Duplicate = first.ID != l.d.ID
	l.over, l.out.Delivery, l.out.Err = true, first, err
}

// move makes the messages visible, in their order.
func (b *batch) move() {
	b.letters = b.left()
	disk := b.store.disk
	for _, l := range b.letters {
		err := disk.moveAt(l.box.tmp.with(l.d.Name), spotIn(l.box.fresh, l.d.Name), l.scratch(), l.path())
		switch {
		case l.key != "" && errors.Is(err, fs.ErrNotExist):
			b.finished(l)
		case err != nil && l.key != "":
			l.over, l.out.Err = true, err
		case errors.Is(err, fs.ErrNotExist): // somebody deleted a folder
			b.goApart(l)
		case err != nil:
			b.fail(l, err)
		}
	}
	b.letters = b.left()
	for _, box := range b.boxes {
		if !slices.ContainsFunc(b.letters, func(l *letter) bool { return l.box == box }) {
			continue
		}
		err := disk.syncFolder(box.fresh)
		for _, l := range b.letters {
			switch {
			case l.box != box:
			case err == nil:
				l.out.Delivery = l.d
			case l.key != "":
				l.out.Err = err
			default:
				l.out.Err = b.store.takeBack(l.box.tmp.with(l.d.Name), spotIn(box.fresh, l.d.Name), l.scratch(), l.path(), err)
			}
		}
	}
}
