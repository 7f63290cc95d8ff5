package bridge

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// The constant ahead limits how many waiting messages at the front of the list
// [plan.next] usually examines. If none of those messages can be sent, next continues
// until it finds one that can. For every deepEvery-th choice it examines all waiting
// messages, so one target with thousands of messages does not hide the others.
const (
	ahead     = 256
	deepEvery = 64
)

// A waiter is a waiting message, together with the data that the plan needs for its
// choice.
type waiter struct {
	dropbox.Entry
	destination
	err error // why the file is not a valid message; the bridge claims the file anyway, and then gives it up
}

// lookMore is the number of further waiting messages that are read before each choice, in
// search of private ones. privateFirst is the number of private messages that are sent first
// while messages for channels wait. After them, the two kinds take turns.
const (
	lookMore     = 64
	privateFirst = 3
)

// A plan lists the waiting messages, and chooses the next one to send. Private messages
// come first, and after a few of them every second time. They are followed by alerts, then by answers to
// people, then by all other messages. Among messages of the same kind and priority, the
// targets take turns. The messages for one target are sent in the order of their file
// names. One goroutine owns the plan.
type plan struct {
	box   *dropbox.Mailbox
	where func(*dropbox.Message) destination
	waits func(conversation) bool // a message of such a conversation is passed over for now; nil means none is

	entries []dropbox.Entry // the last listing, without the messages claimed since then
	known   map[string]waiter
	private []waiter          // the private messages among those already read, in the order of the list
	fresh   []dropbox.Entry   // messages that have not been read yet
	served  map[string]uint64 // maps each target to the time of its last turn
	turn    uint64
	spell   int // how many messages have been chosen since no private one was waiting beside those for channels

	lastPrivate bool // the message that was chosen last is a private one

	suspects int  // the number of waiting messages that may have made the server hang up
	stale    bool // messages may have arrived since the last listing
	listed   time.Time
	took     time.Duration // how long the last listing took
}

func newPlan(box *dropbox.Mailbox, where func(*dropbox.Message) destination) *plan {
	return &plan{box: box, where: where, known: map[string]waiter{}, served: map[string]uint64{}, stale: true}
}

// lookAgain records that the mailbox may have new messages.
func (p *plan) lookAgain() { p.stale = true }

// list lists the mailbox if it may have changed. It limits how often a large mailbox is
// listed, because listing 10,000 names takes milliseconds, and in a burst every new
// message wakes the bridge.
func (p *plan) list() error {
	if !p.stale || len(p.entries) > ahead && time.Since(p.listed) < 20*p.took {
		return nil
	}
	p.stale = false
	begun := time.Now()
	entries, err := p.box.List()
	if err != nil {
		p.stale = true
		return err
	}
	p.entries, p.listed, p.took = entries, time.Now(), time.Since(begun)
	p.suspects = 0
	for _, e := range entries {
		if e.Failed > 0 {
			p.suspects++
		}
	}
	if len(p.known) > 2*len(entries)+ahead {
		clear(p.known) // most of the known messages no longer exist
	}
	p.private, p.fresh = p.private[:0], nil
	for _, e := range entries {
		if w, ok := p.known[e.ID]; !ok || w.Name != e.Name {
			p.fresh = append(p.fresh, e)
		} else if w.alone {
			p.private = append(p.private, w)
		}
	}
	return nil
}

// lookFor reads some more waiting messages in search of private ones.
func (p *plan) lookFor() {
	some := p.fresh[:min(lookMore, len(p.fresh))]
	p.fresh = p.fresh[len(some):]
	for _, e := range some {
		if w, gone := p.look(e); !gone && w.err == nil && w.alone {
			p.private = append(p.private, w) // after the private messages that list found
		}
	}
}

// next returns the next message for which ready returns true; ok is false if no message
// qualifies. If private is true, next chooses only among private messages.
func (p *plan) next(ready func(waiter) bool, private bool) (w waiter, ok bool, err error) {
	if err := p.list(); err != nil {
		return waiter{}, false, err
	}
	p.lookFor()
	w, ok = p.nextPrivate(ready)
	if private || ok && (!p.lastPrivate || p.spell < privateFirst) {
		return w, ok, nil
	}
	if other, found := p.nextOther(ready); found {
		return other, true, nil
	}
	return w, ok, nil
}

// nextPrivate chooses among the private messages.
func (p *plan) nextPrivate(ready func(waiter) bool) (w waiter, ok bool) {
	blocked := map[string]bool{} // by target
	for _, c := range p.private {
		key := strings.ToLower(c.target)
		if blocked[key] || p.passesOver(c) {
			continue
		}
		can := ready(c)
		blocked[key] = can || c.Failed == 0 // later messages need not wait for one that may make the server hang up
		if can && (!ok || p.before(c, w)) {
			w, ok = c, true
		}
	}
	return w, ok
}

// nextOther chooses among the messages that are not private.
func (p *plan) nextOther(ready func(waiter) bool) (w waiter, ok bool) {
	best := -1
	blocked, earlier := map[string]bool{}, map[string]bool{} // by target
	for i := 0; i < len(p.entries); i++ {
		if i >= ahead && best >= 0 && p.turn%deepEvery != 0 {
			break
		}
		c, gone := p.look(p.entries[i])
		if gone {
			p.entries = slices.Delete(p.entries, i, i+1)
			i--
			continue
		}
		key := strings.ToLower(c.target)
		if blocked[key] || c.alone || p.passesOver(c) {
			continue // an earlier message for the target must be sent first, or nextPrivate handles this one
		}
		if c.err == nil && !ready(c) {
			blocked[key] = c.Failed == 0 // later messages need not wait for one that may make the server hang up
			continue
		}
		if c.request != "" {
			// A request is carried out after the earlier messages for its target have
			// been sent, and before the later ones.
			blocked[key] = true
			if earlier[key] {
				continue
			}
		}
		earlier[key] = true
		if best < 0 || p.before(c, w) {
			best, w = i, c
		}
	}
	return w, best >= 0
}

// passesOver reports whether a message waits although later ones for its target need not.
func (p *plan) passesOver(w waiter) bool { return p.waits != nil && p.waits(w.about) }

// before reports whether a is to be sent before b, although b comes first in the list.
func (p *plan) before(a, b waiter) bool {
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	return p.served[strings.ToLower(a.target)] < p.served[strings.ToLower(b.target)] && a.Priority == b.Priority
}

// look reads an entry unless the plan has already read it.
func (p *plan) look(e dropbox.Entry) (w waiter, gone bool) {
	if w, ok := p.known[e.ID]; ok && w.Name == e.Name {
		return w, false
	}
	m, err := p.box.Read(e)
	if errors.Is(err, dropbox.ErrGone) {
		return waiter{}, true
	}
	w = waiter{Entry: e, err: err}
	if err == nil {
		w.destination = p.where(m)
	}
	p.known[e.ID] = w
	return w, false
}

// claimed removes a claimed message from the plan.
func (p *plan) claimed(w waiter) {
	p.turn++
	p.lastPrivate = w.alone
	p.private = slices.DeleteFunc(p.private, func(o waiter) bool { return o.ID == w.ID })
	if p.spell++; len(p.private) == 0 {
		p.spell = 0
	}
	p.fresh = slices.DeleteFunc(p.fresh, func(e dropbox.Entry) bool { return e.ID == w.ID })
	p.served[strings.ToLower(w.target)] = p.turn
	if len(p.served) > 1024 {
		clear(p.served) // limit the size of the map
	}
	delete(p.known, w.ID)
	p.entries = slices.DeleteFunc(p.entries, func(e dropbox.Entry) bool { return e.ID == w.ID })
}
