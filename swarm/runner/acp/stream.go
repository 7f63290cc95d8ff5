package acp

import (
	"strings"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// A stream converts the updates for one prompt into events. The client sends its text and
// tool calls in pieces, but each event contains a complete text block or call.
type stream struct {
	client  *Client
	session string
	partial bool // also emit unfinished text
	emit    func(*streamjson.Event)

	message string          // the id of the message that is being written, if the client has ids
	text    strings.Builder // the message that is being written
	thought strings.Builder
	piece   string // the last piece of the message
	last    string // the last finished message
	calls   map[string]*toolCall
	order   []*toolCall // in the order of the first updates

	used, size int                 // the number of tokens in the context, and the context's size; 0 means unknown
	spent      func(total float64) // called with each new cost; may be nil
	cost       *float64            // the session's total cost, in US dollars; nil means that it was not reported
	trouble    trouble
}

// trouble contains information about a failing turn that codex reports in its updates but
// not in its answer.
type trouble struct {
	failed  bool   // the client has reported that the turn failed
	words   string // the client's error message
	info    string // the client's name for the cause
	retries int    // number of model retries that the client has reported since the model's last output
}

// observe handles an update. raw is the line that contains it.
func (s *stream) observe(u *update, raw []byte) {
	if isWork(u.Kind) {
		s.trouble.retries = 0 // the model has answered
	}
	switch u.Kind {
	case "agent_message_chunk":
		s.chunk(u, raw)
	case "agent_thought_chunk":
		var b block
		if lenient(u.Content, &b) && b.Text != "" {
			s.endText(raw)
			s.thought.WriteString(b.Text)
		}
	case "agent_message", "agent_thought":
		s.message2(u, raw)
	case "tool_call", "tool_call_update", "tool_call_content_chunk":
		if u.ID == "" {
			s.skip(u.Kind, raw)
			return
		}
		s.endTexts(raw)
		c := s.call(u.ID)
		c.merge(u.toolFields, u.Content, &u.Meta)
		s.tell(c, raw)
	case "usage_update":
		s.usage(u, raw)
	case "session_info_update":
		s.codexSays(u, raw)
	default:
		s.skip(u.Kind, raw)
	}
}

// skip passes on an update that we do not interpret.
func (s *stream) skip(what string, raw []byte) {
	s.event(streamjson.Event{Kind: streamjson.KindOther, What: what}, raw)
}

func (s *stream) event(ev streamjson.Event, raw []byte) {
	ev.Session, ev.Raw = s.session, raw
	s.emit(&ev)
}

// chunk handles a piece of the answer.
func (s *stream) chunk(u *update, raw []byte) {
	var b block
	if !lenient(u.Content, &b) || b.Text == "" || s.client.isNote(b.Text) {
		s.skip(u.Kind, raw)
		return
	}
	s.endThought(raw)
	if u.Message != s.message {
		s.endText(raw)
		s.message = u.Message
	}
	s.text.WriteString(b.Text)
	s.piece = b.Text
	if s.partial {
		s.event(streamjson.Event{Kind: streamjson.KindPartial, Blocks: []streamjson.Block{{Kind: streamjson.BlockText, Text: b.Text}}}, raw)
	}
}

func (s *stream) endTexts(raw []byte) {
	s.endThought(raw)
	s.endText(raw)
}

func (s *stream) endThought(raw []byte) {
	if text := s.thought.String(); text != "" {
		s.thought.Reset()
		s.event(streamjson.Event{Kind: streamjson.KindAssistant, Blocks: []streamjson.Block{{Kind: streamjson.BlockThinking, Text: text}}}, raw)
	}
}

func (s *stream) endText(raw []byte) {
	text := s.text.String()
	s.text.Reset()
	if strings.TrimSpace(text) == "" {
		return
	}
	s.last = text
	s.event(streamjson.Event{Kind: streamjson.KindAssistant, Blocks: []streamjson.Block{{Kind: streamjson.BlockText, Text: text}}}, raw)
}

// message2 handles a complete message or thought in the second version of the protocol.
// The update replaces the pieces received before.
func (s *stream) message2(u *update, raw []byte) {
	var blocks []block
	if !lenientList(u.Content, &blocks) {
		s.skip(u.Kind, raw)
		return
	}
	var text strings.Builder
	for _, b := range blocks {
		text.WriteString(b.Text)
	}
	if u.Kind == "agent_thought" {
		s.endText(raw)
		s.thought.Reset()
		s.thought.WriteString(text.String())
		return
	}
	s.endThought(raw)
	if u.Message == "" || u.Message != s.message {
		s.endText(raw)
	}
	s.message = u.Message
	s.text.Reset()
	s.text.WriteString(text.String())
}

// call returns the call with the given id, and adds it to the stream if it is new.
func (s *stream) call(id string) *toolCall {
	c := s.calls[id]
	if c == nil {
		c = &toolCall{toolFields: toolFields{ID: id}}
		if s.calls == nil {
			s.calls = map[string]*toolCall{}
		}
		s.calls[id] = c
		s.order = append(s.order, c)
	}
	return c
}

// tell emits the events of a call that are due.
func (s *stream) tell(c *toolCall, raw []byte) {
	failed, done := c.done()
	if !c.announced && (done || c.described()) {
		s.announce(c, raw)
	}
	if !done || c.ended {
		return
	}
	c.ended = true
	text, lost := c.result()
	s.event(streamjson.Event{Kind: streamjson.KindUser, Blocks: []streamjson.Block{{
		Kind: streamjson.BlockToolResult, ID: c.ID, Text: text, Failed: failed, Lost: lost,
	}}}, raw)
}

func (s *stream) announce(c *toolCall, raw []byte) {
	if c.announced {
		return
	}
	c.announced = true
	s.event(streamjson.Event{Kind: streamjson.KindAssistant, Blocks: []streamjson.Block{{
		Kind: streamjson.BlockToolUse, ID: c.ID, Name: c.name(), Input: c.input(),
	}}}, raw)
}

// deny emits a failed result for a call that was denied.
func (s *stream) deny(c *toolCall) {
	if c.ended {
		return
	}
	c.ended = true
	s.event(streamjson.Event{Kind: streamjson.KindUser, Blocks: []streamjson.Block{{
		Kind: streamjson.BlockToolResult, ID: c.ID, Text: "not permitted", Failed: true,
	}}}, nil)
}

// open reports whether any tool call has no result yet.
func (s *stream) open() bool {
	for _, c := range s.order {
		if !c.ended {
			return true
		}
	}
	return false
}

// usage handles the size of the context and the cost of the session.
func (s *stream) usage(u *update, raw []byte) {
	if u.Cost != nil && strings.EqualFold(u.Cost.Currency, "USD") {
		amount := u.Cost.Amount
		s.cost = &amount
		if s.spent != nil {
			s.spent(amount)
		}
	}
	if u.Size != nil && *u.Size > 0 {
		s.size = *u.Size
	}
	if u.Used == nil || *u.Used <= 0 {
		s.skip(u.Kind, raw)
		return
	}
	s.used = *u.Used
	s.event(streamjson.Event{Kind: streamjson.KindAssistant, Usage: &streamjson.Usage{Input: s.used}}, raw)
}

// codexSays handles codex's reports that its thread has failed or that it is retrying the
// model.
func (s *stream) codexSays(u *update, raw []byte) {
	codex := u.Meta.Codex
	if codex.Thread.Type == "systemError" {
		s.trouble.failed = true
	}
	if codex.Error == nil {
		s.skip(u.Kind, raw)
		return
	}
	s.trouble.words, s.trouble.info = codex.Error.Message, errorInfo(codex.Error.Info)
	s.trouble.retries++
	s.event(streamjson.Event{Kind: streamjson.KindRetry, Retry: &streamjson.Retry{
		Attempt: s.trouble.retries, Status: statusIn(codex.Error.Info), Error: s.trouble.words,
	}}, raw)
}

// words returns the agent's last message.
func (s *stream) words() string {
	if text := strings.TrimSpace(s.text.String()); text != "" {
		return text
	}
	return strings.TrimSpace(s.last)
}

// end emits the unfinished text and calls, and the result of the turn.
func (s *stream) end(result streamjson.Result, tokens *streamjson.Usage, raw []byte) {
	s.endTexts(raw)
	for _, c := range s.order {
		if !c.announced {
			s.announce(c, raw)
		}
	}
	result.Text = s.words()
	if result.ContextLimit == 0 {
		result.ContextLimit = s.size
	}
	if s.cost != nil {
		result.CostUSD = *s.cost
	}
	s.event(streamjson.Event{Kind: streamjson.KindResult, Result: &result, Usage: tokens}, raw)
}
