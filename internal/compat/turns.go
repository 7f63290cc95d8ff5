package compat

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// yes returns the answer for a fact that is either true or false. An answer that begins
// with "no" also contains what was observed.
func yes(holds bool, seen string, args ...any) (string, error) {
	if holds {
		return "yes", nil
	}
	return screen.Short("no: "+fmt.Sprintf(seen, args...), 300), nil
}

// bash returns a reply in which the model runs a command. The API sends it in reply to a
// prompt that contains "Begin".
func bash(command string) string {
	return fmt.Sprintf(`{"name":"call","match":{"last_user_contains":"Begin"},"content":[{"tool_use":{"name":"Bash","input":{"command":%q}}}]}`, command)
}

// while returns a command that runs until the lab's folders are gone, or is ended.
func (l *lab) while(step string) string {
	return "while [ -d '" + l.dir + "' ]; do " + step + "; done"
}

const rest = `{"name":"rest","times":-1,"text":"Done."}`

// last adds the last main request to the shape, as [lab.sees] does, and returns its body.
func (l *lab) last(words ...string) ([]byte, error) {
	asked := l.asked()
	if len(asked) == 0 {
		return nil, fmt.Errorf("%w: the model was not asked", errStrange)
	}
	r := asked[len(asked)-1]
	return r.Body, l.sees(r, words...)
}

func versionIsTold(l *lab) (string, error) {
	out, err := l.run("--version")
	if err != nil {
		return "", err
	}
	l.shape.WriteString(l.plain(string(out)))
	got, _, _ := strings.Cut(string(out), " ")
	return yes(got == l.version, "%s", out)
}

func flagsAreTaken(l *lab) (string, error) {
	system, err := l.write("system.txt", "SYSTEM-WORD")
	if err != nil {
		return "", err
	}
	settings, err := l.write("settings.json", `{"autoCompactWindow":200000,"crossSessionInbound":"refuse"}`)
	if err != nil {
		return "", err
	}
	servers, err := l.write("servers.json", `{"mcpServers":{}}`)
	if err != nil {
		return "", err
	}
	r, err := l.turn(first, "Begin", "--session-id", session, "--append-system-prompt-file", system, "--settings", settings,
		"--mcp-config", servers, "--effort", "low", "--include-partial-messages", "--permission-mode", "acceptEdits",
		"--allowedTools", "Read", "mcp__dead-drop", "--disallowedTools", "AskUserQuestion", "SendMessage", "ListAgents")
	if err != nil {
		return screen.Short("no: "+err.Error(), 300), nil
	}
	asked := l.asked()
	if len(asked) == 0 {
		return yes(false, "%v", r)
	}
	if err := l.sees(asked[0], "SYSTEM-WORD", "Begin"); err != nil {
		return "", err
	}
	return yes(r["is_error"] == false && bytes.Contains(asked[0].Body, []byte("SYSTEM-WORD")), "%v", r)
}

func sessionIsResumed(l *lab) (string, error) {
	if _, err := l.turn(first, "Remember APPLE", "--session-id", session); err != nil {
		return "", err
	}
	r, err := l.turn(second, "What was it?", "--resume", session)
	if err != nil {
		return "", err
	}
	last, err := l.last("APPLE", "What was it?")
	if err != nil {
		return "", err
	}
	return yes(r.text("session_id") == session && bytes.Contains(last, []byte("APPLE")), "session %s", r.text("session_id"))
}

func killedSessionIsResumed(l *lab) (string, error) {
	// The model has not answered when the client is killed, so the session contains only the
	// prompt.
	const slow = `{"name":"slow","match":{"last_user_contains":"Begin"},"delay_ms":10000,"text":"Late."}`
	if err := l.script(slow, rest); err != nil {
		return "", err
	}
	c, err := l.start("--session-id", session)
	if err != nil {
		return "", err
	}
	if err := c.say(first, "Begin with BANANA"); err != nil {
		return "", err
	}
	// The client writes its session file shortly after it prints the session's id.
	written := func() bool {
		files, _ := filepath.Glob(filepath.Join(l.home, ".claude", "projects", "*", session+".jsonl"))
		for _, f := range files {
			if data, err := os.ReadFile(f); err == nil && bytes.Contains(data, []byte("BANANA")) {
				return true
			}
		}
		return false
	}
	if err := until(l.ctx, "the session is written", written, c.ended); err != nil {
		return "", err
	}
	if err := c.cmd.Process.Kill(); err != nil {
		return "", err
	}
	<-c.ended
	r, err := l.turn(second, "Go on", "--resume", session)
	if err != nil {
		return "", err
	}
	last, err := l.last("BANANA", "Go on")
	if err != nil {
		return "", err
	}
	return yes(r["is_error"] == false && bytes.Contains(last, []byte("BANANA")), "%v", r)
}

// repeated reports whether the client has repeated a prompt.
func (c *client) repeated(uuid string) bool {
	return c.replay(uuid) != nil
}

// replay returns the line with which the client has repeated a prompt, or nil.
func (c *client) replay(uuid string) line {
	for _, n := range c.all("user", "") {
		if n["isReplay"] == true && n.text("uuid") == uuid {
			return n
		}
	}
	return nil
}

func promptIsRepeated(l *lab) (string, error) {
	c, err := l.start()
	if err != nil {
		return "", err
	}
	if err := c.say(first, "Begin"); err != nil {
		return "", err
	}
	if _, err := c.await(1, "result", ""); err != nil {
		return "", err
	}
	l.told(c.replay(first), "type", "isReplay", "uuid", "session_id", "message.role", "message.content")
	return yes(c.repeated(first), "no line with isReplay")
}

func knownPromptIsNotRun(l *lab) (string, error) {
	if _, err := l.turn(first, "Begin", "--session-id", session); err != nil {
		return "", err
	}
	before := len(l.asked())
	c, err := l.start("--resume", session)
	if err != nil {
		return "", err
	}
	if err := c.say(first, "Begin"); err != nil {
		return "", err
	}
	code, err := c.finish()
	if err != nil {
		return "", err
	}
	l.told(c.replay(first), "type", "isReplay", "uuid")
	return yes(code == 0 && c.repeated(first) && len(l.asked()) == before, "exit status %d, repeated %v, asked %d times", code, c.repeated(first), len(l.asked())-before)
}

func secondPrompt(l *lab) (string, error) {
	c, err := l.start("--session-id", session)
	if err != nil {
		return "", err
	}
	for i, uuid := range []string{first, second} {
		if err := c.say(uuid, "Begin"); err != nil {
			return "", err
		}
		if r, err := c.await(i+1, "result", ""); err != nil || r.text("session_id") != session {
			return yes(false, "result %v, %v", r, err)
		}
	}
	code, err := c.finish()
	if err != nil {
		return "", err
	}
	if _, err := l.last("Begin"); err != nil {
		return "", err
	}
	return yes(code == 0 && len(l.asked()) == 2, "exit status %d, asked %d times", code, len(l.asked()))
}

func promptInATurn(l *lab) (string, error) {
	if err := l.script(bash("for i in 1 2 3 4; do sleep 0.5; done; echo over"), rest); err != nil {
		return "", err
	}
	c, err := l.start("--allowedTools", "Bash")
	if err != nil {
		return "", err
	}
	if err := c.say(first, "Begin"); err != nil {
		return "", err
	}
	if _, err := c.await(1, "assistant", ""); err != nil {
		return "", err
	}
	if err := c.say(second, "CHERRY"); err != nil {
		return "", err
	}
	if _, err := c.await(1, "result", ""); err != nil {
		return "", err
	}
	if _, err := c.finish(); err != nil {
		return "", err
	}
	asked, results := l.asked(), len(c.all("result", ""))
	if _, err := l.last("CHERRY"); err != nil {
		return "", err
	}
	return yes(len(asked) == 2 && bytes.Contains(asked[1].Body, []byte("CHERRY")) && results == 1, "asked %d times, %d results", len(asked), results)
}

func interruptKeepsProcess(l *lab) (string, error) {
	if err := l.script(bash(l.while("sleep 0.1")), rest); err != nil {
		return "", err
	}
	c, err := l.start("--allowedTools", "Bash")
	if err != nil {
		return "", err
	}
	if err := c.say(first, "Begin"); err != nil {
		return "", err
	}
	if _, err := c.await(1, "assistant", ""); err != nil {
		return "", err
	}
	if err := c.control("stop", map[string]any{"subtype": "interrupt"}); err != nil {
		return "", err
	}
	ended, err := c.await(1, "result", "")
	if err != nil {
		return "", err
	}
	l.told(ended, "type", "subtype", "is_error", "terminal_reason")
	if err := c.say(second, "Go on"); err != nil {
		return "", err
	}
	r, err := c.await(2, "result", "")
	if err != nil {
		return "", err
	}
	if _, err := l.last("interrupted", "Go on"); err != nil {
		return "", err
	}
	return yes(r.text("result") == "Done.", "%v", r["result"])
}
