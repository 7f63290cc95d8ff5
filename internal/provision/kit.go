package provision

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A kit is what one attached session is set up with.
type kit struct {
	agent   string
	way     Way
	program string // claude-swarm
	config  string // claude-swarm.yaml
	cwd     string // of the session
}

// A part of a kit is a file, or lines in one that is there.
type part struct {
	path string
	text string // of the whole file
	mode fs.FileMode
	// place puts the part into a file of others; nil where it needs its own.
	place func(text []byte) ([]insert, error)
	cores []string // what of the text stands for it in a file of others
}

func (s *setup) pluginDir(agent string) string { return filepath.Join(s.home(), "attach", agent) }

func (k kit) parts(s *setup) []part {
	server := k.server()
	if k.way == ByPlugin {
		dir := s.pluginDir(k.agent)
		file := func(name, text string) part {
			return part{path: filepath.Join(dir, filepath.FromSlash(name)), text: text, mode: 0o600}
		}
		return []part{
			file(".claude-plugin/plugin.json", text(map[string]any{
				"name": pluginName, "version": "1.1.0", "description": "This session is the agent " + k.agent + " of a claude-swarm project.",
				"author": map[string]string{"name": "claude-swarm"},
			})),
			file("hooks/hooks.json", text(map[string]any{"hooks": k.hooks()})),
			file("commands/inbox.md", k.inbox()),
			file(".mcp.json", text(map[string]any{"mcpServers": map[string]any{serverName: server}})),
		}
	}
	parts := []part{
		{
			path: filepath.Join(k.cwd, ".mcp.json"), text: text(map[string]any{"mcpServers": map[string]any{serverName: server}}), mode: 0o644,
			place: func(data []byte) ([]insert, error) {
				return placeJSON(data, []jsonStep{{key: "mcpServers"}}, serverName, server)
			},
			cores: []string{compact(server)},
		},
		{path: filepath.Join(k.cwd, ".claude", "commands", "inbox.md"), text: k.inbox(), mode: 0o644},
	}
	if k.way == BySettings {
		hooks := k.hooks()
		var cores []string
		for _, event := range hookEvents {
			cores = append(cores, compact(hooks[event][0]))
		}
		parts = append(parts, part{
			path: filepath.Join(k.cwd, ".claude", "settings.json"), text: text(map[string]any{"hooks": hooks}), mode: 0o644,
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

// pluginName is what the plugin's command and tools are called by: /swarm:inbox and
// mcp__plugin_swarm_dead-drop__send. Names that begin with claude- are reserved since
// Claude Code 2.1.330 at the latest: claude plugin validate refuses them.
const pluginName = "swarm"

func (k kit) server() map[string]any {
	return map[string]any{
		"command": k.program, "args": []string{"--config", k.config, "mcp"},
		"env": map[string]string{runner.AgentVar: k.agent, runner.DirVar: filepath.Dir(k.config)},
		// Without it Claude Code 2.1.330 offers the tools by name only, and the model has to
		// search for each of them first. 2.1.197 ignores the key.
		"alwaysLoad": true,
	}
}

// hookEvents are the events that claude-swarm hook hears of. At a slash command the
// client expands before it runs the ! lines; see [swarm.Attached.Prompted].
var hookEvents = []string{"SessionStart", "UserPromptSubmit", "UserPromptExpansion", "Stop", "SessionEnd"}

// hooks are the entries of the client's settings, by event. Their command lines
// end in our mark, by which a person sees whose they are: JSON has no comments.
func (k kit) hooks() map[string][]any {
	all := make(map[string][]any)
	for event, verb := range map[string]string{
		"SessionStart": "start", "UserPromptSubmit": "prompt", "UserPromptExpansion": "prompt", "Stop": "stop", "SessionEnd": "end",
	} {
		line := k.line("hook "+verb) + " " + fenceBegin
		all[event] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": line, "timeout": 60}}}}
	}
	return all
}

// line is a command line of ours for this agent.
func (k kit) line(verb string) string {
	return shellQuote(k.program) + " --config " + shellQuote(k.config) + " " + verb + " --as " + k.agent
}

func shellQuote(s string) string {
	if plainWord().MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// typed makes one word of a command line that a person types: where the word has characters
// that steer a terminal, these stand there as numbers.
func typed(s string) string {
	if shown(s) == s {
		return shellQuote(s)
	}
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			b.WriteString("\\" + string(c))
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + "'"
}

// inbox is the command /inbox. The client runs the line behind the ! and puts what
// it prints in its place: the message in its fence, never as a command.
func (k kit) inbox() string {
	fetch := k.line("hook inbox")
	end := `If there is a message, do what it asks as far as your own instructions allow, and end with one summary: it goes to
the sender.
`
	if k.way == ByTools {
		fetch += " --file-last"
		end = `If there is a message, do what it asks as far as your own instructions allow, and then answer its sender with the
tool reply or claude-swarm reply.
`
	}
	return `---
description: Fetch the next message of ` + k.agent + `
allowed-tools: Bash(` + shellQuote(k.program) + `:*)
---
The next message of your mailbox, or that there is none:

!` + "`" + fetch + "`\n\n" + end
}

func text(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		panic(err) // maps of strings
	}
	return b.String()
}

func compact(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

// A jsonStep leads from a JSON object to one of its members.
type jsonStep struct {
	key  string
	list bool // it is a list, else an object
}

// placeJSON says where a value goes in a JSON text: into the object, or list, that
// the steps lead to, with those made that are missing. All else stays as it is, to
// the byte. name is the value's key; in a list it has none.
func placeJSON(data []byte, steps []jsonStep, name string, value any) ([]insert, error) {
	if !json.Valid(data) {
		return nil, errors.New("it is not JSON, so nothing can be added to it")
	}
	at, empty, err := inside(data, nil)
	if err != nil {
		return nil, err
	}
	var path []string
	for len(steps) > 0 {
		deeper, none, err := inside(data, append(path, steps[0].key))
		if errors.Is(err, errNoMember) {
			break
		} else if err != nil {
			return nil, err
		}
		if list := data[deeper-1] == '['; list != steps[0].list {
			return nil, fmt.Errorf("%s is not what the client wants there", steps[0].key)
		}
		path, at, empty, steps = append(path, steps[0].key), deeper, none, steps[1:]
	}
	var b strings.Builder
	closing := ""
	for _, st := range steps {
		b.WriteString(compact(st.key) + ": ")
		if st.list {
			b.WriteString("[")
			closing = "]" + closing
		} else {
			b.WriteString("{")
			closing = "}" + closing
		}
	}
	if name != "" {
		if len(steps) == 0 && hasMember(data, append(path, name)) {
			return nil, fmt.Errorf("%s is there already, and not ours", name)
		}
		b.WriteString(compact(name) + ": ")
	}
	b.WriteString(compact(value) + closing)
	if !empty {
		b.WriteString(",")
	}
	return []insert{{at, b.String()}}, nil
}

var (
	errNoMember = errors.New("no such member")
	errNoPlace  = errors.New("neither an object nor a list")
)

func hasMember(data []byte, path []string) bool {
	_, _, err := inside(data, path)
	return !errors.Is(err, errNoMember)
}

// inside finds the offset just behind the bracket that opens the value at a path
// of keys, and whether nothing is in it.
func inside(data []byte, path []string) (at int, empty bool, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	depth := 0
	for {
		t, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return 0, false, errNoMember
		} else if err != nil {
			return 0, false, err
		}
		d, isDelim := t.(json.Delim)
		if depth == len(path) {
			if !isDelim || d != '{' && d != '[' {
				return 0, false, errNoPlace
			}
			return int(dec.InputOffset()), !dec.More(), nil
		}
		if d != '{' {
			return 0, false, errNoPlace
		}
		for {
			key, err := dec.Token()
			if err != nil {
				return 0, false, err
			}
			if key == json.Delim('}') {
				return 0, false, errNoMember
			}
			if key == path[depth] {
				break
			}
			var skip json.RawMessage
			if err := dec.Decode(&skip); err != nil {
				return 0, false, err
			}
		}
		depth++
	}
}
