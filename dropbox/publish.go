package dropbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Published says where a publication went.
type Published struct {
	Delivery            // of the publication itself; its ID is what is claimed
	Offered  []Delivery // one for each subscriber
}

// Publish puts a message on m.Topic. What begins no turn (status and note) goes to
// each subscriber as it is, and that is all: fire and forget. All else is work: it
// is kept among the topics until somebody has claimed and closed it, and each
// subscriber is offered it, by a separate message whose Offer is the id of the
// publication. The sender is offered nothing.
//
// When the error is nil, the publication is durable. An offer that could not be
// delivered, as to a mailbox that is full, is an error with the publication in
// force: [Store.OfferAgain] makes up for it. With a Key it is published once.
//
// sign is that of [Store.Send]. The errors are those of [Store.Deliver], and
// [*InvalidError] for the topic.
func (s *Store) Publish(m *Message, sign func(m *Message, to string) string) (Published, error) {
	p, err := s.publish(m, sign)
	if err != nil {
		return p, fmt.Errorf("publish on %s: %w", cutText(m.Topic), err)
	}
	return p, nil
}

func (s *Store) publish(m *Message, sign func(*Message, string) string) (Published, error) {
	if err := CheckTopic(m.Topic); err != nil {
		return Published{}, err
	}
	out := *m
	setIfEmpty(&out.From, Lead)
	out.To, out.CC, out.Offer = nil, nil, ""
	if n := int64(len(out.Body)); n > s.opts.MaxBody {
		return Published{}, &TooLargeError{What: "body", Size: n, Max: s.opts.MaxBody}
	}
	if out.Hops > MaxHops {
		return Published{}, fmt.Errorf("%w: %d hops, %d at most", ErrHops, out.Hops, MaxHops)
	}
	if out.Type == "" {
		out.Type = Task
	}
	if err := s.makeTopics(); err != nil {
		return Published{}, err
	}
	if !out.Type.Wakes() {
		return s.tellSubscribers(&out, sign)
	}
	out.To = []string{topicsDir}
	o := s.compose(topicsDir, out, signFor(sign, topicsDir))
	s.deliverAll([]*outgoing{o})
	if o.err != nil {
		return Published{}, o.err
	}
	d := o.Delivery
	if d.Duplicate {
		// What was published first is what is offered to those who lack it, until
		// somebody has it.
		open, err := s.OfferOf(d.ID)
		if errors.Is(err, ErrTaken) || open.Grant != nil {
			return Published{Delivery: d}, nil
		} else if err != nil {
			return Published{Delivery: d}, err
		}
		offered, err := s.offer(d.ID, open.Message, open.Message.Priority, sign)
		return Published{d, offered}, err
	}
	out.Thread = d.Thread
	setIfEmpty(&out.Trace, d.ID)
	offered, err := s.offer(d.ID, &out, out.Priority, sign)
	return Published{d, offered}, err
}

// tellSubscribers delivers a word to those who want to hear it.
func (s *Store) tellSubscribers(m *Message, sign func(*Message, string) string) (Published, error) {
	names, err := s.Subscribers(m.Topic)
	if err != nil {
		return Published{}, err
	}
	p := Published{Delivery: Delivery{To: topicsDir}}
	var errs []error
	for _, name := range names {
		if name == m.From {
			continue
		}
		m.To = nil
		d, err := s.DeliverSigned(name, m, signFor(sign, name))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		p.Offered = append(p.Offered, d)
	}
	return p, errors.Join(errs...)
}

// offer delivers the offer of a publication to each subscriber, once per priority.
func (s *Store) offer(id string, m *Message, priority Priority, sign func(*Message, string) string) ([]Delivery, error) {
	names, err := s.Subscribers(m.Topic)
	if err != nil {
		return nil, err
	}
	var offered []Delivery
	var errs []error
	for _, name := range slices.DeleteFunc(names, func(n string) bool { return n == m.From }) {
		out := *m
		out.To, out.Offer, out.Priority, out.Key = nil, id, priority, "offer:"+id+":"+priority.String()
		d, err := s.DeliverSigned(name, &out, signFor(sign, name))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		offered = append(offered, d)
	}
	return offered, errors.Join(errs...)
}

// OfferAgain offers a publication that nobody has claimed to all who subscribe
// now, with this priority. Who was offered it with that priority before is not
// offered it twice. From and the rest are those of the publication; sign signs in
// the name of its sender, or is nil.
func (s *Store) OfferAgain(p Publication, priority Priority, sign func(m *Message, to string) string) ([]Delivery, error) {
	offered, err := s.offer(p.ID, p.Message, priority, sign)
	if err != nil {
		return offered, fmt.Errorf("offer %s again: %w", p.ID, err)
	}
	return offered, nil
}

// Assign delivers a publication to the one agent that has claimed it without being
// asked, or was given it; once.
func (s *Store) Assign(p Publication, agent string, sign func(m *Message, to string) string) error {
	out := *p.Message
	out.To, out.Offer, out.Key = nil, p.ID, assignKey(p.ID)
	if _, err := s.DeliverSigned(agent, &out, signFor(sign, agent)); err != nil {
		return fmt.Errorf("assign %s: %w", p.ID, err)
	}
	return nil
}

// WasAssigned tells whether a publication was delivered by [Store.Assign] to an agent in
// the last 7 days.
func (s *Store) WasAssigned(id, agent string) (bool, error) {
	_, ok, err := s.Assigned(id, agent)
	return ok, err
}

// Assigned finds the message by which a publication was delivered by [Store.Assign] to an
// agent in the last 7 days. ok is false where there is none.
func (s *Store) Assigned(id, agent string) (d Delivery, ok bool, err error) {
	return s.Delivered(agent, assignKey(id))
}

func assignKey(id string) string { return "assign:" + id }

// How published work ends; see [Store.Announce].
const (
	Completed = "completed"
	Failed    = "failed"
)

// Announce publishes how the work of a publication, or of an offer of it, ended,
// as a status beside its topic: task.created is followed by task.completed or
// task.failed. How a publication ended is told once, whoever says so and however; that
// it was given up, once for each offer.
func (s *Store) Announce(m *Message, by, end, text string, sign func(m *Message, to string) string) error {
	word := &Message{
		From: by, Type: Status, Topic: end, Subject: m.Subject, Thread: m.Thread, Trace: m.Trace, ReplyTo: m.Offer,
		Hops: min(m.Hops+1, MaxHops), Key: "ended:" + m.ID, Body: []byte(text + "\n"),
	}
	setIfEmpty(&word.ReplyTo, m.ID)
	if m.Offer != "" && end == Completed {
		word.Key = "ended:" + m.Offer
	}
	if i := strings.LastIndex(m.Topic, "."); i >= 0 {
		word.Topic = m.Topic[:i+1] + end
	}
	_, err := s.Publish(word, sign)
	return err
}
