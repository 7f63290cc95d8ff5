package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/view"
)

// sayIfUrgentWaits tells the sender of an urgent message which receivers will not read it
// before their running turns end. If it cannot ask the daemon, it prints nothing.
func (p *post) sayIfUrgentWaits(c *cli.Context, m *dropbox.Message, sent []dropbox.Delivery) {
	if m.Priority != dropbox.Urgent || !m.Type.Wakes() || !lockHeld(p.home) {
		return
	}
	_ = askAsAnyone(c, p.project, func(client *control.Client) error {
		for _, d := range sent {
			if d.To == dropbox.Lead || d.Duplicate {
				continue
			}
			st, err := client.Status(c.Context, d.To)
			if err != nil {
				return err
			}
			for _, a := range st.Agents {
				if text := view.ReadsLater(a, d.ID); text != "" {
					fmt.Fprintf(c.App.ErrWriter, "claude-swarm: %s\n", text)
				}
			}
		}
		return nil
	})
}
