package claude

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// The person's own settings of Claude Code also apply to the agents' clients. They can keep a
// client from working. The message is not the cause of that.

const hintHook = "change the UserPromptSubmit hook in the settings of Claude Code (~/.claude/settings.json, .claude/settings.json or a plugin), or take the message back with claude-swarm cancel"

// hookRefuses ends a turn whose prompt was refused by a hook of the person. The client would
// report such a turn as a success, with the hook's words as its answer, although the model
// never got the prompt. A hook that stops the client later in the turn does not refuse the
// prompt. 2.1.197 and 2.1.330 print this line before the result; since 2.1.330 it contains
// prompt_submit_outcome.
func (r *follower) hookRefuses(raw []byte, now time.Time) {
	if r.seen.answers || !bytes.Contains(raw, []byte(`"prevent_continuation":true`)) {
		return
	}
	var line struct {
		Subtype string `json:"subtype"`
		Content string `json:"content"`
		Prevent bool   `json:"prevent_continuation"`
		Outcome struct {
			Reason string `json:"reason"`
		} `json:"prompt_submit_outcome"`
	}
	if json.Unmarshal(raw, &line) != nil || line.Subtype != "informational" || !line.Prevent {
		return
	}
	why, _, _ := strings.Cut(line.Content, "\n\nOriginal prompt:") // the prompt is the message, which the person has
	if line.Outcome.Reason != "" {
		why = line.Outcome.Reason
	}
	for _, prefix := range []string{"UserPromptSubmit operation blocked by hook:", "Operation stopped by hook:"} {
		why = strings.TrimPrefix(why, prefix)
	}
	r.seen.refusal = follow.Verdict{End: runner.BadSetup, Hint: hintHook,
		Reason: follow.WithDetail("a hook in the settings of Claude Code refuses the prompt", strings.TrimSpace(why))}
	r.run.End(r.seen.refusal, now)
}

// configError is the beginning of the client's words about a settings file that it cannot
// read. Only ~/.claude.json ends the client; it ignores the other files if they are damaged.
const configError = "configuration error in "

// brokenSettings returns the verdict on a client that cannot read its own settings, and false
// for any other error.
func brokenSettings(text string) (follow.Verdict, bool) {
	if !strings.HasPrefix(strings.ToLower(text), configError) {
		return follow.Verdict{}, false
	}
	return follow.Verdict{End: runner.BadSetup, Reason: text, Hint: "repair that file, or move it aside"}, true
}

// settingsLine returns the line of standard error that names a settings file that the client
// cannot read, or "". 2.1.197 exits after that line, but it first replaces the file, so the
// next client can work.
func settingsLine(stderr string) string {
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(strings.ToLower(line), configError) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
