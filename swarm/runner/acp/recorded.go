package acp

import (
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// recorded returns the function for [runner.Kind].Recorded.
func (c *Client) recorded(output io.Reader) (*runner.Recorded, error) {
	r := recorder{client: c}
	lines := newLineReader(output)
	for {
		line, whole, err := lines.next()
		if len(line) > 0 && !r.line(line) && (whole || err == nil) {
			r.unread++ // but not the line that is still being written
		}
		if errors.Is(err, io.EOF) {
			return r.end(), nil
		} else if err != nil {
			return nil, err
		}
	}
}

// A recorder collects the work of the tools from a client's output.
type recorder struct {
	client *Client
	calls  []*recordedCall // in the order of their first updates
	unread int
}

// A recordedCall is a tool call in a recorded output.
type recordedCall struct {
	toolCall
	diffs    []diffBlock // the latest ones
	asked    bool        // the client has asked for permission
	begun    bool        // it has run since then
	replayed bool        // it is a call of an earlier turn
}

// A diffBlock is a block of type diff in the content of a tool call.
type diffBlock struct {
	Type string  `json:"type"`
	Path string  `json:"path"`
	Old  *string `json:"oldText"`
	New  *string `json:"newText"`
	Meta struct {
		Kind string `json:"kind"` // add, update, modify or delete; not from every client
	} `json:"_meta"`
}

// line reads a line, and reports whether it is a message.
func (r *recorder) line(line []byte) bool {
	m, ok := parse(line)
	if !ok {
		return false
	}
	var id string
	switch {
	case m.isAnswer():
		if json.Unmarshal(m.ID, &id) == nil && slices.Contains([]string{idStart, idOpen, idSetMode, idModel}, id) {
			r.calls = nil // what the client has reported before its prompt are earlier turns
		}
	case m.Method == "session/request_permission":
		var p permissionAsked
		lenient(m.Params, &p)
		p.fromVersion2()
		c := r.call(p.Call.ID)
		c.merge(p.Call.toolFields, p.Call.Content, &p.Meta)
		c.addDiffs(p.Call.Content)
		c.asked, c.begun = true, false
	case m.Method == "session/update":
		var p struct {
			Update update `json:"update"`
		}
		lenient(m.Params, &p)
		r.update(&p.Update)
	}
	return true
}

func (r *recorder) update(u *update) {
	switch u.Kind {
	case "tool_call", "tool_call_update", "tool_call_content_chunk":
	default:
		return
	}
	known := slices.ContainsFunc(r.calls, func(c *recordedCall) bool { return c.ID == u.ID })
	c := r.call(u.ID)
	if !known && r.client.LateReplay && u.Kind == "tool_call" && u.Status == "completed" {
		c.replayed = true // a call that the client makes now is first reported as pending
	}
	c.merge(u.toolFields, u.Content, &u.Meta)
	c.addDiffs(u.Content)
	c.begun = c.begun || u.Status == "in_progress"
}

func (r *recorder) call(id string) *recordedCall {
	for _, c := range r.calls {
		if c.ID == id {
			return c
		}
	}
	c := &recordedCall{toolCall: toolCall{toolFields: toolFields{ID: id}}}
	r.calls = append(r.calls, c)
	return c
}

func (c *recordedCall) addDiffs(content json.RawMessage) {
	var blocks []diffBlock
	if !lenientList(content, &blocks) {
		return
	}
	blocks = slices.DeleteFunc(blocks, func(b diffBlock) bool { return b.Type != "diff" || b.Path == "" || b.New == nil })
	if len(blocks) > 0 {
		c.diffs = blocks
	}
}

// ran reports whether a call ran. A call that was not permitted did not.
func (c *recordedCall) ran() bool {
	switch _, done := c.done(); {
	case !done:
		return c.begun
	case c.Status == "completed":
		return true
	}
	return !c.asked
}

func (r *recorder) end() *runner.Recorded {
	out := &runner.Recorded{Unread: r.unread}
	for _, c := range r.calls {
		tool, input := c.name(), c.input()
		failed, done := c.done()
		switch {
		case c.replayed:
		case len(c.diffs) > 0 && done && !failed:
			for _, d := range c.diffs {
				out.Change(r.client.changeOf(d))
			}
		case len(c.diffs) > 0:
		case tool == edit || tool == remove || tool == move:
			if done && !failed {
				c.untold(tool, out)
			}
		case c.ran():
			out.Other(tools{}, tool, input)
		}
	}
	return out
}

// changeOf returns the change that a diff describes. The protocol does not define whether the
// texts are those of the file or of the passage that was replaced.
func (c *Client) changeOf(d diffBlock) runner.FileChange {
	f := runner.FileChange{Path: d.Path, After: *d.New}
	if d.Old == nil || *d.Old == "" {
		f.Created = true
		return f
	}
	f.Before, f.Deleted = *d.Old, d.Meta.Kind == "delete"
	f.Passage = !c.WholeDiffs && !f.Deleted
	return f
}

// These are the names under which the clients' tools get the text for a file.
var (
	wholeKeys = []string{"content", "file_text", "fileText"}
	oldKeys   = []string{"old_text", "oldString", "old_string", "old_str"}
	newKeys   = []string{"new_text", "newString", "new_string", "new_str"}
)

// untold adds the changes of a call about which the client reports no diff.
func (c *recordedCall) untold(tool string, out *runner.Recorded) {
	var in map[string]json.RawMessage
	_ = json.Unmarshal(c.Input, &in) // without an input, only the paths are known
	text := func(keys []string) (string, bool) {
		for _, key := range keys {
			var s string
			if json.Unmarshal(in[key], &s) == nil {
				return s, true
			}
		}
		return "", false
	}
	for i, path := range c.files() {
		f := runner.FileChange{Path: path, Untold: runner.NotReported}
		whole, isWhole := text(wholeKeys)
		before, isPart := text(oldKeys)
		after, hasNew := text(newKeys)
		switch {
		case tool == remove:
			f.Deleted = true
		case tool != edit || i > 0:
		case isWhole:
			f.Untold, f.After, f.Overwritten = "", whole, true
			f.Created = c.created()
			f.Overwritten = !f.Created
		case isPart && hasNew:
			f.Untold = ""
			f.Edit(nil, []runner.Replacement{{Old: before, New: after}})
		case hasNew && !says(in["insert_line"]):
			f.Untold, f.After, f.Created = "", after, true // cline creates a file so, and refuses to overwrite one
		case hasNew:
			f.Untold = ""
			f.Edit(nil, []runner.Replacement{{New: after}})
		}
		out.Change(f)
	}
}

// created reports whether opencode says that a file did not exist before.
func (c *recordedCall) created() bool {
	var out struct {
		Metadata struct {
			Exists *bool `json:"exists"`
		} `json:"metadata"`
	}
	lenient(c.Output, &out)
	return out.Metadata.Exists != nil && !*out.Metadata.Exists
}
