package standin

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"time"
)

// settings contains the keys of --settings that this program supports.
type settings struct {
	Window int                    `json:"autoCompactWindow"`
	Hooks  map[string][]hookGroup `json:"hooks"`
}

type hookGroup struct {
	Matcher string `json:"matcher"`
	Hooks   []struct {
		Type    string  `json:"type"`
		Command string  `json:"command"`
		Timeout float64 `json:"timeout"` // seconds
	} `json:"hooks"`
}

// readSettings reads settings from a file, or from the argument itself if it is JSON. It
// silently ignores JSON with an unknown structure, as the real program does.
func readSettings(arg string) (settings, error) {
	var s settings
	if arg == "" {
		return s, nil
	}
	data := []byte(arg)
	if !json.Valid(data) {
		var err error
		if data, err = os.ReadFile(arg); err != nil {
			return s, complain("Error: Settings file not found: %s", arg)
		}
		if !json.Valid(data) {
			return s, complain("Error: Settings file is not valid JSON: %s", arg)
		}
	}
	if json.Unmarshal(data, &s) != nil {
		return settings{}, nil
	}
	return s, nil
}

// full reports whether the context has reached the size at which the program compacts
// automatically. The numbers are those of the real program.
func (c *client) full() bool {
	window := c.number("CLAUDE_CODE_AUTO_COMPACT_WINDOW", c.settings.Window)
	if window == 0 || c.getenv("DISABLE_AUTO_COMPACT") == "1" || c.sess.turns == 0 {
		return false
	}
	window = min(max(window, 100000), modelWindow(c.model))
	return c.sess.context >= window-20000-13000
}

// compact compacts the session. It prints a status line, runs the SessionStart hooks, and
// prints another status line, the boundary and the summary. If the summary fails, the turn
// continues without a compaction.
func (c *client) compact(ctx context.Context, trigger string) error {
	began := time.Now()
	c.status("compacting", "", "")
	summary := "1. Primary Request and Intent:\n   Scripted summary of the conversation so far."
	if base := c.getenv("ANTHROPIC_BASE_URL"); base != "" {
		var problem error
		if summary, problem = c.summarize(ctx, base); problem != nil && ctx.Err() == nil {
			c.status("", "failed", problem.Error())
			return nil
		}
	}
	given := c.runHooks(ctx, "compact")
	if ctx.Err() != nil {
		c.status("", "failed", "API Error: Request was aborted.")
		return errInterrupted
	}
	c.status("", "success", "")
	if trigger == "manual" {
		c.printInit()
	}
	whole := "This session is being continued from a previous conversation that ran out of context. The summary below covers" +
		" the earlier portion of the conversation.\n\nSummary:\n" + summary +
		"\n\nIf you need specific details from before compaction (like exact code snippets, error messages, or content you" +
		" generated), read the full transcript at: " + c.sess.path
	pre := c.sess.context
	post := 600 + (len(summary)+len(given))/4
	c.sess.context = firstContext + post
	anchor, kept := newUUID(), newUUID()
	c.out.line(&systemLine{
		Type: "system", Subtype: "compact_boundary", SessionID: c.sess.id, UUID: newUUID(), Parent: c.ifNew(kept),
		Compact: &compact{
			Trigger: trigger, Pre: pre, Post: post, Dropped: pre - post, DurationMS: time.Since(began).Milliseconds(),
			Segment:  keptSegment{Head: kept, Anchor: anchor, Tail: kept},
			Messages: keptMessages{Anchor: anchor, UUIDs: []string{kept}, All: []string{kept}},
		},
	})
	line := &userLine{
		Type: "user", Message: message{Role: "user"}, SessionID: c.sess.id, UUID: anchor, Timestamp: timestamp(), Synthetic: true,
	}
	if trigger == "manual" {
		line.Message.Content, line.IsReplay = encode(whole), new(false)
	} else {
		line.Message.Content = encode([]block{{Type: "text", Text: whole}})
	}
	c.out.line(line)
	if given != "" {
		whole += "\n\nSessionStart hook additional context: " + given
	}
	// A resumed session forgets the uuids from before a compaction; this process does not.
	known, rest := c.sess.known, c.sess.history[c.sess.mark:]
	err := c.sess.add(record{
		Type: "compact", Message: &message{Role: "user", Content: encode(whole)}, Context: c.sess.context, Model: c.model,
	})
	c.sess.known, c.sess.mark = known, 1
	for i := range rest { // the current turn is kept in full
		err = errors.Join(err, c.sess.add(record{Type: "message", Message: &rest[i]}))
	}
	return err
}

// runHooks runs the SessionStart hooks for source (startup, resume, compact) one after
// another and returns their text for the model.
func (c *client) runHooks(ctx context.Context, source string) string {
	var given []string
	for _, group := range c.settings.Hooks["SessionStart"] {
		if m := group.Matcher; m != "" && m != "*" && !slices.Contains(strings.Split(m, "|"), source) {
			continue
		}
		for _, h := range group.Hooks {
			if h.Type == "command" {
				given = append(given, c.runHook(ctx, source, h.Command, h.Timeout))
			}
		}
	}
	return strings.TrimSpace(strings.Join(given, "\n"))
}

// runHook runs one hook. It prints a line before and after the hook. A hook that fails or
// takes too long does not stop the turn.
func (c *client) runHook(ctx context.Context, source, command string, seconds float64) string {
	if seconds <= 0 {
		seconds = 60
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds*float64(time.Second)))
	defer cancel()
	line := hookLine{
		Type: "system", Subtype: "hook_started", HookID: newUUID(), Name: "SessionStart:" + source, Event: "SessionStart",
		UUID: newUUID(), SessionID: c.sess.id,
	}
	c.out.line(line)
	payload := encode(map[string]string{
		"session_id": c.sess.id, "transcript_path": c.sess.path, "cwd": c.cwd, "hook_event_name": "SessionStart", "source": source,
	})
	var stderr []byte
	stdout, code, err := c.shell(ctx, command, payload, &stderr)
	line.Subtype, line.UUID, line.Outcome = "hook_response", newUUID(), "success"
	switch {
	case err != nil:
		stderr, code, line.Outcome = []byte(err.Error()), 1, "error"
	case ctx.Err() != nil:
		line.Outcome = "cancelled"
	case code != 0:
		line.Outcome = "error"
	}
	line.Output, line.Stdout, line.Stderr = new(string(stdout)+string(stderr)), new(string(stdout)), new(string(stderr))
	line.ExitCode = &code
	c.out.line(line)
	if line.Outcome != "success" {
		return ""
	}
	return c.hookContext(stdout)
}

// hookLimit is the maximum number of characters of hook output that the model gets in
// full.
const hookLimit = 10000

// hookContext returns the part of a hook's output that is for the model: the
// additionalContext if the output is JSON, or else the entire output. If that part is
// longer than hookLimit, it returns only a preview.
func (c *client) hookContext(stdout []byte) string {
	text := string(stdout)
	var reply struct {
		Specific struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal(stdout, &reply) == nil {
		text = reply.Specific.Context
	}
	runes := []rune(text)
	if len(runes) <= hookLimit {
		return text
	}
	where := "lost"
	if file, err := c.keep(stdout); err == nil {
		where = "in " + file
	}
	return string(runes[:preview]) + "\n[the rest is " + where + "]"
}
