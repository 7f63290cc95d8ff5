package standin

import (
	"context"
	"os"
	"strings"
	"time"
)

// play runs the steps, including those that steering adds. If a turn contains no text,
// play adds some at the end, because every real turn contains text.
func (t *turn) play(ctx context.Context) error {
	for len(t.steps) > 0 {
		s := t.steps[0]
		t.steps = t.steps[1:]
		if ctx.Err() != nil {
			return errInterrupted
		}
		if err := t.step(ctx, s); err != nil {
			return err
		}
		if err := t.withinCap(len(t.steps) == 0 && t.message != ""); err != nil {
			return err
		}
	}
	if t.said == "" {
		if err := t.say("Done: " + t.first); err != nil {
			return err
		}
		return t.withinCap(true)
	}
	return nil
}

// step runs one line of the script.
func (t *turn) step(ctx context.Context, s Step) error {
	c := t.c
	first, rest, _ := strings.Cut(s.Arg, " ")
	switch s.Verb {
	case "say":
		return t.say(breakLines(s.Arg))
	case "think":
		return t.think(breakLines(s.Arg))
	case "sh":
		return t.call(ctx, "Bash", map[string]any{"command": s.Arg, "description": "Run " + first})
	case "write":
		return t.call(ctx, "Write", map[string]any{"file_path": c.abs(first), "content": breakLines(rest) + "\n"})
	case "edit":
		old, new, _ := strings.Cut(rest, " => ")
		return t.call(ctx, "Edit", map[string]any{
			"replace_all": false, "file_path": c.abs(first), "old_string": breakLines(old), "new_string": breakLines(new),
		})
	case "read":
		return t.call(ctx, "Read", map[string]any{"file_path": c.abs(s.Arg)})
	case "deny":
		return t.refuse(ctx, first, rest)
	case "sleep":
		return t.sleep(ctx, s.D)
	case "await":
		return t.await(ctx, c.abs(s.Arg))
	case "tick":
		return t.tick(ctx, s.D, s.Each)
	case "big":
		return t.say(strings.Repeat("0123456789abcde\n", s.N/16+1)[:s.N])
	case "cost":
		t.cost = &s.USD
	case "context":
		t.endRequest("end_turn")
		c.sess.context = s.N
	case "model":
		t.endRequest("end_turn")
		c.model = c.release.modelName(s.Arg)
	case "compact":
		t.endRequest("end_turn")
		return c.compact(ctx, "auto")
	case "fail":
		return &failure{text: breakLines(s.Arg)}
	case "status":
		return t.apiError(s.N, rest)
	case "limited":
		return t.usageLimit(time.Now().Add(s.D))
	case "linger":
		c.linger = s.D
	default:
		return t.misbehave(ctx, s)
	}
	return nil
}

// think prints a thinking block, preceded by the line that the real program prints before
// such a block.
func (t *turn) think(text string) error {
	n := max(1, len(text)/4)
	t.c.out.line(&systemLine{
		Type: "system", Subtype: "thinking_tokens", Estimated: n, EstimatedMore: n, SessionID: t.c.sess.id, UUID: newUUID(),
	})
	return t.emit(block{Type: "thinking", Thinking: text, Signature: "c2lnbmF0dXJl"})
}

func (t *turn) sleep(ctx context.Context, d time.Duration) error {
	if !pause(ctx, d) {
		return errInterrupted
	}
	return nil
}

// await waits until a file exists.
func (t *turn) await(ctx context.Context, path string) error {
	for {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		if err := t.sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// tick prints a text block repeatedly, at intervals of each, until d has elapsed.
func (t *turn) tick(ctx context.Context, d, each time.Duration) error {
	end := time.Now().Add(d)
	for n := 1; ; n++ {
		if err := t.say("tick " + timestamp()); err != nil {
			return err
		}
		if time.Now().Add(each).After(end) {
			return t.sleep(ctx, time.Until(end))
		}
		if err := t.sleep(ctx, each); err != nil {
			return err
		}
	}
}
