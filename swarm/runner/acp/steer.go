package acp

import (
	"strings"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// steered has the messages that were brought to the running turn, by their UUIDs. A client
// that takes such messages says so in _meta.steering of its answer to initialize. Its
// answer to each message tells whether the model reads it.
type steered struct {
	sent  map[string]string // texts without an answer
	taken []string
}

// steerRequest has the parameters of _session/steering, which the library lacks.
type steerRequest struct {
	Session string                  `json:"sessionId"`
	Prompt  []protocol.ContentBlock `json:"prompt"`
}

// steer gives the client the messages that have arrived. A client without steering gets
// them in the next turn.
func (e *exchange) steer() {
	if !e.session.hello.Meta.Steering.Supported || e.run.Ending() || !e.reply.heard {
		return
	}
	for s := range e.run.Messages() {
		if e.steered.sent == nil {
			e.steered.sent = map[string]string{}
		}
		e.steered.sent[s.UUID] = s.Prompt
		e.run.Send(request(idSteer+s.UUID, "_session/steering", steerRequest{e.session.id, []protocol.ContentBlock{protocol.TextBlock(s.Prompt)}}))
	}
}

// steerAnswered handles the client's answer to a message.
func (e *exchange) steerAnswered(id string, m *message, raw []byte) {
	uuid := strings.TrimPrefix(id, idSteer)
	var result struct {
		Outcome string `json:"outcome"`
	}
	lenient(m.Result, &result)
	if result.Outcome != "injected" {
		return // it stays in sent: the client did not read it
	}
	text := e.steered.sent[uuid]
	delete(e.steered.sent, uuid)
	e.steered.taken = append(e.steered.taken, uuid)
	ev := streamjson.Event{Kind: streamjson.KindReplay, UUID: uuid}
	if text != "" {
		ev.Blocks = []streamjson.Block{{Kind: streamjson.BlockText, Text: text}}
	}
	e.stream.event(ev, raw)
}

// missing reports whether a message has no answer.
func (s *steered) missing() bool { return len(s.sent) > 0 }
