package client

import (
	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// WaitsFor returns the message for which a waiting message waits, or nil.
func (c *Client) WaitsFor(m *dropbox.Message) (*mail.Dependency, error) {
	if len(m.DependsOn) == 0 {
		return nil, nil
	}
	return mail.NewDependencies(c.Store).Of(m, 0)
}
