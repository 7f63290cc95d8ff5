package outbox

import (
	"context"
	"errors"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// firstPause is the pause before a step that the disk refused is tried again. Each further
// pause is twice as long.
const firstPause = 100 * time.Millisecond

// File durably files the message with its receipt in done/. Messages that are filed at the same
// time share the waits for the disk. If ctx is done, File no longer pauses between its tries.
func (a *Attempt) File(ctx context.Context, receipt []byte) error {
	if a.Done {
		step := func() error { return a.box.mailbox.File(a.Entry) }
		return a.settle(step, step, taken, begun)
	}
	st := []dropbox.Settlement{{Entry: a.Entry, Receipt: receipt}}
	step := func() error { return a.box.filings.of(st)[0] }
	return a.settle(a.box.tried(ctx, step), step, begun)
}

// GiveUp durably moves the message to dead/ with a reason, and tells its sender with
// [Options.Tell]. If ctx is done, GiveUp no longer pauses between its tries.
func (a *Attempt) GiveUp(ctx context.Context, reason string) error {
	step := func() error { return a.box.giveUp(a.Claim, reason) }
	return a.settle(a.box.tried(ctx, step), step, begun)
}

// PutBack durably returns the message to the waiting ones. failed counts the attempt as a
// failure of the message.
func (a *Attempt) PutBack(failed bool) error {
	step := func() error {
		_, err := a.box.mailbox.PutBack(a.Entry, failed)
		return ignoreGone(err)
	}
	return a.settle(step, step, begun)
}

// Release is PutBack for an attempt that has handed over nothing: the attempt does not count as
// begun, either.
func (a *Attempt) Release() error {
	step := func() error {
		_, err := a.box.mailbox.Release(a.Entry)
		return ignoreGone(err)
	}
	return a.settle(step, step, taken, begun)
}

// Leave ends the attempt, but leaves the message claimed. The user has recorded why, and
// [Options.Keep] reports it.
func (a *Attempt) Leave() error { return a.enter(over, begun) }

// settle makes the last step of an attempt that is in one of the states from. If the disk
// refuses it, the step rest waits for [Box.Retry].
func (a *Attempt) settle(step, rest func() error, from ...state) error {
	if err := a.enter(settling, from...); err != nil {
		return err
	}
	a.rest = rest
	next := begun                                  // after a panic, the message can still be given up
	defer func() { _ = a.enter(next, settling) }() // no other goroutine changes the state in the meantime
	err := step()
	if next = over; err != nil {
		next = refused
	}
	return err
}

// tried returns a step that is tried again as often as Options.Tries says.
func (b *Box) tried(ctx context.Context, step func() error) func() error {
	return func() error {
		err := step()
		for n, pause := 0, firstPause; err != nil && n < b.o.Tries; n, pause = n+1, 2*pause {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
			err = step()
		}
		return err
	}
}

// giveUp gives up a message. Each of its steps is safe to repeat.
func (b *Box) giveUp(c *dropbox.Claim, reason string) error {
	if b.o.Tell != nil {
		at, err := b.mailbox.BeginGiveUp(c.Entry, reason)
		if err == nil {
			err = b.o.Tell(c, reason, at)
		}
		if err != nil {
			return err
		}
	}
	return b.mailbox.GiveUp(c.Entry, reason)
}

// ignoreGone returns nil for a message that is neither claimed nor put back, so that it has been
// moved by hand.
func ignoreGone(err error) error {
	if errors.Is(err, dropbox.ErrGone) {
		return nil
	}
	return err
}
