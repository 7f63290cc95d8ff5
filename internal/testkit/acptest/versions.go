package acptest

import (
	"slices"

	claudeswarm "github.com/claude-swarm/claude-swarm"
)

// A Client is a real coding agent that supports the Agent Client Protocol, in the version
// that the tests run.
type Client struct {
	Name    string // name of the backend
	Package string // on npm
	Version string
	Program string // the name of its command
}

// Clients lists all clients of clients.lock except Claude Code. The Makefile installs them
// below .tools/acp.
var Clients = func() []Client {
	var all []Client
	for _, c := range slices.DeleteFunc(claudeswarm.Clients(), func(c claudeswarm.Client) bool { return c.Name == "claude" }) {
		all = append(all, Client{c.Name, c.Package, c.Newest, c.Program})
	}
	return all
}()
