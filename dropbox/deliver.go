package dropbox

import (
	"errors"
	"fmt"
	"io/fs"
)

// A Delivery says where a message went.
type Delivery struct {
	ID        string // of the message; of the first one if this is a Duplicate
	To        string // the mailbox
	Name      string // the file's name as it was delivered
	Thread    string
	Duplicate bool // the key was delivered before; nothing new was written
}

// Deliver puts a message into a mailbox. When the error is nil the message
// survives a crash of this machine.
//
// m itself stays as it is. In the copy that is written, V, ID, Created and Proof
// are new whatever m says, and what may be left out is filled in: From is lead,
// To is the mailbox, Type is task, Thread and Trace are the new id. A result whose
// body is over MaxBody becomes an attachment, and its body the beginning of it.
//
// With a Key it is delivered once: a second message with that key for the same
// mailbox within 7 days is not written, and the Delivery is that of the first,
// finished if it was cut off.
//
// Errors: [*UnknownError] or [*NameError] for the mailbox; [ErrFull], never for a
// result or from swarm: answers and alerts always pass; [*TooLargeError];
// [*InvalidError]; [ErrHops]; and whatever the disk says, such as ENOSPC. After any
// error nothing is delivered and nothing is left behind, with one exception: with
// [ErrNotDurable] the message is there, and only a Key makes it harmless to try
// again. With a Key, what failed may be half on its way, and who tries again
// finishes it.
func (s *Store) Deliver(to string, m *Message) (Delivery, error) {
	return s.DeliverSigned(to, m, nil)
}

// DeliverSigned is Deliver with a proof. sign gets the message as it will be
// written, all but the proof, and returns that; see [Proof].
func (s *Store) DeliverSigned(to string, m *Message, sign func(*Message) string) (Delivery, error) {
	d, err := s.deliver(to, m, sign)
	if err != nil {
		return Delivery{}, fmt.Errorf("deliver to %s: %w", to, err)
	}
	return d, nil
}

func (s *Store) deliver(to string, m *Message, sign func(*Message) string) (Delivery, error) {
	out, err := s.prepare(to, m)
	if err != nil {
		return Delivery{}, err
	}
	var d Delivery
	err = s.whole(to, func() (err error) {
		d, err = s.post(to, out, sign)
		return err
	})
	return d, err
}

// prepare looks whether a message may be delivered, and returns what is to be: a copy
// of it, whose body is not too long.
func (s *Store) prepare(to string, m *Message) (Message, error) {
	if err := checkMailbox(to); err != nil {
		return Message{}, s.misnamed(to, err)
	}
	if s.TooManyHops(m.Hops) {
		return Message{}, fmt.Errorf("%w: %d hops, %d at most", ErrHops, m.Hops, s.opts.MaxHops)
	}
	if err := s.checkRoom(to, m); err != nil {
		return Message{}, err
	}
	out := *m
	if out.Type == Result && int64(len(out.Body)) > s.opts.MaxBody {
		if err := s.spill(&out, "result.md"); err != nil {
			return Message{}, err
		}
	}
	if n := int64(len(out.Body)); n > s.opts.MaxBody {
		return Message{}, &TooLargeError{What: "body", Size: n, Max: s.opts.MaxBody}
	}
	return out, nil
}

// post writes one message and makes it visible.
func (s *Store) post(to string, out Message, sign func(*Message) string) (Delivery, error) {
	d, data, err := s.compose(to, out, sign)
	if err != nil {
		return Delivery{}, err
	}
	if out.Key != "" {
		return s.postOnce(d, out.Key, data)
	}
	return d, s.place(to, d.Name, data)
}

// compose stamps and signs a message that was prepared, and makes its file's bytes.
// Each time it is another message, with another id.
func (s *Store) compose(to string, out Message, sign func(*Message) string) (Delivery, []byte, error) {
	out.V, out.ID, out.Created, out.Proof = Version, NewID(), s.stamp(), ""
	setIfEmpty(&out.From, Lead)
	setIfEmpty(&out.Thread, out.ID)
	setIfEmpty(&out.Trace, out.ID)
	if out.Type == "" {
		out.Type = Task
	}
	if len(out.To) == 0 {
		out.To = []string{to}
	}
	if sign != nil {
		out.Proof = sign(&out)
	}
	data, err := out.Encode()
	return Delivery{ID: out.ID, To: to, Name: out.entry().Name, Thread: out.Thread}, data, err
}

// place makes a message visible: written and synced in tmp/, moved to new/ by one
// rename that replaces nothing, and that rename made durable. If that fails it is
// taken back.
func (s *Store) place(to, name string, data []byte) error {
	fresh, err := s.disk.folder(to + "/" + newFolder)
	if err != nil {
		return err
	}
	defer fresh.Close()
	scratch, path := to+"/"+tmpFolder+"/"+name, to+"/"+newFolder+"/"+name
	from, err := s.disk.spot(scratch)
	if err != nil {
		return err
	}
	defer from.close()
	into := spotIn(fresh, name)
	if err := s.disk.writeAt(from, scratch, data); err != nil {
		return err
	}
	if err := s.disk.moveAt(from, into, scratch, path); err != nil {
		return errors.Join(err, ignoreMissing(s.disk.removeAt(from, scratch)))
	}
	if err = s.disk.syncFolder(fresh); err != nil {
		return s.takeBack(from, into, scratch, path, err)
	}
	return nil
}

// takeBack removes a message whose move to new/ did not become durable, for that
// reason, and returns the error of its delivery.
func (s *Store) takeBack(from, into spot, scratch, path string, reason error) error {
	if back := s.disk.moveAt(into, from, path, scratch); back != nil {
		return errors.Join(reason, ErrNotDurable, back) // or somebody has claimed it
	}
	return errors.Join(reason, s.disk.removeAt(from, scratch))
}

// whole runs f, and once more after making the mailbox whole again if a folder of
// it was missing. A mailbox without any folder does not exist.
func (s *Store) whole(to string, f func() error) error {
	err := f()
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if some, err := s.hasSome(to); err != nil {
		return err
	} else if !some {
		return s.unknown(to)
	}
	if err := makeMailbox(s.disk, to); err != nil {
		return err
	}
	return f()
}

// hasSome says whether a folder was a mailbox once.
func (s *Store) hasSome(name string) (bool, error) {
	for _, folder := range mailboxFolders {
		there, err := s.disk.exists(name + "/" + folder)
		if there || err != nil && !isOdd(err) {
			return there, err
		}
	}
	return false, nil
}

// known is an error unless the name is that of a mailbox, or was: an
// [*UnknownError], or what the disk says.
func (s *Store) known(name string) error {
	is, err := s.isMailbox(name)
	if err == nil && !is {
		is, err = s.hasSome(name)
	}
	if err == nil && !is {
		err = s.unknown(name)
	}
	return err
}

// misnamed is the error for a name that can have no mailbox: the nearest names
// help more than the rule.
func (s *Store) misnamed(name string, err error) error {
	known, listErr := s.Mailboxes()
	if near := Nearest(name, known); listErr == nil && len(near) > 0 {
		return &UnknownError{Name: name, Near: near}
	}
	return err
}

// checkRoom looks for FULL, which List puts down and takes away.
func (s *Store) checkRoom(to string, m *Message) error {
	if m.Type == Result || m.From == Swarm {
		return nil
	}
	full, err := s.disk.exists(to + "/" + fullFile)
	if err != nil || !full {
		return err
	}
	if m.Key != "" {
		// What was delivered before needs no room: its sender is told so.
		known, err := s.disk.exists(keyFile(to, m.Key))
		if err != nil || known {
			return err
		}
	}
	return ErrFull
}
