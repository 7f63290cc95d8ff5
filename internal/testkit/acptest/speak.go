package acptest

import (
	"path/filepath"
)

// Tools describes an MCP server that a client starts and that uses standard input and
// output.
type Tools struct {
	Name    string
	Command string
	Args    []string
	Env     map[string]string
}

// Speak returns the command line that starts the client as a protocol agent with the
// server s, the additional variables for its environment, and the servers for session/new.
// Each client has its own way of passing an MCP server. The command makes the client trust
// the working folder and ask before it uses a tool.
func (h *Home) Speak(s Tools) (command, env []string, servers []any, err error) {
	pairs := []any{}
	for key, value := range s.Env {
		pairs = append(pairs, object{"name": key, "value": value})
	}
	servers = []any{object{"name": s.Name, "command": s.Command, "args": s.Args, "env": pairs}}
	file := filepath.Join(h.Dir, "servers.json")
	switch h.Client.Name {
	case "codex":
		return []string{h.Program}, []string{"INITIAL_AGENT_MODE=workspace-write"}, servers, nil
	case "opencode":
		return []string{h.Program, "acp"}, nil, servers, nil
	case "gemini":
		// Without this setting, gemini begins by deleting sessions that another process
		// has loaded.
		system := filepath.Join(h.Dir, "system.json")
		err = h.writeJSON("system.json", object{"general": object{"sessionRetention": object{"enabled": false}}})
		return []string{h.Program, "--acp", "--skip-trust", "-m", h.Model}, []string{"GEMINI_CLI_SYSTEM_SETTINGS_PATH=" + system}, servers, err
	case "copilot": // refuses servers in session/new that it would have to start
		err = h.writeJSON("servers.json", object{"mcpServers": object{s.Name: object{
			"type": "local", "command": s.Command, "args": s.Args, "env": s.Env, "tools": []string{"*"},
		}}})
		return []string{h.Program, "--acp", "--no-auto-update", "--additional-mcp-config", "@" + file}, nil, []any{}, err
	default: // cline ignores the servers in session/new
		err = h.writeJSON("servers.json", object{"mcpServers": object{s.Name: object{
			"command": s.Command, "args": s.Args, "env": s.Env, "disabled": false,
		}}})
		return []string{h.Program, "--acp"}, []string{"CLINE_SESSION_BACKEND_MODE=local", "CLINE_MCP_SETTINGS_PATH=" + file}, []any{}, err
	}
}
