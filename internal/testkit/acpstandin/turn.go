package acpstandin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/standin"
)

// Each call to the model uses this many tokens.
const (
	callInput  = 100
	callOutput = 10
)

// errCancelled is the error of a turn that the client has cancelled.
var errCancelled = errors.New("cancelled")

// ended is an error that a step returns to end the turn.
type ended struct {
	stop    string
	noUsage bool
}

func (e *ended) Error() string { return e.stop }

// A turn plays one prompt.
type turn struct {
	a        *agent
	s        *session
	ctx      context.Context
	cancel   context.CancelCauseFunc
	steering chan string // contents of the _session/steering messages

	calls int // number of calls to the model
	said  bool
	late  bool
}

// run plays the prompt and responds.
func (t *turn) run(m message, prompt string) {
	t.remember(map[string]any{"sessionUpdate": "user_message_chunk", "content": textBlock(prompt)})
	result, err := t.play(prompt)
	t.a.complain(t.s.save())
	if t.late {
		t.a.late.Add(1)
		defer t.a.late.Done()
	}
	t.a.turn.Store(nil)
	t.a.conn.answer(m, result, err)
	if t.late {
		time.Sleep(50 * time.Millisecond)
		t.a.update(t.s, map[string]any{"sessionUpdate": "agent_message_chunk", "content": textBlock("a late word")})
		t.a.update(t.s, map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": "call_late", "status": "completed"})
	}
}

// play returns the result of the turn.
func (t *turn) play(prompt string) (any, error) {
	if t.a.is.Noise {
		if err := t.noise(); err != nil {
			return nil, err
		}
	}
	if t.a.is.Prefix != "" {
		t.chunk("agent_message_chunk", t.a.is.Prefix)
	}
	t.a.startServers(t.s)
	steps := script(prompt)
	for len(steps) > 0 {
		next := steps[0]
		steps = steps[1:]
		more, err := t.do(next)
		if err == nil && t.ctx.Err() != nil {
			err = errCancelled
		}
		if end, ok := errors.AsType[*ended](err); ok {
			return t.result(end.stop, end.noUsage), nil
		} else if errors.Is(err, errCancelled) {
			return t.result("cancelled", t.a.is.Usage == "turn"), nil
		} else if err != nil {
			return nil, err
		}
		steps = append(more, steps...)
	}
	if !t.said {
		t.say("Done: " + standin.FirstLine(prompt))
	}
	return t.result("end_turn", false), nil
}

// do plays one step. It can return steps to play next.
func (t *turn) do(next step) ([]step, error) {
	switch next.word {
	case "say":
		t.say(next.arg)
	case "think":
		t.chunk("agent_thought_chunk", next.arg)
	case "sh":
		return nil, t.shell(next.arg, false)
	case "double":
		return nil, t.shell(next.arg, true)
	case "write":
		return nil, t.write(next.arg)
	case "deny":
		return nil, t.deny(next.arg)
	case "tool":
		return nil, t.tool(next.arg)
	case "sleep":
		t.wait(duration(next.arg))
	case "hang":
		t.a.deaf.Store(true)
		select {}
	case "cost":
		usd, err := strconv.ParseFloat(next.arg, 64)
		t.s.Cost += usd
		return nil, err
	case "context":
		tokens, err := strconv.Atoi(next.arg)
		t.s.Used = tokens
		return nil, err
	case "compact":
		t.usage()
		t.s.Used /= 3
		t.usage()
	case "steer":
		return t.steered()
	case "late":
		t.late = true
	case "fail":
		t.say(next.arg)
		return nil, &ended{stop: "refusal"}
	case "status":
		return nil, t.status(next.arg)
	case "noresult":
		t.a.complain(t.s.save())
		os.Exit(1)
	}
	return nil, nil
}

// wait waits until d has elapsed or the turn ends. It returns false if the turn ended
// first.
func (t *turn) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-t.ctx.Done():
		return false
	}
}

// steered waits for a _session/steering message and returns its script.
func (t *turn) steered() ([]step, error) {
	select {
	case text := <-t.steering:
		t.remember(map[string]any{"sessionUpdate": "user_message_chunk", "content": textBlock(text)})
		if steps := script(text); len(steps) > 0 {
			return steps, nil
		}
		return []step{{"say", "Steered: " + standin.FirstLine(text)}}, nil
	case <-t.ctx.Done():
		return nil, errCancelled
	}
}

// say sends text in two chunks.
func (t *turn) say(text string) {
	half := len(text) / 2
	for half > 0 && text[half]&0xC0 == 0x80 { // does not split a character
		half--
	}
	id := newID("ses")
	for _, part := range []string{text[:half], text[half:]} {
		if part == "" {
			continue
		}
		update := map[string]any{"sessionUpdate": "agent_message_chunk", "content": textBlock(part)}
		if t.a.is.IDs == "ses" || t.a.is.Prefix != "" {
			update["messageId"] = "msg_" + id
		}
		t.send(update)
	}
	t.said = true
	t.called()
}

func (t *turn) chunk(kind, text string) {
	t.send(map[string]any{"sessionUpdate": kind, "content": textBlock(text)})
}

// send sends an update and adds it to the session's history.
func (t *turn) send(update map[string]any) {
	t.a.update(t.s, update)
	t.remember(update)
}

func (t *turn) remember(update map[string]any) { t.s.History = append(t.s.History, said{update}) }

func textBlock(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

// called counts a call to the model.
func (t *turn) called() {
	t.calls++
	t.s.Input += callInput
	t.s.Output += callOutput
	t.s.Used += callOutput
	t.usage()
}

// usage sends usage_update.
func (t *turn) usage() {
	update := map[string]any{"sessionUpdate": "usage_update", "used": t.s.Used, "size": contextSize}
	if t.a.is.Cost {
		update["cost"] = map[string]any{"amount": t.s.Cost, "currency": "USD"}
	}
	if t.a.is.Context {
		t.a.update(t.s, update)
	}
}

// result returns a turn's response.
func (t *turn) result(stop string, noUsage bool) any {
	if !noUsage && t.calls == 0 && stop == "end_turn" {
		t.called()
	}
	result := map[string]any{"stopReason": stop}
	tokens := func(calls int) map[string]any {
		return map[string]any{"inputTokens": calls * callInput, "outputTokens": calls * callOutput, "totalTokens": calls * (callInput + callOutput)}
	}
	switch t.a.is.Usage {
	case "turn":
		result["usage"] = tokens(t.calls)
		if noUsage {
			result["usage"] = nil
		}
	case "call":
		result["usage"] = tokens(min(t.calls, 1))
	case "session":
		if noUsage {
			break
		}
		result["usage"] = map[string]any{"inputTokens": t.s.Input, "outputTokens": t.s.Output, "totalTokens": t.s.Input + t.s.Output, "cachedReadTokens": 0, "cachedWriteTokens": 0}
	case "quota":
		if stop == "end_turn" {
			count := map[string]any{"input_tokens": t.calls * callInput, "output_tokens": t.calls * callOutput}
			result["_meta"] = map[string]any{"quota": map[string]any{"token_count": count, "model_usage": []any{map[string]any{"model": t.s.Model, "token_count": count}}}}
		}
	}
	return result
}

// noise sends messages that a client need not support, and checks that the client answers
// an unsupported request with an error.
func (t *turn) noise() error {
	t.a.conn.notify("_stand-in/noise", map[string]any{"weather": "fine"})
	t.a.update(t.s, map[string]any{"sessionUpdate": "moon_phase_update", "phase": 0.5})
	t.a.update(t.s, map[string]any{"sessionUpdate": "plan", "entries": []any{}})
	t.a.update(t.s, map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": "call_nobody_knows", "status": "completed"})
	select {
	case m := <-t.a.conn.ask("fs/read_text_file", map[string]any{"sessionId": t.s.ID, "path": "/etc/hostname"}):
		if m.Error == nil {
			return fmt.Errorf("the client answered fs/read_text_file by %s, which it does not offer", m.Result)
		}
	case <-time.After(10 * time.Second):
		return errors.New("the client did not answer fs/read_text_file")
	}
	return nil
}

// status ends the turn as the client does when its model's service answers with a status.
func (t *turn) status(arg string) error {
	word, rest, _ := strings.Cut(arg, " ")
	code, err := strconv.Atoi(word)
	if err != nil {
		return err
	}
	for _, e := range t.a.is.Errors {
		if fits(e, code, rest) {
			return t.failure(e, code, rest)
		}
	}
	return fmt.Errorf("the personality has no error for %d", code)
}

// detail returns an API error as a JSON body.
func detail(code int) string {
	return `{"error":{"code":` + strconv.Itoa(code) + `,"message":"scripted status","type":"scripted"}}`
}

// decode reads the JSON in a script.
func decode(text string, into any) error {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return fmt.Errorf("script: %s: %w", text, err)
	}
	return nil
}
