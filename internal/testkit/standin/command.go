package standin

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
)

// errCommand ends a turn without a request to the model.
var errCommand = errors.New("answered without a model")

// slashWord matches a prompt that the real program treats as a command. A path is not a
// command, nor is a word that follows a space.
var slashWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/[A-Za-z][A-Za-z0-9_:-]*(\s|$)`) })

func slashCommand(text string) (string, bool) {
	word := slashWord().FindString(text)
	return strings.TrimSpace(word), word != ""
}

// slash handles a prompt that begins with a slash. The newer version passes an unknown
// command to the model.
func (t *turn) slash(ctx context.Context, name string) error {
	c := t.c
	least := 2
	if !c.release.old() {
		least = 1
		t.command = strings.TrimPrefix(name, "/")
	}
	switch name {
	case "/compact":
		if c.sess.turns < least {
			c.status("compacting", "", "")
			c.status("", "failed", tooShort)
			c.printInit()
			c.synthetic(tooShort, nil)
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
		c.id.Store(&c.sess.id)
		if c.release.old() {
			c.printInit()
			c.synthetic("", nil)
			break
		}
		c.cap.before = 0
		c.cost, c.apiTime, c.models = 0, 0, map[string]*modelUsage{}
		c.out.line(&resetLine{
			Type: "conversation_reset", ID: c.sess.id, Trigger: "clear", Prompt: t.prompt.uuid, Timestamp: timestamp(),
			UUID: c.sess.id, SessionID: c.sess.id,
		})
		c.printInit()
	default:
		c.printInit()
		t.said = "Unknown command: " + name
		c.synthetic(t.said, nil)
	}
	return errCommand
}

const tooShort = "Not enough messages to compact."
