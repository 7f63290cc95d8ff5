package acpstandin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A server is an MCP server that the agent has started.
type server struct {
	name    string
	tools   []string
	session *mcp.ClientSession
	wrapped bool // the client marks the server's results as text from another program
}

// A serverSpec describes how to start a server.
type serverSpec struct {
	name, command string
	args, env     []string
}

// serverSpecs finds the MCP servers where this client looks for them. It always checks the
// servers in the request.
func (a *agent) serverSpecs(p *params) ([]serverSpec, error) {
	if p.Servers == nil {
		return nil, invalid("mcpServers is missing")
	}
	var given []serverSpec
	for _, raw := range p.Servers {
		var s struct {
			Type    string   `json:"type"`
			Name    string   `json:"name"`
			Command string   `json:"command"`
			Args    []string `json:"args"`
			Env     []struct {
				Name  string `json:"name"`
				Value string `json:"value"`
			} `json:"env"`
		}
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, invalid("mcpServers: %v", err)
		}
		if s.Type == "http" || s.Type == "sse" {
			continue // the answer to initialize says that the stand-in does not support such servers
		}
		if s.Name == "" || s.Command == "" || s.Args == nil || s.Env == nil {
			return nil, invalid("mcpServers: name, command, args and env are required: %s", raw)
		}
		spec := serverSpec{name: s.Name, command: s.Command, args: s.Args}
		for _, e := range s.Env {
			spec.env = append(spec.env, e.Name+"="+e.Value)
		}
		given = append(given, spec)
	}
	switch a.is.Servers {
	case "session":
		return given, nil
	case "trusted":
		if slices.Contains(a.args, "--skip-trust") || a.getenv("GEMINI_CLI_TRUST_WORKSPACE") == "true" {
			return given, nil
		}
	case "flag":
		return serverFile(a.flag("--additional-mcp-config"))
	case "file":
		if path := a.getenv("CLINE_MCP_SETTINGS_PATH"); path != "" {
			return serverFile("@" + path)
		}
	}
	return nil, nil
}

// serverFile reads servers from JSON, or from a file if config is @FILE.
func serverFile(config string) ([]serverSpec, error) {
	if config == "" {
		return nil, nil
	}
	if path, ok := strings.CutPrefix(config, "@"); ok {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		config = string(data)
	}
	var file struct {
		Servers map[string]struct {
			Command  string            `json:"command"`
			Args     []string          `json:"args"`
			Env      map[string]string `json:"env"`
			Disabled bool              `json:"disabled"`
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(config), &file); err != nil {
		return nil, err
	}
	var specs []serverSpec
	for name, s := range file.Servers {
		if s.Disabled || s.Command == "" {
			continue
		}
		spec := serverSpec{name: name, command: s.Command, args: s.Args}
		for key, value := range s.Env {
			spec.env = append(spec.env, key+"="+value)
		}
		specs = append(specs, spec)
	}
	slices.SortFunc(specs, func(a, b serverSpec) int { return strings.Compare(a.name, b.name) })
	return specs, nil
}

// startServers starts the servers of a session that are not running yet.
func (a *agent) startServers(s *session) {
	for _, spec := range s.waiting {
		server, err := a.startServer(spec, s)
		if err != nil {
			a.complain(err) // the real clients ignore the error and continue silently
			continue
		}
		s.servers = append(s.servers, server)
	}
	s.waiting = nil
}

// startServer starts a server and lists its tools.
func (a *agent) startServer(spec serverSpec, s *session) (*server, error) {
	cmd := exec.Command(spec.command, spec.args...)
	cmd.Dir, cmd.Stderr = s.cwd, a.stderr
	cmd.Env = append(a.serverEnv(), spec.env...)
	if a.is.ClosedEnv {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: a.is.Name, Version: a.is.Version}, nil)
	started, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: 2 * time.Second}, nil)
	if err != nil {
		return nil, fmt.Errorf("MCP server %s: %w", spec.name, err)
	}
	list, err := started.ListTools(ctx, nil)
	if err != nil {
		started.Close()
		return nil, fmt.Errorf("MCP server %s: %w", spec.name, err)
	}
	server := &server{name: spec.name, session: started, wrapped: a.is.Servers == "trusted"}
	for _, tool := range list.Tools {
		server.tools = append(server.tools, tool.Name)
	}
	return server, nil
}

// serverEnv returns the part of the client's environment that a server gets.
func (a *agent) serverEnv() []string {
	if !a.is.ClosedEnv {
		return slices.Clone(a.environ)
	}
	var env []string
	for _, name := range []string{"HOME", "LANG", "TERM", "PATH"} {
		if value, ok := a.env[name]; ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// call calls a tool.
func (s *server) call(ctx context.Context, tool string, input map[string]any) (output, error) {
	result, err := s.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: input})
	if ctx.Err() != nil {
		return output{text: "cancelled", failed: true}, errCancelled
	} else if err != nil {
		return output{}, err
	}
	var out output
	for _, c := range result.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			out.text += text.Text
		}
	}
	if s.wrapped {
		out.text = "<untrusted_context>\n" + out.text + "\n</untrusted_context>"
	}
	out.failed = result.IsError
	return out, nil
}

func (s *server) close() { s.session.Close() } // the error is only the server's exit status

// allows reports whether the client's settings permit an MCP tool without asking.
func (a *agent) allows(tool string) bool {
	for _, flag := range a.is.AllowedTools {
		for _, value := range a.flags(flag) {
			for name := range strings.SplitSeq(value, ",") {
				if tool == name || strings.HasPrefix(tool, name+"-") {
					return true
				}
			}
		}
	}
	if a.is.AsksTools != "mute" {
		return false
	}
	home := a.getenv("CODEX_HOME")
	if home == "" {
		home = filepath.Join(a.getenv("HOME"), ".codex")
	}
	config, err := os.ReadFile(filepath.Join(home, "config.toml"))
	return err == nil && strings.Contains(string(config), `default_tools_approval_mode = "approve"`)
}
