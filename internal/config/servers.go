package config

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// ToolServer is the name, in the client, of the MCP server that claude-swarm
// itself gives an agent.
const ToolServer = "dead-drop"

// An MCPServer is a server of further tools for an agent's client: a program
// that the client starts, or an address that it calls.
type MCPServer struct {
	Type    string            // stdio, http or sse
	Command string            // of stdio: the program. With a slash in it an absolute path
	Args    []string          // of stdio
	Env     map[string]string // of stdio: added to the environment of the program
	URL     string            // of http and sse
	Headers map[string]string // of http and sse
}

// The kinds of MCP servers, as the client calls them.
const (
	serverStdio = "stdio"
	serverHTTP  = "http"
	serverSSE   = "sse"
)

// serverName is what a server may be called: it becomes part of the names of its
// tools.
var serverName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`) })

var headerName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9-]+$`) })

// servers reads the MCP servers of an agent, over those of defaults. One that is
// null is taken away again.
func (r *reader) servers(n *yaml.Node, name string, a *Agent) {
	all := maps.Clone(a.MCPServers)
	r.each(n, name, func(key string, k, v *yaml.Node) {
		v = follow(v)
		switch {
		case key == ToolServer:
			r.fail(k, "%s: %s is claude-swarm's own server", name, key).Try = "another name; mcp: false takes ours away"
		case !serverName().MatchString(key):
			r.fail(k, "%s: %q cannot name a server; want up to 32 letters, digits, - and _", name, key)
		case isNull(v):
			delete(all, key)
		default:
			if s, ok := r.server(v, name+": "+key); ok {
				if all == nil {
					all = make(map[string]MCPServer)
				}
				all[key] = s
			}
		}
	})
	a.MCPServers = all
}

// server reads one of them.
func (r *reader) server(n *yaml.Node, name string) (MCPServer, bool) {
	if n.Kind != yaml.MappingNode {
		e := r.fail(n, "%s: want keys with values, got %s", name, kind(n))
		if n.Kind == yaml.ScalarNode {
			e.Try = "{command: " + n.Value + "}"
		}
		return MCPServer{}, false
	}
	before := len(r.errs)
	var s MCPServer
	at := make(map[string]*yaml.Node)
	r.each(n, name, func(key string, k, v *yaml.Node) {
		at[key] = k
		switch key {
		case "type":
			set(&s.Type)(r.oneOf(v, name+": type", []string{serverStdio, serverHTTP, serverSSE}))
		case "command":
			set(&s.Command)(r.program(v, name+": command"))
		case "args":
			set(&s.Args)(r.texts(v, name+": args"))
		case "env":
			r.variables(v, name+": env", &s.Env)
		case "url":
			set(&s.URL)(r.address(v, name+": url"))
		case "headers":
			r.headers(v, name+": headers", &s.Headers)
		default:
			known := []string{"type", "command", "args", "env", "url", "headers"}
			e := r.fail(k, "%s: unknown key %q", name, key)
			if e.Near = dropbox.Nearest(key, known); len(e.Near) == 0 {
				e.Try = "known here: " + strings.Join(known, ", ")
			}
		}
	})
	if len(r.errs) > before {
		return s, false
	}
	r.whole(n, name, &s, at)
	return s, len(r.errs) == before
}

// whole checks that a server has what its type needs, and nothing of another.
func (r *reader) whole(n *yaml.Node, name string, s *MCPServer, at map[string]*yaml.Node) {
	if s.Type == "" {
		s.Type = serverStdio
		if s.Command == "" && s.URL != "" {
			r.fail(n, "%s: the type is missing: http or sse", name).Try = "type: http"
			return
		}
	}
	needs, not := "command", []string{"url", "headers"}
	if s.Type != serverStdio {
		needs, not = "url", []string{"command", "args", "env"}
	}
	if at[needs] == nil {
		r.fail(n, "%s: the %s of the server is missing", name, needs)
	}
	for _, key := range not {
		if at[key] != nil {
			r.fail(at[key], "%s: %s has no place in a server of type %s", name, key, s.Type)
		}
	}
}

// program reads the path or name of a program.
func (r *reader) program(n *yaml.Node, name string) (string, bool) {
	s, ok := r.line(n, name)
	if ok && s == "" {
		r.fail(follow(n), "%s: is empty", name)
		return "", false
	}
	return s, ok
}

// texts reads a list of texts of any kind, one of which may be empty or a
// number: they become the arguments of a program.
func (r *reader) texts(n *yaml.Node, name string) ([]string, bool) {
	n = follow(n)
	if n.Kind != yaml.SequenceNode {
		e := r.fail(n, "%s: want a list, got %s", name, kind(n))
		if n.Kind == yaml.ScalarNode && !isNull(n) {
			e.Try = "args: [" + n.Value + "]"
		}
		return nil, false
	}
	values, good := make([]string, 0, len(n.Content)), true
	for _, item := range n.Content {
		if item = follow(item); item.Kind != yaml.ScalarNode || isNull(item) {
			r.fail(item, "%s: want text, got %s", name, kind(item))
			good = false
			continue
		}
		values = append(values, item.Value)
	}
	return values, good
}

// headers reads the headers that a server is called with.
func (r *reader) headers(n *yaml.Node, name string, to *map[string]string) {
	r.pairs(n, name, to, func(key, value string) string {
		switch {
		case !headerName().MatchString(key):
			return fmt.Sprintf("%q cannot be the name of a header", key)
		case strings.ContainsAny(value, "\x00\r\n"):
			return key + ": must be one line"
		}
		return ""
	})
}

// address reads the address of a server. Whether it is there the client finds out.
func (r *reader) address(n *yaml.Node, name string) (string, bool) {
	s, ok := r.line(n, name)
	if !ok {
		return "", false
	}
	_, rest, http := strings.Cut(s, "://")
	if scheme := strings.TrimSuffix(s, "://"+rest); !http || scheme != "http" && scheme != "https" ||
		strings.Trim(rest, "/") == "" || strings.ContainsAny(s, " \t\"<>") {
		r.fail(follow(n), "%s: %q is not the address of a server", name, s).Try = "url: https://example.com/mcp"
		return "", false
	}
	return s, true
}
