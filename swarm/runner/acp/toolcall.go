package acp

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A toolCall contains what is known about a tool call so far. Clients describe calls in
// pieces: opencode reports the command in a later update, cline sends updates before the
// call, and gemini asks for permission without any update.
type toolCall struct {
	toolFields
	paths     []string // the paths in the call's locations and diffs
	text      string   // the text of the latest content
	terminal  strings.Builder
	failed    bool // the last command exited with a status other than 0
	announced bool // the event for the call was emitted
	ended     bool // the event for the result was emitted
	mcp       bool // the client has reported that the tool belongs to an MCP server
}

// merge adds the fields of an update.
func (c *toolCall) merge(f toolFields, content json.RawMessage, m *meta) {
	for _, field := range []struct{ to, from *string }{
		{&c.Name, &f.Name}, {&c.Title, &f.Title}, {&c.ToolKind, &f.ToolKind}, {&c.Status, &f.Status},
	} {
		if *field.from != "" {
			*field.to = *field.from
		}
	}
	if says(f.Input) || c.Input == nil && isObject(f.Input) {
		c.Input = slices.Clone(f.Input)
	}
	if says(f.Output) {
		c.Output = slices.Clone(f.Output)
	}
	for _, l := range f.Locations {
		c.addPath(l.Path)
	}
	var blocks []block
	if lenientList(content, &blocks) && len(blocks) > 0 {
		var texts []string
		for _, b := range blocks {
			switch {
			case b.Type == "diff":
				c.addPath(b.Path)
			case b.Content != nil && b.Content.Text != "":
				texts = append(texts, b.Content.Text)
			}
		}
		c.text = strings.Join(texts, "\n")
	}
	var piece block // in version 2, a piece is appended to the earlier pieces
	if lenient(content, &piece) && piece.Content != nil {
		c.text += piece.Content.Text
	}
	c.terminal.WriteString(m.TerminalOutput.Data)
	if m.TerminalExit != nil {
		c.failed = m.TerminalExit.Code != 0
	}
	c.mcp = c.mcp || m.MCPApproval || m.MCPCall
}

func (c *toolCall) addPath(path string) {
	if path != "" && !slices.Contains(c.paths, path) {
		c.paths = append(c.paths, path)
	}
}

// says reports whether a value is present and neither null nor an empty object.
func says(value json.RawMessage) bool {
	trimmed := bytes.TrimSpace(value)
	return len(trimmed) > 0 && !bytes.Equal(trimmed, []byte("null")) && !bytes.Equal(trimmed, []byte("{}"))
}

// lenientList is like [lenient], but for a list.
func lenientList(data []byte, into any) bool {
	trimmed := bytes.TrimSpace(data)
	if len(trimmed) == 0 || trimmed[0] != '[' {
		return false
	}
	return lenient(data, into) || json.Valid(data)
}

// described reports whether enough is known about the call to show it.
func (c *toolCall) described() bool {
	if c.ToolKind == execute {
		return c.command() != ""
	}
	return says(c.Input) || len(c.paths) > 0
}

// These are the kinds of tools that we treat specially.
const (
	execute = "execute"
	edit    = "edit"
	remove  = "delete"
	move    = "move"
	other   = "other"
)

// command returns the command line of a call that runs a command. gemini puts the command
// line in the title.
func (c *toolCall) command() string {
	switch line, told := commandIn(c.Input); {
	case c.mcp:
		return ""
	case told:
		return line // regardless of the kind that the client reports
	case c.ToolKind != execute || says(c.Input) || c.Status == "pending" && c.Title == c.Name:
		return ""
	}
	return c.Title
}

// commandIn returns the command line in an input, and whether the input has one. Keys are
// compared exactly, and the values of several keys or of a list are joined, because the
// model may have written the input and the rules must apply to all of it. The line is
// empty if any part of it is not a string.
func commandIn(input json.RawMessage) (line string, told bool) {
	var in map[string]json.RawMessage
	if json.Unmarshal(input, &in) != nil {
		return "", false
	}
	var lines []string
	for _, key := range []string{"command", "commands", "cmd"} {
		value, ok := in[key]
		if !ok || !says(value) {
			continue
		}
		told = true
		var text string
		var list []string
		switch {
		case json.Unmarshal(value, &text) == nil:
			lines = append(lines, text)
		case json.Unmarshal(value, &list) != nil:
			return "", true
		case key == "command":
			lines = append(lines, strings.Join(list, " ")) // the words of one command
		default:
			lines = append(lines, strings.Join(list, "\n"))
		}
	}
	return strings.Join(slices.Compact(lines), "\n"), told
}

// pathKeys are the keys under which clients report the path of a file.
var pathKeys = []string{
	"path", "file_path", "filePath", "absolute_path", "filename", "fileName", "target_file", "notebook_path",
	"source", "destination", "old_path", "new_path",
}

// files returns the paths of the files and folders that the call uses.
func (c *toolCall) files() []string {
	files := slices.Clone(c.paths)
	var in map[string]json.RawMessage
	if json.Unmarshal(c.Input, &in) == nil {
		for _, key := range pathKeys {
			var path string
			if json.Unmarshal(in[key], &path) == nil && path != "" && !slices.Contains(files, path) {
				files = append(files, path)
			}
		}
		var folders []string
		if json.Unmarshal(in["directories"], &folders) == nil {
			for _, f := range folders {
				if !slices.Contains(files, f) {
					files = append(files, f)
				}
			}
		}
	}
	return files
}

// ownTool matches the names that clients give to a tool of our server:
// mcp__dead-drop__send, mcp_dead-drop_send, dead-drop-send, dead-drop__send,
// dead-drop/send, mcp.dead-drop.send, gemini's "send (dead-drop MCP Server)", and cline's
// "dead-drop__send: {…}". The whole text must match, because the model may have written
// other parts of a title.
var ownTool = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^(?:(?:Tool: )?(?:mcp[_.]+)?dead[-_]drop[-_./]+([a-z][a-z_]*)(?:: ?\{.*\})?|([a-z][a-z_]*) \(dead-drop MCP Server\))$`)
})

// codexInput is the input that codex reports for a call to a tool of an MCP server.
type codexInput struct {
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// own returns the name of the called tool if it belongs to our server, and "" for every
// other tool.
func (c *toolCall) own() string {
	if !c.mcp && !c.mayBeOwn() {
		return ""
	}
	for _, name := range []string{c.Name, c.Title} {
		if found := ownTool().FindStringSubmatch(name); found != nil {
			return found[1] + found[2]
		}
	}
	return ""
}

// mayBeOwn reports whether a call can be one of ours although the client does not say that
// the tool belongs to an MCP server. The title of a command or a path may contain any text,
// and a client that gives no kind may put the command line there, without an input.
func (c *toolCall) mayBeOwn() bool {
	_, runs := commandIn(c.Input)
	switch {
	case runs, len(c.paths) > 0:
		return false
	case c.ToolKind == "":
		return c.Name != "" || isObject(c.Input)
	}
	return c.ToolKind == other
}

// isObject reports whether a value is a JSON object.
func isObject(value json.RawMessage) bool {
	var fields map[string]json.RawMessage
	return json.Unmarshal(value, &fields) == nil && fields != nil
}

// name returns the tool name to use in events. It is the kind of a built-in tool, or the
// name of an MCP server's tool. The name of a tool of our own server includes
// [runner.ToolServer].
func (c *toolCall) name() string {
	if tool := c.own(); tool != "" {
		return "mcp__" + runner.ToolServer + "__" + tool
	}
	if c.ToolKind == "" || c.ToolKind == other || c.mcp {
		if c.Name != "" {
			return c.Name
		}
		if title, _, _ := strings.Cut(c.Title, ":"); title != "" {
			return title
		}
		return other
	}
	return c.ToolKind
}

// A toolInput is the form that the input of a built-in tool takes in events. The keys are
// the same for all clients.
type toolInput struct {
	Command string          `json:"command,omitempty"`
	Path    string          `json:"path,omitempty"`
	Title   string          `json:"title,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"` // as the client reports it
}

// input returns the input to use in events. For a tool of an MCP server, this is the
// unchanged input; in the case of codex, it is the arguments field of the reported input.
func (c *toolCall) input() json.RawMessage {
	if name := c.name(); name != c.ToolKind && says(c.Input) {
		var in codexInput
		if c.mcp && lenient(c.Input, &in) && in.Tool != "" {
			if says(in.Arguments) {
				return in.Arguments
			}
			return json.RawMessage("{}")
		}
		return c.Input
	}
	in := toolInput{Command: c.command(), Title: c.Title}
	if in.Title == in.Command {
		in.Title = ""
	}
	if files := c.files(); len(files) > 0 && c.ToolKind != execute {
		in.Path = files[0]
	}
	if says(c.Input) && json.Valid(c.Input) {
		in.Input = c.Input
	}
	data, err := json.Marshal(in)
	if err != nil {
		return json.RawMessage("{}") // cannot happen, because in.Input is valid JSON
	}
	return data
}

// result returns the text of the call's result, and how many bytes of it were cut off.
func (c *toolCall) result() (text string, lost int64) {
	text = c.text
	if text == "" {
		text = c.terminal.String()
	}
	if text == "" {
		var out struct {
			Output string `json:"output"`
			Error  string `json:"error"`
		}
		if lenient(c.Output, &out) {
			text = out.Output + out.Error
		}
	}
	if len(text) > streamjson.MaxResult {
		lost = int64(len(text) - streamjson.MaxResult)
		text = strings.ToValidUTF8(text[:streamjson.MaxResult], "")
	}
	return text, lost
}

// done reports whether the call has ended and whether it failed.
func (c *toolCall) done() (failed, done bool) {
	switch c.Status {
	case "completed":
		return c.failed || c.unsuccessful(), true
	case "failed":
		return true, true
	}
	return false, false
}

// unsuccessful reports whether cline says, in the result of a call that it calls completed, that
// the call failed.
func (c *toolCall) unsuccessful() bool {
	var out struct {
		Success *bool `json:"success"`
	}
	return isObject(c.Output) && lenient(c.Output, &out) && out.Success != nil && !*out.Success
}
