package ircbridge

import (
	"context"
	"fmt"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
)

// A Bridge carries messages between the mailboxes of one project and one IRC network.
type Bridge struct {
	o Options
}

// New makes a bridge. It does not access files or the network. It returns an error if the
// options are invalid.
func New(o Options) (*Bridge, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("irc: %w", err)
	}
	return &Bridge{o: o}, nil
}

// Run runs the bridge as [bridge.Bridge.Run] does, over a link to IRC.
func (b *Bridge) Run(ctx context.Context) error {
	o := b.o
	br, err := bridge.New(o.Options, newLink(&o))
	if err != nil {
		return fmt.Errorf("irc: %w", err)
	}
	return br.Run(ctx)
}
