package swarm

import (
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// clientSettings determines how an agent's client runs: what kind it is, and the settings of its
// next turn. It is safe for concurrent use.
type clientSettings struct {
	control  *control
	backends map[string]runner.Backend
	tools    bool              // whether there are tools of the swarm that a client can get
	advise   func(Spec) string // nil means no advice
	holds    *journal.Holds
	unsorted *journal.UnsortedTools
	plan     func() Plan
	mailbox  string // the agent's folder
}

// settings returns the settings of the agent's next turn.
func (c *clientSettings) settings() turn.Settings {
	s := c.control.settings()
	s.Tools = c.hasTools(s)
	client := s.Client
	if !c.holds.Of(s.Name).Deeper.IsZero() {
		client.Thinking = deeper(client.Thinking)
	}
	if !s.AllTools {
		client.Unsorted = c.unsorted.Of(c.kind())
	}
	client.System = systemText(s, c.plan(), c.mailbox)
	settings := s.Settings
	settings.Client, settings.WindowTokens, settings.Editable = client, s.windowTokens(), c.plan().Editable
	return settings
}

// kind describes the agent's kind of client.
func (c *clientSettings) kind() *runner.Kind {
	return turn.BackendOf(c.backends, c.control.settings().Backend).Kind()
}

// hasTools reports whether the agent's client gets the swarm's tools.
func (c *clientSettings) hasTools(s Spec) bool { return s.Tools && c.tools }

// advice returns the advice for the prompt of a turn with these settings, or "".
func (c *clientSettings) advice(s turn.Settings) string {
	if c.advise == nil {
		return ""
	}
	asked := c.control.settings()
	asked.Tools = s.Tools
	return c.advise(asked)
}
