package dropbox_test

import "github.com/claude-swarm/claude-swarm/dropbox"

// takeUp handles an agent's mailbox as a daemon does after a crash: it completes
// interrupted steps, gives up unreadable messages, and puts the others back.
func takeUp(b *dropbox.Mailbox) error {
	if err := b.Recover(); err != nil {
		return err
	}
	for _, step := range []struct {
		list func() ([]dropbox.Entry, error)
		end  func(dropbox.Entry) error
	}{
		{b.Receipts, b.Finish},
		{b.Reasons, func(e dropbox.Entry) error { return b.GiveUp(e, "") }},
		{b.Refusals().Unfinished, func(e dropbox.Entry) error { return b.Refuse(e, "") }},
		{b.Claimed, func(e dropbox.Entry) error {
			c, err := b.Open(e)
			if err != nil {
				return err
			}
			if c.Bad != nil {
				return b.GiveUp(e, c.Bad.Error())
			}
			_, err = b.PutBack(e, false)
			return err
		}},
	} {
		entries, err := step.list()
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := step.end(e); err != nil {
				return err
			}
		}
	}
	return nil
}
