package compat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// systemText runs two turns in one session with different system prompts, and reports
// whether the second system prompt reached the model.
func systemText(l *lab, flags ...string) (reached bool, err error) {
	for i, flag := range []string{"--session-id", "--resume"} {
		path, err := l.write(fmt.Sprintf("system-%d.txt", i), fmt.Sprintf("SYSTEM-%d", i))
		if err != nil {
			return false, err
		}
		prompt := []string{first, second}[i]
		if _, err := l.turn(prompt, "Begin", append([]string{flag, session, "--append-system-prompt-file", path}, flags...)...); err != nil {
			return false, err
		}
	}
	last, err := l.last("SYSTEM-", "Begin")
	return bytes.Contains(last, []byte("SYSTEM-1")), err
}

func systemTextUnasked(l *lab) (string, error) {
	reached, err := systemText(l)
	if err != nil {
		return "", err
	}
	if reached {
		return "yes", nil
	}
	return "no", nil
}

// systemTextAsked passes the flag in the same way as a real turn: only if --help lists
// it.
func systemTextAsked(l *lab) (string, error) {
	const flag = "--system-prompt-snapshot"
	help, err := l.run("--help")
	if err != nil {
		return "", err
	}
	answer, flags := "yes", []string{flag, "off"}
	if !strings.Contains(string(help), flag) {
		answer, flags = "yes, without the flag", nil
	}
	reached, err := systemText(l, flags...)
	if err != nil {
		return "", err
	}
	if !reached {
		return "no: the first text is still sent", nil
	}
	return answer, nil
}

func subAgentIsWaitedFor(l *lab) (string, error) {
	l.env = []string{"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1"}
	err := l.script(
		`{"name":"launch","match":{"last_user_contains":"Begin"},"content":[{"tool_use":{"name":"Agent","input":{"description":"look","prompt":"SUB-TASK","subagent_type":"general-purpose"}}}]}`,
		`{"name":"sub","match":{"last_user_contains":"SUB-TASK"},"text":"SUB-ANSWER","delay_ms":1500}`,
		`{"name":"end","match":{"tool_result_contains":"SUB-ANSWER"},"text":"It has come."}`, rest)
	if err != nil {
		return "", err
	}
	c, err := l.start("--allowedTools", "Agent", "Task")
	if err != nil {
		return "", err
	}
	if err := c.say(first, "Begin"); err != nil {
		return "", err
	}
	r, err := c.await(1, "result", "")
	if err != nil {
		return "", err
	}
	if _, err := c.finish(); err != nil {
		return "", err
	}
	results := len(c.all("result", ""))
	if _, err := l.last("SUB-ANSWER"); err != nil {
		return "", err
	}
	return yes(r.text("result") == "It has come." && results == 1, "%d results, %v", results, r["result"])
}

// compaction runs four turns in one process. The third turn fills the context to the given
// number of tokens. compaction returns how many times the client compacted its context.
func compaction(l *lab, tokens int, settings string) (times int, err error) {
	err = l.script(`{"name":"one","match":{"last_user_contains":"First"},"text":"Done.","context_tokens":15000}`,
		`{"name":"two","match":{"last_user_contains":"Second"},"text":"Done.","context_tokens":20000}`,
		fmt.Sprintf(`{"name":"three","match":{"last_user_contains":"Third"},"text":"Done.","context_tokens":%d}`, tokens),
		`{"name":"four","times":-1,"text":"Done.","context_tokens":15000}`)
	if err != nil {
		return 0, err
	}
	path, err := l.write("settings.json", settings)
	if err != nil {
		return 0, err
	}
	c, err := l.start("--settings", path)
	if err != nil {
		return 0, err
	}
	for i, uuid := range []string{first, second, third, fourth} {
		if err := c.say(uuid, []string{"First", "Second", "Third", "Fourth"}[i]); err != nil {
			return 0, err
		}
		if _, err := c.await(i+1, "result", ""); err != nil {
			return 0, err
		}
	}
	if _, err := c.finish(); err != nil {
		return 0, err
	}
	return l.api.Stats().Answered["summary"], nil
}

func compactsAt(l *lab) (string, error) {
	for _, step := range []struct {
		tokens, times int
		seen          string
	}{{66_000, 0, "at most 66,000"}, {68_000, 1, "more than 68,000"}} {
		times, err := compaction(l, step.tokens, `{"autoCompactWindow":100000}`)
		if err != nil {
			return "", err
		}
		if times != step.times {
			return step.seen, nil
		}
	}
	return "more than 66,000, at most 68,000", nil
}

func hookAtCompaction(l *lab) (string, error) {
	times, err := compaction(l, 68_000, `{"autoCompactWindow":100000,"hooks":{"SessionStart":[{"matcher":"compact","hooks":[{"type":"command","command":"echo HOOK-WORD"}]}]}}`)
	if err != nil {
		return "", err
	}
	last, err := l.last("HOOK-WORD", "They worked.")
	if err != nil {
		return "", err
	}
	return yes(times == 1 && bytes.Contains(last, []byte("HOOK-WORD")), "%d compactions", times)
}

func stopHookGoesOn(l *lab) (string, error) {
	hook, err := l.write("hook.sh", "#!/bin/sh\n[ -e once ] && exit 0\ntouch once\necho '{\"decision\":\"block\",\"reason\":\"MORE-MAIL\"}'\n")
	if err != nil {
		return "", err
	}
	settings, err := l.write("settings.json", fmt.Sprintf(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":%q}]}]}}`, hook))
	if err != nil {
		return "", err
	}
	if _, err := l.turn(first, "Begin", "--settings", settings); err != nil {
		return "", err
	}
	asked := l.asked()
	if _, err := l.last("MORE-MAIL"); err != nil {
		return "", err
	}
	return yes(len(asked) == 2 && bytes.Contains(asked[1].Body, []byte("MORE-MAIL")), "asked %d times", len(asked))
}

func orderOfHooks(l *lab) (string, error) {
	log := filepath.Join(l.base, "log")
	hook := func(event string) string {
		return fmt.Sprintf(`"%s":[{"hooks":[{"type":"command","command":"{ echo %s; cat; echo; } >> %s"}]}]`, event, event, log)
	}
	settings, err := l.write("settings.json", `{"hooks":{`+hook("UserPromptSubmit")+","+hook("UserPromptExpansion")+`}}`)
	if err != nil {
		return "", err
	}
	if _, err := l.write("project/.claude/commands/look.md", "---\nallowed-tools: Bash(echo:*)\n---\n!`echo lines >> "+log+"`\nLook.\n"); err != nil {
		return "", err
	}
	if _, err := l.turn(first, "/look", "--settings", settings, "--allowedTools", "Bash"); err != nil {
		return "", err
	}
	data, err := os.ReadFile(log)
	if err != nil {
		return "", err
	}
	var order []string
	ids := map[string]bool{}
	for n := range strings.Lines(string(data)) {
		var payload struct {
			ID string `json:"prompt_id"`
		}
		switch n = strings.TrimSpace(n); {
		case n == "lines":
			order = append(order, "`!` lines")
		case strings.HasPrefix(n, "UserPrompt"):
			order = append(order, n)
		case json.Unmarshal([]byte(n), &payload) == nil:
			ids[payload.ID] = true
		}
	}
	told := strings.Join(order, ", ") + "; one prompt_id"
	if len(ids) != 1 || ids[""] {
		told = strings.Join(order, ", ") + "; prompt_id differs"
	}
	return told, nil
}

func pluginValidates(name string) func(*lab) (string, error) {
	return func(l *lab) (string, error) {
		if _, err := l.write("plugin/.claude-plugin/plugin.json", fmt.Sprintf(`{"name":%q,"version":"1.0.0","description":"Mail for agents.","author":{"name":"compat"}}`, name)); err != nil {
			return "", err
		}
		if _, err := l.write("plugin/commands/inbox.md", "---\ndescription: Reads the mail.\n---\nRead the mail.\n"); err != nil {
			return "", err
		}
		out, err := l.run("plugin", "validate", filepath.Join(l.base, "plugin"))
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			return "yes", err
		}
		if name == "claude-swarm" {
			return "no", nil
		}
		return yes(false, "%s", out)
	}
}
