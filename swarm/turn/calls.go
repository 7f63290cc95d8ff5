package turn

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// toolCalls is the sink for the tool calls that can write files.
type toolCalls struct {
	turns *Turns
	rec   *journal.Record
	tools runner.Tools
	dir   string // the client's working directory
}

func (c toolCalls) event(ev *streamjson.Event) {
	switch ev.Kind {
	case streamjson.KindAssistant:
		for _, b := range ev.Blocks {
			if b.Kind != streamjson.BlockToolUse {
				continue
			}
			// A file written by a sub-agent counts as written by the agent.
			c.noteFile(b.Name, b.Input)
			if !c.tools.Looks(b.Name, b.Input) {
				c.turns.Calls.Began(c.rec, b.ID, b.Input, outlives(c.tools.Runs(b.Name, b.Input), b.Input))
			}
		}
	case streamjson.KindUser:
		for _, b := range ev.Blocks {
			if b.Kind == streamjson.BlockToolResult {
				c.turns.Calls.Ended(c.turns.name, b.ID)
			}
		}
	}
}

// background matches a command line that leaves a program running.
var background = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[^&>|])&([^&>]|$)|\b(nohup|setsid|disown)\b`)
})

// outlives reports whether a call may leave a program running when it has ended.
func outlives(command string, input []byte) bool {
	return bytes.Contains(input, []byte(`"run_in_background":true`)) || background().MatchString(command)
}

// noteFile records the file that a tool call is about to write, if it is in the mailbox's
// folder.
func (c toolCalls) noteFile(tool string, input []byte) {
	path := c.tools.Changes(tool, input)
	if path == "" {
		return
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.dir, path)
	}
	dir, name := filepath.Split(filepath.Clean(path))
	if sameFolder(strings.TrimSuffix(dir, "/"), filepath.Join(c.turns.Mailboxes, c.turns.name)) {
		c.turns.Runs.noteFile(name)
	}
}

// sameFolder reports whether two paths refer to the same folder, even if one of them
// contains a symlink.
func sameFolder(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}
