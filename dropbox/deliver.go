package dropbox

import "fmt"

// Deliver puts a message into a mailbox. When the error is nil the message
// survives a crash of this machine.
//
// m itself does not change. In the copy that is written, V, ID, Created and Proof are
// always new, and empty fields are filled in: From is lead, To is the mailbox, Type is
// task, Thread and Trace are the new id. A result whose body is over MaxBody becomes an
// attachment, and its body the beginning of it.
//
// With a Key it is delivered once: a second message with that key for the same
// mailbox within 7 days is not written, and the Delivery is that of the first,
// finished if it was cut off.
//
// Errors: [*UnknownError] or [*NameError] for the mailbox; [ErrFull], never for a result or
// from swarm: answers and alerts always pass; [*TooLargeError]; [*InvalidError]; [ErrHops];
// and errors of the disk, such as ENOSPC. After any error nothing is delivered and nothing
// is left behind, with one exception: after [ErrNotDurable] the message is there, and only
// a Key makes a retry harmless. With a Key, a failed delivery may be half done, and a retry
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

// DeliverBatch delivers several messages, in their order. It is faster for many messages:
// one by one each waits for the disk three times, here all of them wait together. Each has
// the guarantees of [Store.Deliver], and the failure of one does not affect the others.
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

// prepare checks that a message may be delivered, and returns the copy to deliver, whose
// body is not too long.
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

// checkRoom looks for FULL, which List makes and removes.
func (s *Store) checkRoom(to string, m *Message) error {
	if m.Type == Result || m.From == Swarm {
		return nil
	}
	full, err := s.disk.exists(to + "/" + fullFile)
	if err != nil || !full {
		return err
	}
	if m.Key != "" {
		// A message that was delivered before needs no room: its sender is told so.
		known, err := s.disk.exists(keyFile(to, m.Key))
		if err != nil || known {
			return err
		}
	}
	return ErrFull
}
