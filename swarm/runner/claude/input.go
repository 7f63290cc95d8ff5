package claude

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// promptLine returns the turn's prompt in the form that the client reads on standard
// input.
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
		panic("claude: strings could not be encoded as JSON: " + err.Error())
	}
	return append(line, '\n')
}

// A textBlock is one part of a prompt.
type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// tagsOfItsOwn matches tags that the client itself writes. If a block of a prompt contains
// such a tag, the client mistakes the prompt for its own text and does not repeat it. A
// prompt that is not repeated counts as unread and would be sent again.
const tagsOfItsOwn = `(?:bash|local-command)-std(?:out|err)\b|task-notification\b|tick\b`

var (
	unrepeated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<(?:` + tagsOfItsOwn + `)`) })
	steerTags  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)<(\\*(?:\s*/?\s*system-reminder\b|` + tagsOfItsOwn + `))`)
	})
)

// steerLine returns the line that contains a message for a running turn. The client
// encloses the message in a frame, <system-reminder>, and joins its blocks with newlines.
// If a tag would close the frame or prevent the client from repeating the line, steerLine
// inserts a backslash after its <. It makes no other changes.
func steerLine(s runner.Steer) []byte {
	return userLine(s.UUID, steerTags().ReplaceAllString(s.Prompt, `<\$1`))
}

// content splits a prompt into blocks so that the client does not interpret text from other
// people. Claude Code 2.1.197 interprets only the last block of a prompt, or all of a
// prompt that is a plain string. It recognizes a command at the beginning of that text.
// Anywhere in that text, it recognizes files to read (@name), agents to ask (@agent-name)
// and words that change its behavior (ultrathink). So the last paragraph, which is ours, is
// a separate block. A prompt that consists of one paragraph can be a command. A tag that
// the client would mistake for its own is split across two blocks.
//
// The concatenated blocks are identical to the prompt.
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
