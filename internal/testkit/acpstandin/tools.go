package acpstandin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// A call is one tool call.
type call struct {
	id, kind, name, title string
	command               string // set only for kind execute
	input                 map[string]any
	locations, content    []any
	mcp                   bool
	bare                  string         // the title in a question, if it differs
	meta                  map[string]any // _meta of tool_call
}

// An output is the result of a tool.
type output struct {
	text   string
	failed bool
}

func (t *turn) newCall(kind, name, title string) *call {
	t.s.Calls++
	return &call{id: fmt.Sprintf("call_%d", t.s.Calls), kind: kind, name: name, title: title, locations: []any{}}
}

// shell runs a command. If double is true, the agent asks for permission twice.
func (t *turn) shell(command string, double bool) error {
	c := t.newCall("execute", "bash", command)
	c.command = command
	switch t.a.is.Input {
	case "command":
		c.input = map[string]any{"command": command, "cwd": t.s.cwd}
	case "commands":
		c.input, c.title = map[string]any{"commands": []string{command}}, "run_commands: "+command
	case "both":
		c.input, c.title = map[string]any{"command": command, "commands": []string{command}, "description": "scripted"}, "scripted"
	case "none":
		c.content = []any{map[string]any{"type": "content", "content": textBlock("[current working directory " + t.s.cwd + "] (scripted)")}}
	}
	if double {
		outside := *c
		outside.kind, outside.title, outside.input = "other", "a folder outside of the project", map[string]any{"directories": []string{"/"}}
		if allowed, err := t.ask(&outside); err != nil || !allowed {
			return errors.Join(err, t.refused(c))
		}
	}
	return t.use(c, func() (output, error) { return t.execute(command) })
}

// execute runs a command in a separate process session, as the clients do.
func (t *turn) execute(command string) (output, error) {
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Dir, cmd.Env = t.s.cwd, t.a.environ
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var out bytes.Buffer
	file, err := os.CreateTemp("", "acpstandin") // not a pipe, because processes that the command leaves behind would keep it open
	if err != nil {
		return output{}, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	cmd.Stdout, cmd.Stderr = file, file
	if err := cmd.Start(); err != nil {
		return output{}, err
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	select {
	case err = <-exited:
	case <-t.ctx.Done():
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-exited
		return output{text: "The command was cancelled", failed: true}, errCancelled
	}
	file.Seek(0, 0)
	out.ReadFrom(file)
	return output{text: out.String(), failed: err != nil}, nil
}

// write writes a file. Its argument is PATH TEXT.
func (t *turn) write(arg string) error {
	path, text, _ := strings.Cut(arg, " ")
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.s.cwd, path)
	}
	c := t.newCall("edit", "write", "write "+path)
	diff := map[string]any{"type": "diff", "path": path, "newText": text, "oldText": nil}
	if old, err := os.ReadFile(path); err == nil {
		diff["oldText"] = string(old)
	}
	c.content, c.locations = []any{diff}, []any{map[string]any{"path": path}}
	if t.a.is.Input != "none" {
		c.input = map[string]any{"path": path, "content": text}
	}
	return t.use(c, func() (output, error) {
		if t.a.is.AsksFiles {
			if err := t.offer(path, text); err != nil {
				return output{}, err
			}
		}
		return output{text: "written"}, os.WriteFile(path, []byte(text), 0o644)
	})
}

// offer asks the client to write a file, although the client has not declared that it
// supports this. The client must refuse.
func (t *turn) offer(path, text string) error {
	select {
	case m := <-t.a.conn.ask("fs/write_text_file", map[string]any{"sessionId": t.s.ID, "path": path, "content": text}):
		if m.Error == nil {
			return fmt.Errorf("the client answered fs/write_text_file by %s", m.Result)
		}
		return nil
	case <-t.ctx.Done():
		return errCancelled
	}
}

// deny makes a tool call that fails without a permission question. Its argument is TOOL
// WHAT.
func (t *turn) deny(arg string) error {
	name, what, _ := strings.Cut(arg, " ")
	c := t.newCall("other", name, name+" "+what)
	c.input = map[string]any{"what": what}
	t.announce(c)
	t.done(c, output{text: "denied by the client's own rules", failed: true})
	return nil
}

// tool calls a tool of an MCP server. Its argument is NAME JSON.
func (t *turn) tool(arg string) error {
	name, input, _ := strings.Cut(arg, " ")
	for _, s := range t.s.servers {
		if !slices.Contains(s.tools, name) {
			continue
		}
		c := t.newCall("other", name, fmt.Sprintf(t.a.is.ToolName, s.name, name))
		c.mcp, c.input = true, map[string]any{}
		if input != "" {
			if err := decode(input, &c.input); err != nil {
				return err
			}
		}
		c.name = c.title
		return t.use(t.mcpShape(c, s, name), func() (output, error) { return s.call(t.ctx, name, c.input) })
	}
	c := t.newCall("other", name, name)
	t.announce(c)
	t.done(c, output{text: "no tool is called " + name, failed: true})
	return nil
}

// mcpShape returns a call in the format that the real client uses to report it.
func (t *turn) mcpShape(c *call, s *server, tool string) *call {
	told := *c
	if t.a.is.BareTool {
		told.bare = tool
	}
	switch {
	case t.a.is.AsksTools == "mute":
		told.kind, told.meta = "execute", map[string]any{"is_mcp_tool_call": true}
		told.input = map[string]any{"server": s.name, "tool": tool, "arguments": c.input}
	case t.a.is.Input == "none":
		text, _ := json.Marshal(c.input)
		told.title, told.input = tool+" ("+s.name+" MCP Server)", nil
		told.id = c.name + "__" + c.id
		told.content = []any{map[string]any{"type": "content", "content": textBlock(string(text))}}
	case t.a.is.Input == "commands":
		text, _ := json.Marshal(c.input)
		told.title = c.name + ": " + string(text)
	}
	return &told
}

// use runs a call. It asks for permission first if the real client does.
func (t *turn) use(c *call, run func() (output, error)) error {
	if t.a.is.Calls != "update" && t.a.is.Calls != "question" {
		t.announce(c)
	}
	if t.a.is.Calls == "update" {
		t.send(t.about(c, "tool_call_update", "pending"))
	}
	switch t.rule(c) {
	case "deny":
		t.done(c, output{text: "the mode " + t.s.Mode + " does not permit it", failed: true})
		return nil
	case "ask":
		allowed, err := t.ask(c)
		if err != nil {
			return err
		}
		if !allowed {
			return t.refused(c)
		}
	}
	t.progress(c)
	if t.a.is.Calls == "update" {
		t.announce(c)
	}
	out, err := run()
	if err != nil && !errors.Is(err, errCancelled) {
		out, err = output{text: err.Error(), failed: true}, nil
	}
	t.done(c, out)
	return err
}

// rule returns what the client does with a call: ask, run or deny.
func (t *turn) rule(c *call) string {
	switch mode := t.s.Mode; {
	case mode == "yolo" || mode == "agent-full-access":
		return "run"
	case c.mcp && (t.a.is.AsksTools == "never" || t.a.allows(c.name)):
		return "run"
	case c.mcp:
		return "ask"
	case t.a.is.Asks == "dangerous" && strings.HasPrefix(c.command, "rm -rf"):
		if mode == "agent" { // in this mode a second model decides, and tests have no second model
			return "deny"
		}
		return "ask"
	case t.a.is.Asks == "dangerous" && mode == "read-only":
		return "deny"
	case t.a.is.Asks != "always":
		return "run"
	case mode == "plan":
		return "deny"
	}
	return "ask"
}

// ask sends session/request_permission. It returns false if the client refuses
// permission.
func (t *turn) ask(c *call) (bool, error) {
	told := t.about(c, "", "pending")
	if c.bare != "" {
		told["title"] = c.bare
	}
	p := map[string]any{"sessionId": t.s.ID, "toolCall": told, "options": t.a.is.Options}
	if c.mcp && t.a.is.AsksTools == "mute" {
		p["toolCall"] = map[string]any{"toolCallId": c.id, "kind": "execute", "status": "pending"}
		p["_meta"] = map[string]any{"is_mcp_tool_approval": true}
	}
	answer := t.a.conn.ask("session/request_permission", p)
	var m message
	if t.a.is.CancelWaits {
		m = <-answer
	} else {
		select {
		case m = <-answer:
		case <-t.ctx.Done():
			return false, errCancelled
		}
	}
	if m.Error != nil {
		return false, m.Error
	}
	var result struct {
		Outcome struct {
			Outcome  string `json:"outcome"`
			OptionID string `json:"optionId"`
		} `json:"outcome"`
	}
	if err := json.Unmarshal(m.Result, &result); err != nil {
		return false, invalid("%v", err)
	}
	if result.Outcome.Outcome == "cancelled" {
		return false, errCancelled
	}
	i := slices.IndexFunc(t.a.is.Options, func(o Option) bool { return o.ID == result.Outcome.OptionID })
	if i < 0 {
		return false, invalid("no option is called %q", result.Outcome.OptionID)
	}
	return strings.HasPrefix(t.a.is.Options[i].Kind, "allow"), nil
}

// refused does what the real client does after a refused call.
func (t *turn) refused(c *call) error {
	if t.a.is.Calls != "question" {
		t.send(map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": c.id, "status": "failed",
			"rawOutput": map[string]any{"message": "The user rejected this tool call.", "code": "rejected"}})
	}
	t.called()
	switch t.a.is.Refused {
	case "cancelled":
		if !c.mcp {
			return &ended{stop: "cancelled"}
		}
	case "ends":
		return &ended{stop: "end_turn"}
	case "says":
		t.say("Info: Operation cancelled by user")
		return &ended{stop: "end_turn"}
	}
	return nil
}

// announce sends tool_call.
func (t *turn) announce(c *call) {
	update := t.about(c, "tool_call", "pending")
	if t.a.is.Calls == "partial" && c.command != "" {
		update["title"], update["rawInput"] = c.name, map[string]any{"cwd": t.s.cwd}
	}
	t.send(update)
}

// progress reports that a call is running.
func (t *turn) progress(c *call) {
	switch t.a.is.Calls {
	case "partial":
		t.send(t.about(c, "tool_call_update", "in_progress"))
	case "update", "call":
		t.send(map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": c.id, "status": "in_progress"})
	}
}

// done reports the result of a call.
func (t *turn) done(c *call, out output) {
	status := "completed"
	if out.failed {
		status = "failed"
	}
	update := map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": c.id, "status": status}
	if t.a.is.Calls == "question" {
		update = t.about(c, "tool_call_update", status)
	}
	if out.text != "" && (t.a.is.Calls != "question" || c.mcp) {
		update["rawOutput"] = map[string]any{"output": out.text}
		if c.kind != "edit" {
			update["content"] = []any{map[string]any{"type": "content", "content": textBlock(out.text)}}
		}
	}
	t.send(update)
	t.called()
}

// about describes a call in an update, or in a question if kind is "".
func (t *turn) about(c *call, kind, status string) map[string]any {
	about := map[string]any{"toolCallId": c.id, "title": c.title, "kind": c.kind, "status": status, "locations": c.locations}
	if kind != "" {
		about["sessionUpdate"] = kind
	}
	if c.input != nil {
		about["rawInput"] = c.input
	}
	if c.content != nil {
		about["content"] = c.content
	}
	if kind == "tool_call" && c.meta != nil {
		about["_meta"] = c.meta
	} else if kind == "tool_call" && t.a.is.AsksTools == "mute" {
		about["name"] = c.name
	}
	return about
}
