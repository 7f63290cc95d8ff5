package acp

import (
	"strings"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// idSteer is the prefix of the ids of the requests with which we bring a message to the
// running turn.
const idSteer = "steer-"

// steered contains the messages that were brought to the running turn, by their UUIDs. A
// client that takes such messages says so in _meta.steering of its answer to initialize.
// Its answer to each message says whether the model reads it.
type steered struct {
	sent  map[string]string // messages that the client has not taken
	taken []string
}

// steerRequest contains the parameters of _session/steering, which the library lacks.
type steerRequest struct {
	Session string                  `json:"sessionId"`
	Prompt  []protocol.ContentBlock `json:"prompt"`
}

// request returns the request that gives the client a message.
func (s *steered) request(session string, m runner.Steer) []byte {
	if s.sent == nil {
		s.sent = map[string]string{}
	}
	s.sent[m.UUID] = m.Prompt
	return request(idSteer+m.UUID, "_session/steering", steerRequest{session, []protocol.ContentBlock{protocol.TextBlock(m.Prompt)}})
}

// answered handles the client's answer to a message. It returns the event of a message that
// the model reads; taken is false for any other message.
func (s *steered) answered(id string, m *message) (ev streamjson.Event, taken bool) {
	uuid := strings.TrimPrefix(id, idSteer)
	var result struct {
		Outcome string `json:"outcome"`
	}
	lenient(m.Result, &result)
	if result.Outcome != "injected" {
		return ev, false // it stays in sent: the client did not read it
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

// missing reports whether there is a message that the client has not taken.
func (s *steered) missing() bool { return len(s.sent) > 0 }
