package standin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// converse plays the turn against the Messages API at base. It sends a request, runs the
// tools that the answer calls, and repeats this until an answer calls no tools.
func (t *turn) converse(ctx context.Context, base string) error {
	c := t.c
	t.counted = true
	retried := false
	for {
		reply, err := c.ask(ctx, base, c.conversation(), toolList())
		if tooLong(err) && !retried {
			retried = true
			if err := c.compact(ctx, "auto"); err != nil {
				return err
			}
			continue
		} else if err != nil {
			return err
		}
		calls, err := t.print(reply)
		if err != nil {
			return err
		}
		if err := t.withinCap(len(calls) == 0); err != nil {
			return err
		}
		if len(calls) == 0 || reply.StopReason != "tool_use" {
			return nil
		}
		for _, b := range calls {
			if err := t.perform(ctx, b, c.modelDenial); err != nil {
				return err
			}
		}
		if t.requests == c.o.maxTurns {
			return &failure{text: fmt.Sprintf("Reached maximum number of turns (%d)", t.requests), limit: "error_max_turns", stop: "tool_use"}
		}
		if c.full() {
			if err := c.compact(ctx, "auto"); err != nil {
				return err
			}
		}
	}
}

// print prints the blocks of an answer as lines and returns the tool calls in it.
func (t *turn) print(reply *apiReply) (calls []block, err error) {
	t.message, t.request, t.blocks = reply.ID, reply.requestID, 0
	t.requests++
	t.filled = reply.Usage
	t.filled.Output = 1
	t.account(reply.Usage)
	t.c.sess.context = reply.Usage.context() + reply.Usage.Output
	if t.c.o.partial {
		t.c.printStart(t.message, t.filled)
	}
	for _, b := range reply.Content {
		switch b.Type {
		case "text":
			err = t.say(b.Text)
		case "tool_use":
			calls = append(calls, b)
			err = t.emit(b)
		default:
			err = t.emit(b)
		}
		if err != nil {
			return nil, err
		}
	}
	return calls, nil
}

// conversation returns the session in the API's format. Because the roles must alternate,
// consecutive messages from one side are merged.
func (c *client) conversation() []message {
	type turns struct {
		role   string
		blocks []json.RawMessage
	}
	var all []turns
	for _, m := range c.sess.history {
		var blocks []json.RawMessage
		if json.Unmarshal(m.Content, &blocks) != nil {
			blocks = []json.RawMessage{encode(block{Type: "text", Text: plainText(m.Content)})}
		}
		if n := len(all); n > 0 && all[n-1].role == m.Role {
			all[n-1].blocks = append(all[n-1].blocks, blocks...)
		} else {
			all = append(all, turns{m.Role, blocks})
		}
	}
	messages := make([]message, 0, len(all))
	for _, t := range all {
		messages = append(messages, message{Role: t.role, Content: encode(t.blocks)})
	}
	return messages
}

// summarize asks the API for the summary of a compaction.
func (c *client) summarize(ctx context.Context, base string) (string, error) {
	history := append(c.conversation(), message{Role: "user", Content: encode(
		"Your task is to create a detailed summary of the conversation so far. Answer with <summary>…</summary>.")})
	reply, err := c.ask(ctx, base, history, nil)
	if err != nil {
		return "", err
	}
	c.cost += price(c.model, reply.Usage)
	c.spend(c.model, tokens{}, price(c.model, reply.Usage))
	text := ""
	for _, b := range reply.Content {
		text += b.Text
	}
	if _, after, ok := strings.Cut(text, "<summary>"); ok {
		text, _, _ = strings.Cut(after, "</summary>")
	}
	return strings.TrimSpace(text), nil
}
