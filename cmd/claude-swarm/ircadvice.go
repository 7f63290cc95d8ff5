package main

import (
	"log/slog"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// advice returns a function that returns the advice to read the channels; see
// [bridge.Reader.CheckIn]. The function uses the configuration that is in force when it is
// called. It returns "" for an agent that cannot read channels.
func (m *ircAnnouncer) advice(home journal.Home, log *slog.Logger) func(swarm.Spec) string {
	return func(s swarm.Spec) string {
		i := m.section.Load()
		if !i.On() || !mayRead(s) {
			return ""
		}
		reader := bridge.Reader{Dir: ircbridge.Folder(home.Dir()), Name: s.Name, Size: i.BufferSize, Own: i.Own[s.Name]}
		line, err := reader.CheckIn(time.Now(), i.ProjectOf(s.Name), s.Tools)
		if err != nil { // a turn must not fail because the advice is missing
			log.Warn("it is unknown whether an agent reads its channels", "agent", s.Name, "err", err)
		}
		return line
	}
}

// mayRead reports whether an agent is allowed to use the tool or command that reads
// channels.
func mayRead(s swarm.Spec) bool {
	if s.Client.DisallowedTools == nil {
		return true
	}
	with := []string{"Bash"}
	if s.Tools {
		with = []string{"mcp__" + runner.ToolServer, "mcp__" + runner.ToolServer + "__irc_read"}
	}
	return !slices.ContainsFunc(*s.Client.DisallowedTools, func(t string) bool { return slices.Contains(with, t) })
}
