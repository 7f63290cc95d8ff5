package claude

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// servers returns the content of the file for --mcp-config with the MCP servers of a
// turn. The client expands ${NAME} in the values.
func servers(t runner.Turn) []byte {
	type server struct {
		Type    string            `json:"type"`
		Command string            `json:"command,omitempty"`
		Args    []string          `json:"args,omitempty"`
		Env     map[string]string `json:"env,omitempty"`
		URL     string            `json:"url,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
		// With AlwaysLoad, the model knows the tools from its first request. Without it,
		// version 2.1.330 gives the model only the names of the tools, and the model must
		// search for each tool.
		AlwaysLoad bool `json:"alwaysLoad,omitempty"`
	}
	all := map[string]server{}
	add := func(name string, s runner.Server) {
		if s.URL == "" {
			all[name] = server{Type: "stdio", Command: s.Command, Args: s.Args, Env: s.Env}
			return
		}
		all[name] = server{Type: s.Type, URL: s.URL, Headers: s.Headers}
	}
	for name, s := range t.Spec.Servers {
		add(name, s)
	}
	if t.Tools != nil {
		add(runner.ToolServer, *t.Tools)
		ours := all[runner.ToolServer]
		ours.AlwaysLoad = true
		all[runner.ToolServer] = ours
	}
	data, err := json.MarshalIndent(map[string]any{"mcpServers": all}, "", "  ")
	if err != nil {
		panic("claude: servers could not be encoded as JSON: " + err.Error())
	}
	return append(data, '\n')
}

// hasServers reports whether the turn has any MCP servers.
func hasServers(t runner.Turn) bool { return t.Tools != nil || len(t.Spec.Servers) > 0 }

// ownTools returns the tools of our server, which are always allowed.
func ownTools(t runner.Turn) []string {
	if t.Tools == nil {
		return nil
	}
	return []string{toolsOf(runner.ToolServer)}
}

// furtherTools returns the tools of all other servers.
func furtherTools(s runner.Spec) []string {
	var tools []string
	for _, name := range slices.Sorted(maps.Keys(s.Servers)) {
		tools = append(tools, toolsOf(name))
	}
	return tools
}

// toolsOf returns the pattern that matches all tools of a server. The client would ignore
// mcp__* as a pattern for all servers.
func toolsOf(server string) string { return "mcp__" + server + "__*" }
