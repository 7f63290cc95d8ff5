package dropbox

import (
	"cmp"
	"fmt"
	"slices"
)

// Deliver puts a message into a mailbox. If the error is nil, the message survives a
// crash of this machine.
//
// Deliver does not change m. In the copy that it writes, V, ID, Created and Proof are
// always new, and empty fields get defaults: From is lead, To is the mailbox, Type is
// task, and Thread and Trace are the new id. If the body of a result is larger than
// MaxBody, Deliver stores it as an attachment, and the message contains only its
// beginning.
//
// A message with a Key is delivered only once. If a message with the same key was
// delivered to the mailbox within the last 7 days, Deliver does not write another one. It
// completes the first delivery if it was interrupted, and returns that delivery.
//
// The error is an [*UnknownError] or a [*NameError] for a wrong mailbox name, [ErrFull],
// a [*TooLargeError], an [*InvalidError], [ErrHops], or a disk error such as ENOSPC.
// Results and messages from swarm never get ErrFull, because answers and alerts are
// always accepted.
//
// If Deliver returns an error, nothing is delivered, with two exceptions. After
// [ErrNotDurable], which only a message without a Key can get, the message exists, and a
// retry may deliver it a second time. A failed delivery with a Key may be incomplete; a
// retry completes it.
func (s *Store) Deliver(to string, m *Message) (Delivery, error) {
	return s.DeliverSigned(to, m, nil)
}

// DeliverSigned is Deliver with a proof. sign receives the message, complete except for
// the proof, and returns the proof; see [Proof].
func (s *Store) DeliverSigned(to string, m *Message, sign func(*Message) string) (Delivery, error) {
	o := s.composeNamed(to, m, sign)
	s.deliver(o)
	out := o.outcome()
	return out.Delivery, out.Err
}

// DeliverBatch delivers several messages, in order. For many messages it is faster than
// separate deliveries, because each of those waits for the disk twice, or three times
// with a key. The messages in a batch share these waits. The guarantees of
// [Store.Deliver] apply to each message, and the failure of one message does not affect
// the others.
func (s *Store) DeliverBatch(drafts []Draft) []Outcome {
	outcomes := make([]Outcome, 0, len(drafts))
	for drafts := range slices.Chunk(drafts, maxBatch) {
		all := make([]*outgoing, len(drafts))
		for i, d := range drafts {
			all[i] = s.composeNamed(d.To, d.Message, d.Sign)
		}
		if len(all) > 1 {
			b := &batch{store: s, disk: s.disk}
			b.pick(all)
			b.deliver()
		}
		for _, o := range all {
			s.deliver(o) // unless the batch has already delivered it
			outcomes = append(outcomes, o.outcome())
		}
	}
	return outcomes
}

// Deliver is [Store.DeliverSigned] to this mailbox. It is the only way to deliver to the
// topics' mailbox.
func (b *Mailbox) Deliver(m *Message, sign func(*Message) string) (Delivery, error) {
	o := b.store.compose(b.name, m, sign)
	b.store.deliver(o)
	if o.err != nil {
		return Delivery{}, b.wrap("deliver", o.err)
	}
	return o.Delivery, nil
}

// composeNamed is compose for a mailbox name that a sender chose, so it checks the name
// first.
func (s *Store) composeNamed(to string, m *Message, sign func(*Message) string) *outgoing {
	if err := CheckMailbox(to); err != nil {
		return failed(to, s.misnamed(to, err))
	}
	return s.compose(to, m, sign)
}

// compose checks that a message may be delivered, stamps and signs a copy of it, and
// encodes the copy as a file.
func (s *Store) compose(to string, m *Message, sign func(*Message) string) *outgoing {
	if s.TooManyHops(m.Hops) {
		return failed(to, fmt.Errorf("%w: %d hops; the maximum is %d", ErrHops, m.Hops, s.opts.MaxHops))
	}
	if err := s.checkRoom(to, m); err != nil {
		return failed(to, err)
	}
	out := *m
	if out.Type == Result && int64(len(out.Body)) > s.opts.MaxBody {
		if err := s.spill(&out, "result.md"); err != nil {
			return failed(to, err)
		}
	}
	if n := int64(len(out.Body)); n > s.opts.MaxBody {
		return failed(to, &TooLargeError{What: "body", Size: n, Max: s.opts.MaxBody})
	}
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
	if len(out.DependsOn) > 0 {
		if err := cmp.Or(out.check(), s.checkDependsOn(&out)); err != nil {
			return failed(to, err)
		}
	}
	if sign != nil {
		out.Proof = sign(&out)
	}
	data, err := out.Encode()
	if err != nil {
		return failed(to, err)
	}
	return &outgoing{Delivery: Delivery{ID: out.ID, To: to, Name: out.entry().Name, Thread: out.Thread}, key: out.Key, data: data}
}

// checkRoom returns [ErrFull] while the file FULL exists, except for results, messages from
// swarm, and messages whose key is known.
func (s *Store) checkRoom(to string, m *Message) error {
	if m.Type == Result || m.From == Swarm {
		return nil
	}
	full, err := s.disk.exists(to + "/" + fullFile)
	if err != nil || !full {
		return err
	}
	if m.Key != "" {
		// A message that was already delivered needs no room; its sender gets a Delivery
		// with Duplicate set.
		known, err := s.disk.exists(keyFile(to, m.Key))
		if err != nil || known {
			return err
		}
	}
	return ErrFull
}
