package turn

import (
	"strings"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// steps counts the responses of the agent's model in the main conversation of a turn. A
// client may print one response in several events.
type steps struct {
	n        int
	reply    string // id of the last response; "" if the client gives none
	answered bool   // a tool call has been answered since the last response
}

// event counts ev, and reports whether it begins a response.
func (s *steps) event(ev *streamjson.Event) bool {
	if ev.Kind == streamjson.KindUser && ev.Parent == "" {
		s.answered = true
	}
	if ev.Kind != streamjson.KindAssistant || ev.Parent != "" || ev.Synthetic || ev.Error != "" || ev.Model == streamjson.ModelSynthetic || len(ev.Blocks) == 0 {
		return false
	}
	same := s.n > 0 && ev.MessageID == s.reply && (ev.MessageID != "" || !s.answered)
	s.answered = false
	if same {
		return false
	}
	s.n++
	s.reply = strings.Clone(ev.MessageID)
	return true
}
