package outbox

import (
	"errors"
	"fmt"
	"slices"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// ErrOver reports that an attempt does not allow a step, because it has been settled, is being
// settled, or has not begun. It is a mistake of the caller.
var ErrOver = errors.New("its attempt does not allow this step now")

// A state is a stage in the life of an attempt.
//
//	taken --Begin--> begun --File, GiveUp, PutBack, Release--> settling ------------> over
//	  |                |                                         ^   |  the disk       ^
//	  |                |                                   Retry |   v  refuses it     |
//	  |                |                                        refused                |
//	  |                +-----------------------Leave-----------------------------------+
//	  +--Release, and File if the message is done--> settling
type state int

const (
	taken    state = iota // claimed, but a power cut may undo the claim
	begun                 // the claim is durable, and the attempt may have effects
	settling              // the last step is being made on disk
	refused               // the disk refused the last step, which waits for Retry
	over                  // settled, or left to the user
)

// An Attempt is a claimed message, until it is settled.
type Attempt struct {
	*dropbox.Claim

	// Done reports that a receipt proves that the message was handed over earlier; its file
	// was restored, for example from a backup. The caller calls [Attempt.File] at once, with any
	// receipt.
	Done bool

	box    *Box
	target string
	state  state        // guarded by Box.mu
	rest   func() error // the last step, for Retry; set before the state is refused
}

// enter moves an attempt to another state if it is in one of the states from.
func (a *Attempt) enter(to state, from ...state) error {
	a.box.mu.Lock()
	defer a.box.mu.Unlock()
	if !slices.Contains(from, a.state) {
		return fmt.Errorf("message %s: %w", a.ID, ErrOver)
	}
	if a.state = to; to == over {
		delete(a.box.attempts, a.ID)
	}
	return nil
}

// Take claims a waiting message for a target, which may be "". The claim is not durable before
// [Box.Begin]. The error is [dropbox.ErrGone] if the message no longer waits, and
// [dropbox.ErrHalted] while HALT exists. After any other error, the message still waits.
func (b *Box) Take(e dropbox.Entry, target string) (*Attempt, error) {
	if b.Holds(e.ID) {
		return nil, fmt.Errorf("message %s: %w", e.ID, ErrOver)
	}
	c, err := b.mailbox.Take(e)
	if errors.Is(err, dropbox.ErrHalted) {
		b.mu.Lock()
		b.halted = true
		b.mu.Unlock()
	}
	if err != nil {
		return nil, err
	}
	a := &Attempt{Claim: c, box: b, target: target}
	if done, err := b.mailbox.HasReceipt(c.Entry); err == nil {
		a.Done = done // if it is unknown, the message is tried, since it might be lost otherwise
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.attempts[c.ID] = a
	return a, nil
}

// Begin makes the claims of attempts durable. Calls at the same time share one wait for the
// disk. After an error, the caller releases the attempts.
func (b *Box) Begin(list ...*Attempt) error {
	if err := b.claims.of([]struct{}{{}})[0]; err != nil { // one sync for all
		return err
	}
	for _, a := range list {
		if err := a.enter(begun, taken); err != nil {
			return err
		}
	}
	return nil
}
