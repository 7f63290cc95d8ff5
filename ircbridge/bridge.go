package ircbridge

import "fmt"

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
