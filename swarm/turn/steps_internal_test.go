package turn

import (
	"testing"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// A response that is printed in pieces is one step. Words of sub-agents and of the client
// itself are none of the agent's steps.
func TestSteps(t *testing.T) {
	text := []streamjson.Block{{Kind: streamjson.BlockText, Text: "x"}}
	says := func(id string) streamjson.Event {
		return streamjson.Event{Kind: streamjson.KindAssistant, MessageID: id, Blocks: text}
	}
	answer := streamjson.Event{Kind: streamjson.KindUser}
	sub := streamjson.Event{Kind: streamjson.KindAssistant, MessageID: "s", Parent: "call", Blocks: text}
	failed := streamjson.Event{Kind: streamjson.KindAssistant, MessageID: "e", Error: "rate_limit", Blocks: text}
	for name, c := range map[string]struct {
		events []streamjson.Event
		want   int
	}{
		"nothing":               {nil, 0},
		"two":                   {[]streamjson.Event{says("a"), answer, says("b")}, 2},
		"in pieces":             {[]streamjson.Event{says("a"), says("a"), answer, says("a")}, 1},
		"no ids":                {[]streamjson.Event{says(""), says(""), answer, says(""), answer, says("")}, 3},
		"a sub-agent":           {[]streamjson.Event{says("a"), sub, sub, answer}, 1},
		"an error of the API":   {[]streamjson.Event{failed, says("a")}, 1},
		"an event without text": {[]streamjson.Event{{Kind: streamjson.KindAssistant, MessageID: "a"}}, 0},
	} {
		var s steps
		for i := range c.events {
			s.event(&c.events[i])
		}
		if s.n != c.want {
			t.Errorf("%s: %d steps, want %d", name, s.n, c.want)
		}
	}
}
