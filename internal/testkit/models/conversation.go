package models

import (
	"slices"
	"strings"
)

// A conversation is the content of a request, independent of the wire format.
type conversation struct {
	model    string
	messages []message
	tools    []offer
}

// A message is the contribution of one side to a conversation. Tool results are messages
// without text.
type message struct {
	from    role
	text    string
	calls   int // number of tool calls by the model in the message
	results int // number of tool results in the message
}

type role int

const (
	user role = iota
	assistant
	result
)

// An offer is a tool that the client offers.
type offer struct {
	name      string
	namespace string // namespace that codex gives to an MCP server's tool
	free      bool   // accepts plain text instead of JSON
}

// add adds a message. Consecutive messages from the model are merged. The user's messages
// stay separate, because each can be a script.
func (c *conversation) add(m message) {
	if n := len(c.messages); n > 0 && m.from == assistant && c.messages[n-1].from == assistant {
		last := &c.messages[n-1]
		last.text += m.text
		last.calls += m.calls
		return
	}
	c.messages = append(c.messages, m)
}

// next returns the text of the newest script, and its remaining steps.
func (c *conversation) next() (prompt string, left []step) {
	for i := len(c.messages) - 1; i >= 0; i-- {
		if c.messages[i].from != user {
			continue
		}
		steps := script(c.messages[i].text)
		if len(steps) == 0 {
			continue
		}
		done := 0
		for _, m := range c.messages[i+1:] {
			if m.from == assistant && m.calls == 0 {
				return "", nil // this answer ended the script, and no later message contains another
			}
			done += m.results
		}
		return c.messages[i].text, after(steps, done)
	}
	return "", nil
}

// after returns the steps after the first n calls, preceded by the last @context step that
// comes before them.
func after(steps []step, n int) []step {
	var kept []step
	for i, s := range steps {
		if n == 0 {
			return append(kept, steps[i:]...)
		}
		if s.call != nil {
			n--
		}
		if s.context > 0 {
			kept = []step{s}
		}
	}
	return kept
}

// A toolCall is a tool call with the client's name for the tool.
type toolCall struct {
	offer
	input any // an object, or a string for a tool that accepts plain text
}

// resolve finds the client's tool for a call.
func (c *conversation) resolve(want call) (toolCall, bool) {
	for _, known := range clientTools[want.do] {
		i := slices.IndexFunc(c.tools, func(o offer) bool { return o.name == known.name && o.namespace == "" })
		if i >= 0 {
			return toolCall{c.tools[i], known.input(want)}, true
		}
	}
	if want.do != "tool" {
		return toolCall{}, false
	}
	for _, o := range c.tools {
		if o.name == want.name || strings.HasSuffix(o.name, "_"+want.name) || strings.HasSuffix(o.name, "-"+want.name) {
			return toolCall{o, rawInput(want.text)}, true
		}
	}
	return toolCall{}, false
}
