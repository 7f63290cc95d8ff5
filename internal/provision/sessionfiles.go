package provision

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// An attachedSession is a person's own session that acts as an agent.
type attachedSession struct {
	agent   string
	way     Way
	program string // claude-swarm
	config  string // path of claude-swarm.yaml
	cwd     string // the session's working folder
}

// sessionParts returns the parts of all attached sessions.
func (s *setup) sessionParts(file *config.File) (parts []part, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for _, a := range file.Agents {
		if way, ok := s.m.Attached[a.Name]; ok && a.Attached {
			parts = append(parts, attachedSession{a.Name, way, program, s.r.Config, a.Client.Dir}.parts()...)
		}
	}
	return parts, nil
}

// makeSessions creates or updates the parts of all attached sessions.
func (s *setup) makeSessions(file *config.File, o Options) error {
	parts, err := s.sessionParts(file)
	if err != nil {
		return err
	}
	return s.makeAll(parts, o)
}

// pluginDir returns the folder of the session's plugin.
func (s attachedSession) pluginDir() string {
	return filepath.Join(filepath.Dir(s.config), homeName, "attach", s.agent)
}

// parts returns the files and lines that the session needs.
func (s attachedSession) parts() []part {
	server := s.server()
	if s.way == ByPlugin {
		dir := s.pluginDir()
		file := func(name, text string) part {
			return part{path: filepath.Join(dir, filepath.FromSlash(name)), agent: s.agent, text: text, mode: 0o600}
		}
		return []part{
			file(".claude-plugin/plugin.json", indented(map[string]any{
				"name": pluginName, "version": "1.2.0", "description": "This session is the agent " + s.agent + " of a claude-swarm project.",
				"author": map[string]string{"name": "claude-swarm"},
			})),
			file("hooks/hooks.json", indented(map[string]any{"hooks": s.hooks()})),
			file("commands/inbox.md", s.inbox()),
			file(".mcp.json", indented(map[string]any{"mcpServers": map[string]any{serverName: server}})),
		}
	}
	parts := []part{
		{
			path: filepath.Join(s.cwd, ".mcp.json"), agent: s.agent, text: indented(map[string]any{"mcpServers": map[string]any{serverName: server}}), mode: 0o644,
			place: func(data []byte) ([]insert, error) {
				return placeJSON(data, []jsonStep{{key: "mcpServers"}}, serverName, server)
			},
			cores: []string{compact(server)},
		},
		{path: filepath.Join(s.cwd, ".claude", "commands", "inbox.md"), agent: s.agent, text: s.inbox(), mode: 0o644},
	}
	if s.way == BySettings {
		hooks := s.hooks()
		var cores []string
		for _, event := range hookEvents {
			cores = append(cores, compact(hooks[event][0]))
		}
		parts = append(parts, part{
			path: filepath.Join(s.cwd, ".claude", "settings.json"), agent: s.agent, text: indented(map[string]any{"hooks": hooks}), mode: 0o644,
			place: func(data []byte) ([]insert, error) {
				var all []insert
				for _, event := range hookEvents {
					ins, err := placeJSON(data, []jsonStep{{key: "hooks"}, {key: event, list: true}}, "", hooks[event][0])
					if err != nil {
						return nil, err
					}
					data = bytes.Join([][]byte{data[:ins[0].At], []byte(ins[0].Text), data[ins[0].At:]}, nil)
					all = append(all, ins...)
				}
				return all, nil
			},
			cores: cores,
		})
	}
	return parts
}

// serverName is the name of our MCP server in every client.
const serverName = "dead-drop"

// pluginName is part of the names of the plugin's command and tools, such as /swarm:inbox
// and mcp__plugin_swarm_dead-drop__send. Claude Code 2.1.330, and possibly earlier
// versions, reserves names that begin with claude-: claude plugin validate rejects them.
const pluginName = "swarm"

func (s attachedSession) server() map[string]any {
	return map[string]any{
		"command": s.program, "args": []string{"--config", s.config, "mcp"},
		"env": map[string]string{runner.AgentVar: s.agent, runner.DirVar: filepath.Dir(s.config)},
		// Without this key, Claude Code 2.1.330 offers the tools only by name, so the model must
		// look up each tool before using it. Version 2.1.197 ignores the key.
		"alwaysLoad": true,
	}
}

// hookEvents lists the events for which the client runs claude-swarm hook. For a slash
// command, the hook for UserPromptExpansion runs before the ! lines; see
// [mail.Attached.Prompted].
var hookEvents = []string{"SessionStart", "UserPromptSubmit", "UserPromptExpansion", "Stop", "TaskCreated", "TaskCompleted", "SessionEnd"}

// hooks returns our entries for the hooks in the client's settings, by event. Their
// command lines end with our mark, so that a person can recognize them, because JSON has
// no comments.
func (s attachedSession) hooks() map[string][]any {
	all := make(map[string][]any)
	for event, verb := range map[string]string{
		"SessionStart": "start", "UserPromptSubmit": "prompt", "UserPromptExpansion": "prompt", "Stop": "stop", "SessionEnd": "end",
		"TaskCreated": "task", "TaskCompleted": "task",
	} {
		// The client takes exit status 2 as an order to block what the hook is about. This is
		// also the status of a Go program that panics, and of an earlier claude-swarm that does
		// not know the verb.
		line := s.line("hook "+verb) + " || exit 1 " + fenceBegin
		all[event] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": line, "timeout": 60}}}}
	}
	return all
}

// line returns the command line that runs a verb as this agent.
func (s attachedSession) line(verb string) string {
	return shellQuote(s.program) + " --config " + shellQuote(s.config) + " " + verb + " --as " + s.agent
}

// inbox returns the definition of the command /inbox. The client runs the command after
// the ! and replaces the line with the output: the message in a fence. It does not
// execute the output.
func (s attachedSession) inbox() string {
	fetch := s.line("hook inbox")
	end := `If there is a message, do what it asks as far as your own instructions allow, and end with one summary: it goes to
the sender.
`
	if s.way == ByTools {
		fetch += " --file-last"
		end = `If there is a message, do what it asks as far as your own instructions allow, and then answer its sender with the
tool reply or claude-swarm reply.
`
	}
	return `---
description: Fetch the next message of ` + s.agent + `
allowed-tools: Bash(` + shellQuote(s.program) + `:*)
---
The next message in your mailbox, or a note that there is none:

!` + "`" + fetch + "`\n\n" + end
}
