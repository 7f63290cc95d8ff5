package fakeapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"
)

// errScripted ends a stream at the point that the script specifies.
var errScripted = errors.New("ended by the script")

// A stream sends server-sent events with the timing and faults that the reply's delivery
// specifies. Only one handler uses it.
type stream struct {
	w    http.ResponseWriter
	rep  *Reply
	sent int // number of events sent
}

// send sends the message event by event, until the request's ctx is done. If the client
// hangs up or a fault is scripted, the stream ends early; neither is a server error.
func (m *message) send(ctx context.Context, w http.ResponseWriter, rep *Reply) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	s := &stream{w: w, rep: rep}

	start := m.usage
	start.OutputTokens = 1
	err := s.event(ctx, "message_start", map[string]any{"message": map[string]any{
		"id": m.id, "type": "message", "role": "assistant", "model": m.model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": start,
	}})
	if err == nil {
		err = s.event(ctx, "ping", map[string]any{})
	}
	for i := range m.blocks {
		if err == nil {
			err = s.block(ctx, i, &m.blocks[i])
		}
	}
	if err == nil {
		err = s.event(ctx, "message_delta", map[string]any{
			"delta": map[string]any{"stop_reason": m.stop, "stop_sequence": nil}, "usage": m.usage,
		})
	}
	if err == nil {
		s.event(ctx, "message_stop", map[string]any{})
	}
}

// block sends the events of one content block.
func (s *stream) block(ctx context.Context, index int, b *filled) error {
	if err := s.event(ctx, "content_block_start", map[string]any{"index": index, "content_block": b.start}); err != nil {
		return err
	}
	delta := func(kind, field, value string) error {
		return s.event(ctx, "content_block_delta", map[string]any{
			"index": index, "delta": map[string]any{"type": kind, field: value},
		})
	}
	if b.kind != "" {
		for _, piece := range pieces(b.value, s.rep.ChunkRunes) {
			if !sleep(ctx, s.rep.ChunkDelayMS) {
				return ctx.Err()
			}
			if err := delta(b.kind, b.field, piece); err != nil {
				return err
			}
		}
	}
	if b.signature != "" {
		if err := delta("signature_delta", "signature", b.signature); err != nil {
			return err
		}
	}
	return s.event(ctx, "content_block_stop", map[string]any{"index": index})
}

// event sends one event, unless the script has a fault at this point.
func (s *stream) event(ctx context.Context, name string, data map[string]any) error {
	rep := s.rep
	if rep.CutAfterEvents > 0 && s.sent >= rep.CutAfterEvents {
		cut(s.w, rep.CutWithReset)
		return errScripted
	}
	if rep.ErrorAfterEvents > 0 && s.sent >= rep.ErrorAfterEvents {
		s.write("error", map[string]any{"error": map[string]any{
			"type": orElse(rep.ErrorType, "overloaded_error"), "message": orElse(rep.ErrorMessage, "Overloaded"),
		}})
		return errScripted
	}
	if rep.StallAfterEvents > 0 && s.sent == rep.StallAfterEvents && !sleep(ctx, rep.StallMS) {
		return ctx.Err()
	}
	s.sent++
	return s.write(name, data)
}

func (s *stream) write(name string, data map[string]any) error {
	data["type"] = name
	buf, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", name, buf); err != nil {
		return err
	}
	return http.NewResponseController(s.w).Flush()
}

// pieces cuts s into parts of at most n runes (0 means 4000), never inside a rune. For an
// empty string, it returns one empty piece.
func pieces(s string, n int) []string {
	if n <= 0 {
		n = 4000
	}
	var all []string
	for {
		end := 0
		for count := 0; end < len(s) && count < n; count++ {
			_, size := utf8.DecodeRuneInString(s[end:])
			end += size
		}
		all = append(all, s[:end])
		if s = s[end:]; s == "" {
			return all
		}
	}
}

// sleep waits for a number of milliseconds; it returns false if ctx is done first.
func sleep(ctx context.Context, ms int) bool {
	if ms <= 0 {
		return true
	}
	t := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
