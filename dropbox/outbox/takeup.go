package outbox

import (
	"errors"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Recover repairs the mailbox after a crash, and then does the same as [Box.TakeUp]. Call it
// once before the first claim.
func (b *Box) Recover() error {
	if err := b.mailbox.Recover(); err != nil {
		return err
	}
	return b.TakeUp()
}

// TakeUp settles the messages in cur/ that have no attempt, either because of a crash or
// because an earlier TakeUp failed. It ends at the first error; call it again later. It also
// repeats the steps that the disk has refused, and looks for HALT again.
func (b *Box) TakeUp() error {
	b.LookAgain()
	kept := b.Retry() // the others can be taken up even if these steps are refused again
	return errors.Join(kept, b.takeUp())
}

// takeUp settles the messages in cur/ that have no attempt.
func (b *Box) takeUp() error {
	held := b.Held() // before cur/ is listed: a message that is settled between the two needs no owner
	receipts, err := b.mailbox.Receipts()
	if err != nil {
		return err
	}
	for _, e := range receipts {
		if !held[e.ID] {
			if err := b.mailbox.Finish(e); err != nil {
				return err
			}
		}
	}
	reasons, err := b.mailbox.Reasons()
	if err != nil {
		return err
	}
	for _, e := range reasons {
		if !held[e.ID] {
			if err := b.finishGiveUp(e); err != nil {
				return err
			}
		}
	}
	claimed, err := b.mailbox.Claimed()
	if err != nil {
		return err
	}
	for _, e := range claimed {
		if held[e.ID] || b.o.Keep != nil && b.o.Keep(e.ID) {
			continue
		}
		if _, err := b.mailbox.PutBack(e, false); ignoreGone(err) != nil {
			return err
		}
	}
	return nil
}

// finishGiveUp finishes giving up a message after a crash.
func (b *Box) finishGiveUp(e dropbox.Entry) error {
	c := &dropbox.Claim{Entry: e}
	if b.o.Tell != nil {
		var err error
		if c, err = b.mailbox.Open(e); err != nil {
			return err
		}
	}
	reason, err := b.mailbox.Reason(e)
	if err != nil {
		return err
	}
	return b.giveUp(c, reason)
}

// Retry repeats the last steps that the disk has refused. It ends at the first error. The order
// differs from call to call, so a step that always fails does not hold up the others.
func (b *Box) Retry() error {
	for _, a := range b.in(refused) {
		if err := a.settle(a.rest, a.rest, refused); err != nil {
			return err
		}
	}
	return nil
}
