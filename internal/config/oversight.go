package config

// Oversight configures how the swarm is supervised when no person is watching.
type Oversight struct {
	Hours      Hours      `key:"hours" like:"{work: \"mon-fri 08:00-20:00\"}"`
	Notices    Notices    `key:"notices" like:"{quiet: \"22:00-07:00\"}"`
	Supervisor Supervisor `key:"supervisor"`
	Budget     Budget     `key:"budget" like:"{swarm: {day: 20}}"`
	Webhooks   []Webhook  `key:"webhooks" like:"[{name: ops, url: \"https://example.com/hooks\"}]" doc:"Where events are posted by HTTP: [{name: ops, url: \"https://example.com/hooks\", kind: generic, secret_env: OPS_SECRET, events: [agent_error, limit]}]. kind is generic (a JSON object, signed with the secret as in Standard Webhooks), slack, discord or ntfy (the secret is an access token). The address may be in a variable, url_env. The secret is in a variable or in a file that only you may read, secret_file. Without events, all events are posted. private: true allows an address in your network, and http. See docs/webhooks.md."`
}
