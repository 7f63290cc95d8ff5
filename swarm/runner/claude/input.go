package claude

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// promptLine returns the turn's prompt as the client reads it on standard input.
func promptLine(t runner.Turn) []byte { return userLine(t.UUID, t.Prompt) }

func userLine(uuid, text string) []byte {
	type message struct {
		Role    string `json:"role"`
		Content any    `json:"content"`
	}
	line, err := json.Marshal(struct {
		Type    string  `json:"type"`
		Message message `json:"message"`
		UUID    string  `json:"uuid,omitempty"`
	}{"user", message{"user", content(text)}, uuid})
	if err != nil {
		panic("claude: strings cannot fail to be JSON: " + err.Error())
	}
	return append(line, '\n')
}

// A textBlock is one piece of a prompt.
type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// tagsOfItsOwn matches tags that the client writes itself. If a block of a prompt has such
// a tag, the client mistakes the prompt for its own text and does not repeat it. A prompt
// that is not repeated counts as unread, and would be sent a second time.
const tagsOfItsOwn = `(?:bash|local-command)-std(?:out|err)\b|task-notification\b|tick\b`

var (
	unrepeated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<(?:` + tagsOfItsOwn + `)`) })
	steerTags  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)<(\\*(?:\s*/?\s*system-reminder\b|` + tagsOfItsOwn + `))`)
	})
)

// steerLine returns the line with a message for a running turn. The client puts the message
// into a frame, <system-reminder>, and joins its blocks with newlines. A tag that would end
// the frame, or keep the client from repeating the line, gets a backslash after the <.
// Nothing else changes.
func steerLine(s runner.Steer) []byte {
	return userLine(s.UUID, steerTags().ReplaceAllString(s.Prompt, `<\$1`))
}

// content splits a prompt into blocks so that the client does not obey other people's text.
// Claude Code 2.1.197 searches only the last block of a prompt, or all of a prompt that is
// a plain string. At the beginning of that text it looks for a command, and in all of that
// text for files to read (@name), agents to ask (@agent-name) and words that change how it
// works (ultrathink). So the last paragraph, which is ours, is a separate block. A prompt
// of one paragraph may be a command. A tag that the client would mistake for its own is
// divided between two blocks.
//
// The blocks together are the prompt, byte for byte.
func content(prompt string) any {
	last := strings.LastIndex(strings.TrimRight(prompt, "\n"), "\n\n")
	if last < 0 {
		return prompt
	}
	last += len("\n\n")
	var blocks []textBlock
	begin := 0
	for _, found := range unrepeated().FindAllStringIndex(prompt[:last], -1) {
		end := found[0] + len("<")
		blocks = append(blocks, textBlock{"text", prompt[begin:end]})
		begin = end
	}
	return append(blocks, textBlock{"text", prompt[begin:last]}, textBlock{"text", prompt[last:]})
}
