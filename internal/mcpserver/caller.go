package mcpserver

import (
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A Caller is the agent or the lead that calls a tool, with the current state of its
// project.
type Caller struct {
	*client.Client
	Project string     // the project's folder
	Plan    swarm.Plan // from the project's configuration
	Folders []string   // the folders in which the caller may work; the lead may attach only files from them
	Close   func() error
}

// spec returns an agent's entry in the configuration.
func (c *Caller) spec(name string) (swarm.Spec, bool) {
	for _, s := range c.Plan.Agents {
		if s.Name == name {
			return s, true
		}
	}
	return swarm.Spec{}, false
}

// WorkFolder returns the folder for an agent's notes and drafts.
func WorkFolder(store, agent string) string { return filepath.Join(store, agent, "work") }

// A call is one tool call. Each group of tools is constructed from a call.
type call struct {
	*Caller
	daemon daemonLink
}
