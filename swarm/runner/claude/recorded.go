package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// recorded implements [runner.Kind].Recorded.
func recorded(output io.Reader) (*runner.Recorded, error) {
	r := recorder{}
	dec := streamjson.NewDecoder(output, 0)
	for {
		ev, err := dec.Next()
		if errors.Is(err, io.EOF) {
			return r.end(dec.Stats().CutOff), nil
		} else if err != nil {
			return nil, err
		}
		r.event(ev)
	}
}

// A recorder collects the work of the tools from the events of a stream.
type recorder struct {
	out     runner.Recorded
	calls   []*recordedCall // in order
	lastBad bool
}

// A recordedCall is a tool call in a stream. The sub-agents' calls are in the stream, too.
type recordedCall struct {
	id, tool string
	input    []byte
	shown    bool // the stream shows the calls of the sub-agent that the call started
	ended    bool
	denied   bool
	change   *runner.FileChange // nil if the call did not change a file
}

func (r *recorder) event(ev *streamjson.Event) {
	r.lastBad = ev.Kind == streamjson.KindBad
	switch ev.Kind {
	case streamjson.KindBad:
		r.out.Unread++
	case streamjson.KindAssistant:
		for _, b := range ev.Blocks {
			if b.Kind != streamjson.BlockToolUse {
				continue
			}
			if parent := r.call(ev.Parent); parent != nil {
				parent.shown = true
			}
			r.calls = append(r.calls, &recordedCall{id: strings.Clone(b.ID), tool: strings.Clone(b.Name), input: slices.Clone(b.Input)})
		}
	case streamjson.KindUser:
		r.answered(ev)
	case streamjson.KindResult:
		if ev.Result == nil {
			return
		}
		for _, d := range ev.Result.Denials {
			if c := r.call(d.ID); c != nil {
				c.denied = true
			}
		}
	}
}

// call returns the latest call with an id, or nil.
func (r *recorder) call(id string) *recordedCall {
	for _, c := range slices.Backward(r.calls) {
		if c.id == id && id != "" {
			return c
		}
	}
	return nil
}

func (r *recorder) answered(ev *streamjson.Event) {
	results := 0
	for _, b := range ev.Blocks {
		if b.Kind == streamjson.BlockToolResult {
			results++
		}
	}
	for _, b := range ev.Blocks {
		if b.Kind != streamjson.BlockToolResult {
			continue
		}
		c := r.call(b.ID)
		if c == nil || c.ended {
			continue
		}
		c.ended = true
		if b.Failed || (tools{}).Changes(c.tool, c.input) == "" {
			continue
		}
		var line struct {
			Result json.RawMessage `json:"tool_use_result"`
		}
		if results == 1 { // the detail belongs to the line, not to a result in it
			_ = json.Unmarshal(ev.Raw, &line) // without the detail, the input tells the change
		}
		c.change = changeOf(c, line.Result)
	}
}

// end returns what was collected. cutOff is set if the last line is incomplete.
func (r *recorder) end(cutOff bool) *runner.Recorded {
	if cutOff && r.lastBad {
		r.out.Unread--
	}
	for _, c := range r.calls {
		switch {
		case c.change != nil:
			r.out.Change(*c.change)
		case c.denied || c.shown || (tools{}).Changes(c.tool, c.input) != "":
		default:
			r.out.Other(tools{}, c.tool, c.input)
		}
	}
	return &r.out
}

// A changeDetail is the object that the client adds to the result of Write, Edit, MultiEdit
// and NotebookEdit. The structuredPatch in it is for the screen: it has spaces for tabs.
type changeDetail struct {
	Type         string  `json:"type"` // of Write: create or update
	Content      *string `json:"content"`
	Original     *string `json:"originalFile"`
	Old          string  `json:"oldString"`
	New          string  `json:"newString"`
	All          bool    `json:"replaceAll"`
	Notebook     *string `json:"original_file"`
	NotebookThen *string `json:"updated_file"`
}

// changeOf returns the change that a successful call made. detail may be empty.
func changeOf(c *recordedCall, detail json.RawMessage) *runner.FileChange {
	f := &runner.FileChange{Path: (tools{}).Changes(c.tool, c.input)}
	var d changeDetail
	if len(bytes.TrimSpace(detail)) > 0 {
		_ = json.Unmarshal(detail, &d) // what is missing is told by the input
	}
	var in struct {
		Content *string       `json:"content"`
		Edits   []replacement `json:"edits"`
		replacement
	}
	_ = json.Unmarshal(c.input, &in) // Changes has read it
	switch c.tool {
	case "Write":
		content := d.Content
		if content == nil {
			content = in.Content
		}
		switch {
		case content != nil && d.Type == "create":
			f.Created, f.After = true, *content
		case content != nil && d.Original != nil:
			f.Before, f.After = *d.Original, *content
		case content != nil:
			f.Overwritten, f.After = true, *content
		default:
			f.Untold = runner.NotReported
		}
	case "NotebookEdit":
		if d.Notebook == nil || d.NotebookThen == nil {
			f.Untold = runner.NotReported
			break
		}
		f.Before, f.After = *d.Notebook, *d.NotebookThen
	default:
		var edits []runner.Replacement
		for _, r := range in.Edits {
			edits = append(edits, runner.Replacement(r))
		}
		if c.tool == "Edit" {
			edits = []runner.Replacement{runner.Replacement(in.replacement)}
			if d.Old != "" || d.New != "" {
				edits[0] = runner.Replacement{Old: d.Old, New: d.New, All: d.All} // as the client has matched it
			}
		}
		f.Edit(d.Original, edits)
	}
	return f
}

// A replacement is a [runner.Replacement] in an input.
type replacement struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
	All bool   `json:"replace_all"`
}
