package acp

import (
	"strings"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// idSteer is the prefix of the ids of the requests that send a message to the running
// turn.
const idSteer = "steer-"

// steered contains the messages that were sent to the running turn, by UUID. A client
// that accepts such messages reports this in the _meta.steering field of its answer to
// initialize. Its answer to each message reports whether the model reads the message.
type steered struct {
	sent  map[string]string // messages that the client has not accepted
	taken []string
}

// steerRequest contains the parameters of _session/steering, which the library does not
// define.
type steerRequest struct {
	Session string                  `json:"sessionId"`
	Prompt  []protocol.ContentBlock `json:"prompt"`
}

// request returns the request that sends m to the client.
func (s *steered) request(session string, m runner.Steer) []byte {
	if s.sent == nil {
		s.sent = map[string]string{}
	}
	s.sent[m.UUID] = m.Prompt
	return request(idSteer+m.UUID, "_session/steering", steerRequest{session, []protocol.ContentBlock{protocol.TextBlock(m.Prompt)}})
}

// answered handles the client's answer to a message. If the model reads the message,
// answered returns an event for the message; otherwise taken is false.
func (s *steered) answered(id string, m *message) (ev streamjson.Event, taken bool) {
	uuid := strings.TrimPrefix(id, idSteer)
	var result struct {
		Outcome string `json:"outcome"`
	}
	lenient(m.Result, &result)
	if result.Outcome != "injected" {
		return ev, false // the message remains in sent because the model did not read it
	}
	text := s.sent[uuid]
	delete(s.sent, uuid)
	s.taken = append(s.taken, uuid)
	ev = streamjson.Event{Kind: streamjson.KindReplay, UUID: uuid}
	if text != "" {
		ev.Blocks = []streamjson.Block{{Kind: streamjson.BlockText, Text: text}}
	}
	return ev, true
}

// missing reports whether there are messages that the client has not accepted.
func (s *steered) missing() bool { return len(s.sent) > 0 }
