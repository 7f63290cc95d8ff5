package topic

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Published describes the deliveries of a Publish call.
type Published struct {
	dropbox.Delivery                    // the publication itself, which agents claim by this ID
	Offered          []dropbox.Delivery // the offers, or copies of a status or note, one for each subscriber
}

// Publish publishes a message on m.Topic. A message that does not begin a turn (a status or
// a note) is only delivered to each subscriber. A message of any other type is work and is
// kept in the topics' mailbox until an agent has claimed and closed it. Each subscriber
// gets an offer, a separate message whose Offer field is the id of the publication. The
// sender gets neither an offer nor a copy.
//
// If the error is nil, the publication is durable. If an offer cannot be delivered, for
// example to a full mailbox, Publish returns an error but keeps the publication.
// [Topics.OfferAgain] repeats the offers. A second message with the same Key is not
// published.
//
// sign works as in [dropbox.Store.Send]. The errors are those of [dropbox.Store.Deliver],
// plus [*dropbox.InvalidError] if the topic is not valid.
func (t Topics) Publish(m *dropbox.Message, sign func(m *dropbox.Message, to string) string) (Published, error) {
	p, err := t.publish(m, sign)
	if err != nil {
		return p, fmt.Errorf("publish on %s: %w", cutText(m.Topic), err)
	}
	return p, nil
}

func (t Topics) publish(m *dropbox.Message, sign func(*dropbox.Message, string) string) (Published, error) {
	if err := Check(m.Topic); err != nil {
		return Published{}, err
	}
	out := *m
	out.From = cmp.Or(out.From, dropbox.Lead)
	out.To, out.CC, out.Offer = nil, nil, ""
	if n := int64(len(out.Body)); n > t.store.MaxBody() {
		return Published{}, &dropbox.TooLargeError{What: "body", Size: n, Max: t.store.MaxBody()}
	}
	if t.store.TooManyHops(out.Hops) {
		return Published{}, fmt.Errorf("%w: %d hops; the maximum is %d", dropbox.ErrHops, out.Hops, t.store.MaxHops())
	}
	if out.Type == "" {
		out.Type = dropbox.Task
	}
	if err := t.makeFolders(); err != nil {
		return Published{}, err
	}
	if !out.Type.Wakes() {
		return t.tellSubscribers(&out, sign)
	}
	out.To = []string{t.box.Name()}
	d, err := t.box.Deliver(&out, signFor(sign, t.box.Name()))
	if err != nil {
		return Published{}, err
	}
	if d.Duplicate {
		// Unless the first publication is already claimed or closed, offer it to those
		// subscribers that do not have an offer yet.
		open, err := t.Find(d.ID)
		if errors.Is(err, ErrTaken) || open.Grant != nil {
			return Published{Delivery: d}, nil
		} else if err != nil {
			return Published{Delivery: d}, err
		}
		offered, err := t.offer(d.ID, open.Message, open.Message.Priority, sign)
		return Published{Delivery: d, Offered: offered}, err
	}
	out.Thread = d.Thread
	out.Trace = cmp.Or(out.Trace, d.ID)
	offered, err := t.offer(d.ID, &out, out.Priority, sign)
	return Published{Delivery: d, Offered: offered}, err
}

// tellSubscribers delivers a message to the subscribers of its topic, except the sender.
func (t Topics) tellSubscribers(m *dropbox.Message, sign func(*dropbox.Message, string) string) (Published, error) {
	names, err := t.Subscribers(m.Topic)
	if err != nil {
		return Published{}, err
	}
	p := Published{Delivery: dropbox.Delivery{To: t.box.Name()}}
	var errs []error
	for _, name := range names {
		if name == m.From {
			continue
		}
		m.To = nil
		d, err := t.store.DeliverSigned(name, m, signFor(sign, name))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		p.Offered = append(p.Offered, d)
	}
	return p, errors.Join(errs...)
}

// offer delivers an offer of a publication to each subscriber except the sender, at most
// once per priority.
func (t Topics) offer(id string, m *dropbox.Message, priority dropbox.Priority, sign func(*dropbox.Message, string) string) ([]dropbox.Delivery, error) {
	names, err := t.Subscribers(m.Topic)
	if err != nil {
		return nil, err
	}
	var offered []dropbox.Delivery
	var errs []error
	for _, name := range slices.DeleteFunc(names, func(n string) bool { return n == m.From }) {
		out := *m
		out.To, out.Offer, out.Priority, out.Key = nil, id, priority, "offer:"+id+":"+priority.String()
		d, err := t.store.DeliverSigned(name, &out, signFor(sign, name))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		offered = append(offered, d)
	}
	return offered, errors.Join(errs...)
}

// OfferAgain offers an unclaimed publication to all current subscribers with the given
// priority. A subscriber that got an offer with that priority in the last 7 days does not get
// a second one. The offers have the same From and other fields as the publication. sign signs
// on behalf of the publication's sender and may be nil.
func (t Topics) OfferAgain(p Publication, priority dropbox.Priority, sign func(m *dropbox.Message, to string) string) ([]dropbox.Delivery, error) {
	offered, err := t.offer(p.ID, p.Message, priority, sign)
	if err != nil {
		return offered, fmt.Errorf("offer %s again: %w", p.ID, err)
	}
	return offered, nil
}

// Assign delivers a publication to an agent that has claimed it without an offer or to which
// it has been assigned. Repeated calls within 7 days deliver the publication only once.
func (t Topics) Assign(p Publication, agent string, sign func(m *dropbox.Message, to string) string) error {
	out := *p.Message
	out.To, out.Offer, out.Key = nil, p.ID, assignKey(p.ID)
	if _, err := t.store.DeliverSigned(agent, &out, signFor(sign, agent)); err != nil {
		return fmt.Errorf("assign %s: %w", p.ID, err)
	}
	return nil
}

// WasAssigned reports whether [Topics.Assign] delivered a publication to an agent in the
// last 7 days.
func (t Topics) WasAssigned(id, agent string) (bool, error) {
	_, ok, err := t.Assigned(id, agent)
	return ok, err
}

// Assigned finds the message with which [Topics.Assign] delivered a publication to an
// agent in the last 7 days. ok is false if there is no such message.
func (t Topics) Assigned(id, agent string) (d dropbox.Delivery, ok bool, err error) {
	return t.store.Delivered(agent, assignKey(id))
}

func assignKey(id string) string { return "assign:" + id }

// The two ways in which published work can end; see [Topics.Announce].
const (
	Completed = "completed"
	Failed    = "failed"
)

// Announce publishes how the work on a publication or an offer ended. It publishes a
// status on a topic related to the publication's topic: for task.created, this is
// task.completed or task.failed. The end of a publication is announced only once,
// regardless of how many callers announce it. If agents give up offers, each of those
// offers is announced once.
func (t Topics) Announce(m *dropbox.Message, by, end, text string, sign func(m *dropbox.Message, to string) string) error {
	hops := m.Hops + 1
	if t.store.TooManyHops(hops) {
		hops = t.store.MaxHops() // the end of work at the hop limit is also announced
	}
	word := &dropbox.Message{
		From: by, Type: dropbox.Status, Topic: end, Subject: m.Subject, Thread: m.Thread, Trace: m.Trace, ReplyTo: m.Offer,
		Hops: hops, Key: "ended:" + m.ID, Body: []byte(text + "\n"),
	}
	word.ReplyTo = cmp.Or(word.ReplyTo, m.ID)
	if m.Offer != "" && end == Completed {
		word.Key = "ended:" + m.Offer
	}
	if i := strings.LastIndex(m.Topic, "."); i >= 0 {
		word.Topic = m.Topic[:i+1] + end
	}
	_, err := t.Publish(word, sign)
	return err
}

// signFor converts a signer for any mailbox to a signer for one mailbox.
func signFor(sign func(*dropbox.Message, string) string, to string) func(*dropbox.Message) string {
	if sign == nil {
		return nil
	}
	return func(m *dropbox.Message) string { return sign(m, to) }
}
