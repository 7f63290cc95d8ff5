package standin

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
)

// errCommand ends a turn in which no model was asked.
var errCommand = errors.New("answered without a model")

// slashWord is what the real program takes for a command: a prompt that begins
// with one. A path is none, nor is anything after a space.
var slashWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/[A-Za-z][A-Za-z0-9_:-]*(\s|$)`) })

func slashCommand(text string) (string, bool) {
	word := slashWord().FindString(text)
	return strings.TrimSpace(word), word != ""
}

// command answers a prompt that begins with a slash.
func (t *turn) command(ctx context.Context, name string) error {
	c := t.c
	switch name {
	case "/compact":
		if c.sess.turns < 2 {
			c.status("compacting", "", "")
			c.status("", "failed", tooShort)
			c.printInit()
			c.synthetic(tooShort, "")
			t.said = tooShort
			return errCommand
		}
		if err := c.compact(ctx, "manual"); err != nil {
			return err
		}
		c.out.line(&userLine{
			Type: "user", Message: message{Role: "user", Content: encode("<local-command-stdout>Compacted </local-command-stdout>")},
			SessionID: c.sess.id, UUID: newUUID(), Timestamp: timestamp(), IsReplay: new(true),
		})
	case "/clear":
		if c.sess.file != nil {
			c.sess.file.Close()
		}
		kept := c.sess.path != ""
		c.sess = newSession(newUUID(), sessionDir(c.getenv, c.cwd))
		if !kept {
			c.sess.path = ""
		}
		c.printInit()
		c.synthetic("", "")
	default:
		c.printInit()
		t.said = "Unknown command: " + name
		c.synthetic(t.said, "")
	}
	return errCommand
}

const tooShort = "Not enough messages to compact."
