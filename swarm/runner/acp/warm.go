package acp

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// warm is a client that is waiting for its next turn.
type warm struct {
	*follow.Warm
	session *session
}

// Stirs reports whether the client has begun work that was not requested. It reads the
// output since the answer to the prompt and ignores updates that are not work, such as
// settings and names.
func (w *warm) Stirs() bool {
	out, err := w.Unasked()
	if err != nil {
		return true // the output of the next turn could not be read either
	}
	defer out.Close()
	lines := newLineReader(io.LimitReader(out, mostUnasked))
	for {
		line, _, err := lines.next()
		if m, ok := parse(line); ok && works(&m) {
			return true
		}
		if err != nil {
			return !errors.Is(err, io.EOF) || lines.offset == mostUnasked
		}
	}
}

// mostUnasked is the maximum amount of output between two turns that Stirs reads, in
// bytes. If a client has printed more, Stirs returns true.
const mostUnasked = 1 << 20

// works reports whether a message indicates that the model is working.
func works(m *message) bool {
	if m.isRequest() {
		return true
	}
	var p struct {
		Update struct {
			Kind string `json:"sessionUpdate"`
		} `json:"update"`
	}
	if m.Method != "session/update" || json.Unmarshal(m.Params, &p) != nil {
		return false
	}
	return isWork(p.Update.Kind)
}

// isWork reports whether an update of this kind contains output from the model. It
// handles both versions of the protocol.
func isWork(kind string) bool {
	switch kind {
	case "agent_message_chunk", "agent_thought_chunk", "agent_message", "agent_thought", "tool_call", "tool_call_update", "tool_call_content_chunk", "plan":
		return true
	}
	return false
}
