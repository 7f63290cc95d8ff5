package acp

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// toolsVars lists the variables that our tool server needs. They are passed explicitly
// because codex starts servers without the client's environment.
var toolsVars = []string{runner.AgentVar, runner.DirVar, runner.TokenVar, runner.MarkVar, "PATH", "HOME", "TMPDIR", "XDG_RUNTIME_DIR"}

// serversOf returns the MCP servers of a turn, keyed by name, including our own.
func serversOf(t runner.Turn) map[string]runner.Server {
	all := maps.Clone(t.Spec.Servers)
	if t.Tools == nil {
		return all
	}
	if all == nil {
		all = map[string]runner.Server{}
	}
	own := *t.Tools
	own.Env = maps.Clone(own.Env)
	if own.Env == nil {
		own.Env = map[string]string{}
	}
	for _, entry := range t.Env {
		if name, value, _ := strings.Cut(entry, "="); slices.Contains(toolsVars, name) {
			own.Env[name] = value
		}
	}
	if t.Ready != "" {
		own.Env[runner.ReadyVar] = t.Ready
	}
	all[runner.ToolServer] = own
	return all
}

// sessionServers returns the servers in the form that session/new uses. It never returns
// nil, because the protocol requires a list.
func sessionServers(all map[string]runner.Server) []protocol.McpServer {
	list := []protocol.McpServer{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		switch s.Type {
		case "http":
			list = append(list, protocol.McpServer{Http: &protocol.McpServerHttpInline{Type: "http", Name: name, Url: s.URL, Headers: headers(s.Headers)}})
		case "sse":
			list = append(list, protocol.McpServer{Sse: &protocol.McpServerSseInline{Type: "sse", Name: name, Url: s.URL, Headers: headers(s.Headers)}})
		default:
			list = append(list, protocol.McpServer{Stdio: &protocol.McpServerStdio{Name: name, Command: s.Command, Args: append([]string{}, s.Args...), Env: variables(s.Env)}})
		}
	}
	return list
}

func headers(all map[string]string) []protocol.HttpHeader {
	list := []protocol.HttpHeader{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, protocol.HttpHeader{Name: name, Value: all[name]})
	}
	return list
}

func variables(all map[string]string) []protocol.EnvVariable {
	list := []protocol.EnvVariable{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, protocol.EnvVariable{Name: name, Value: all[name]})
	}
	return list
}

// writeServers writes the file from which a client reads its list of servers. The file
// works for both copilot and cline, because each ignores the keys that only the other
// uses.
func writeServers(path string, all map[string]runner.Server) error {
	type entry struct {
		Type     string            `json:"type,omitempty"`
		Command  string            `json:"command,omitempty"`
		Args     []string          `json:"args,omitempty"`
		Env      map[string]string `json:"env,omitempty"`
		URL      string            `json:"url,omitempty"`
		Headers  map[string]string `json:"headers,omitempty"`
		Tools    []string          `json:"tools"`    // for copilot: the tools that it offers
		Disabled bool              `json:"disabled"` // for cline
	}
	file := struct {
		Servers map[string]entry `json:"mcpServers"`
	}{map[string]entry{}}
	for name, s := range all {
		e := entry{Type: s.Type, Command: s.Command, Args: s.Args, Env: s.Env, URL: s.URL, Headers: s.Headers, Tools: []string{"*"}}
		if s.URL == "" {
			e.Type = "" // a program needs no type
		}
		file.Servers[name] = e
	}
	data, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return err
	}
	return writePrivate(path, append(data, '\n'))
}

// writePrivate writes a file that only its owner can read.
func writePrivate(path string, data []byte) error {
	_ = os.Remove(path) // an existing file might have another mode
	return os.WriteFile(path, data, 0o600)
}
