package config

import "github.com/claude-swarm/claude-swarm/swarm/budget"

// Oversight configures how the swarm is supervised when no person is watching.
type Oversight struct {
	Hours      Hours           `key:"hours" like:"{work: \"mon-fri 08:00-20:00\"}"`
	Notices    Notices         `key:"notices" like:"{quiet: \"22:00-07:00\"}"`
	Supervisor Supervisor      `key:"supervisor"`
	Budget     budget.Settings `key:"budget" like:"{swarm: {day: 20}}"`
	Webhooks   []Webhook       `key:"webhooks" like:"[{name: ops, url: \"https://example.com/hooks\"}]" doc:"Where events are posted by HTTP: [{name: ops, url: \"https://example.com/hooks\", kind: generic, secret_env: OPS_SECRET, events: [agent_error, limit]}]. See docs/webhooks.md."`
}
