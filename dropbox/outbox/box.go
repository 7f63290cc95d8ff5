package outbox

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Options configure a Box. The zero value is ready to use.
type Options struct {
	// Tries is how many more times [Attempt.File] and [Attempt.GiveUp] try a step that the
	// disk refuses, before they return the error. The first pause is 100 ms, and each further
	// pause is twice as long.
	Tries int
	// Pause is how long a target pauses after [Box.Pause]; 0 means 5 s.
	Pause time.Duration
	// Keep reports whether a claimed message without an attempt stays claimed, because the
	// user has recorded why. Nil means that no message does. The goroutine that calls
	// [Box.TakeUp] calls it.
	Keep func(id string) bool
	// Tell, if set, tells the sender that a message is given up. It is called when the reason
	// is durable and before the message moves. After a crash or an error it is called again, with
	// the same reason and time, so that the second notice can have the same key as the first. If
	// it fails, the message is not given up yet.
	Tell func(c *dropbox.Claim, reason string, at time.Time) error
}

// A Box works off one mailbox. The process that uses it must hold the store's lock.
type Box struct {
	mailbox *dropbox.Mailbox
	o       Options
	claims  shared[struct{}]
	filings shared[dropbox.Settlement]

	mu       sync.Mutex
	attempts map[string]*Attempt  // by message id
	paused   map[string]time.Time // until when a target pauses
	halted   bool
}

// New returns the Box of a mailbox. It does not access the disk.
func New(mailbox *dropbox.Mailbox, o Options) *Box {
	o.Pause = cmp.Or(o.Pause, 5*time.Second)
	b := &Box{mailbox: mailbox, o: o, attempts: map[string]*Attempt{}, paused: map[string]time.Time{}}
	b.claims.do = func(calls []struct{}) []error {
		return slices.Repeat([]error{mailbox.SyncClaims()}, len(calls))
	}
	b.filings.do = mailbox.SettleBatch
	return b
}

// Holds reports whether the Box has an attempt of a message. If so, the message must not be
// taken, even if it is listed as waiting.
func (b *Box) Holds(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.attempts[id] != nil
}

// Held returns the ids of the messages that [Box.Holds] reports. A caller that compares them with
// a listing of the mailbox reads them first: a message that is put back in the meantime is not in
// the listing, but it is still there.
func (b *Box) Held() map[string]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	ids := make(map[string]bool, len(b.attempts))
	for id := range b.attempts {
		ids[id] = true
	}
	return ids
}

// Busy returns how many messages for a target are being tried or settled. It does not count
// messages whose last step the disk has refused.
func (b *Box) Busy(target string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.attempts {
		if a.target == target && a.state != refused {
			n++
		}
	}
	return n
}

// Pause pauses a target after the disk has refused a claim: putting the message back may wake
// the worker, which would retry immediately. It returns false if the target already paused.
func (b *Box) Pause(target string) (began bool) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	began = !now.Before(b.paused[target])
	if began {
		b.paused[target] = now.Add(b.o.Pause)
	}
	return began
}

// PausedUntil returns the time until which a target pauses, or the zero time if it does not
// pause now.
func (b *Box) PausedUntil(target string) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	until, ok := b.paused[target]
	if ok && !time.Now().Before(until) {
		delete(b.paused, target)
		return time.Time{}
	}
	return until
}

// Halted reports whether the file HALT prevented the last claim. The user takes nothing
// until [Box.LookAgain].
func (b *Box) Halted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.halted
}

// LookAgain forgets that the last claim was prevented by HALT. The user calls it when something
// changed in the mailbox or in the store.
func (b *Box) LookAgain() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.halted = false
}

// in returns the attempts that are in a state, in any order.
func (b *Box) in(s state) (list []*Attempt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.attempts {
		if a.state == s {
			list = append(list, a)
		}
	}
	return list
}

// Patience returns the context of the attempts of a worker that stops when stop is done. The
// context is done when the given time has passed since then, or when end is called. The caller
// calls end when all attempts have ended.
func Patience(stop context.Context, d time.Duration) (kill context.Context, end func()) {
	kill, cancel := context.WithCancel(context.WithoutCancel(stop))
	forget := context.AfterFunc(stop, func() {
		timer := time.AfterFunc(d, cancel)
		context.AfterFunc(kill, func() { timer.Stop() })
	})
	return kill, func() { forget(); cancel() }
}
