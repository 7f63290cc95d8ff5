package dropbox

import "fmt"

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
	out := s.DeliverBatch([]Draft{{To: to, Message: m, Sign: sign}})[0]
	return out.Delivery, out.Err
}

// Deliver is [Store.DeliverSigned] to this mailbox. Only so a message comes to the mailbox
// of the topics.
func (b *Mailbox) Deliver(m *Message, sign func(*Message) string) (Delivery, error) {
	d, err := b.deliver(m, sign)
	return d, b.wrap("deliver", err)
}

func (b *Mailbox) deliver(m *Message, sign func(*Message) string) (Delivery, error) {
	out, err := b.store.prepare(b.name, m)
	if err != nil {
		return Delivery{}, err
	}
	o := b.store.compose(b.name, out, sign)
	if b.store.deliverAll([]*outgoing{o}); o.err != nil {
		return Delivery{}, o.err
	}
	return o.Delivery, nil
}

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
		s.deliver(drafts[at:end], outcomes[at:end])
	}
	for i := range outcomes {
		if err := outcomes[i].Err; err != nil {
			outcomes[i].Err = fmt.Errorf("deliver to %s: %w", drafts[i].To, err)
		}
	}
	return outcomes
}

// deliver is DeliverBatch for at most maxBatch messages.
func (s *Store) deliver(drafts []Draft, outcomes []Outcome) {
	all := make([]*outgoing, len(drafts))
	for i, d := range drafts {
		var m Message
		err := CheckMailbox(d.To)
		if err != nil {
			err = s.misnamed(d.To, err)
		} else {
			m, err = s.prepare(d.To, d.Message)
		}
		if err != nil {
			all[i] = &outgoing{over: true, err: err}
			continue
		}
		all[i] = s.compose(d.To, m, d.Sign)
	}
	s.deliverAll(all)
	for i, o := range all {
		if outcomes[i].Err = o.err; o.err == nil {
			outcomes[i].Delivery = o.Delivery
		}
	}
}

// prepare looks whether a message may be delivered, and returns what is to be: a copy
// of it, whose body is not too long.
func (s *Store) prepare(to string, m *Message) (Message, error) {
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

// compose stamps and signs a message that was prepared, and makes its file's bytes.
func (s *Store) compose(to string, m Message, sign func(*Message) string) *outgoing {
	m.V, m.ID, m.Created, m.Proof = Version, NewID(), s.stamp(), ""
	setIfEmpty(&m.From, Lead)
	setIfEmpty(&m.Thread, m.ID)
	setIfEmpty(&m.Trace, m.ID)
	if m.Type == "" {
		m.Type = Task
	}
	if len(m.To) == 0 {
		m.To = []string{to}
	}
	if sign != nil {
		m.Proof = sign(&m)
	}
	o := &outgoing{Delivery: Delivery{ID: m.ID, To: to, Name: m.entry().Name, Thread: m.Thread}, key: m.Key}
	o.data, o.err = m.Encode()
	o.over = o.err != nil
	return o
}

// repair makes the missing folders of a mailbox. A mailbox without any folder does not
// exist: then the error is an [*UnknownError].
func (s *Store) repair(name string) error {
	if some, err := s.hasSome(name); err != nil {
		return err
	} else if !some {
		return s.unknown(name)
	}
	return makeMailbox(s.disk, name)
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

// Known is nil when an agent, lead or irc has a mailbox of that name. The error is an
// [*UnknownError] or a [*NameError].
func (s *Store) Known(name string) error {
	if err := CheckMailbox(name); err != nil {
		return s.misnamed(name, err)
	}
	return s.known(name)
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
