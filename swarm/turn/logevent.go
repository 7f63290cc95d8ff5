package turn

import (
	"fmt"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/window"
)

// logged is the sink for the agent's log.
type logged struct {
	log     *journal.AgentLog
	message string // id
	tools   runner.Tools
}

func (l logged) event(ev *streamjson.Event) { logEvent(l.log, l.message, l.tools, ev) }

// logEvent adds the text, tool calls, failed tool results, compactions and retries of an
// event to the agent's log.
func logEvent(d *journal.AgentLog, id string, tools runner.Tools, ev *streamjson.Event) {
	sub := ""
	if ev.Parent != "" {
		sub = "  "
	}
	switch ev.Kind {
	case streamjson.KindAssistant:
		for _, b := range ev.Blocks {
			switch b.Kind {
			case streamjson.BlockText:
				d.Line(id, sub+b.Text)
			case streamjson.BlockToolUse:
				d.Line(id, sub+strings.ReplaceAll(window.CallText(b.Name, tools.About(b.Name, b.Input), b.Input), "\n", " "))
			}
		}
	case streamjson.KindUser:
		for _, b := range ev.Blocks {
			if b.Kind == streamjson.BlockToolResult && b.Failed {
				d.Line(id, sub+"✗ "+screen.Short(b.Text, 200))
			}
		}
	case streamjson.KindCompact:
		if ev.Compact != nil {
			d.Line(id, fmt.Sprintf("= compacted, %d tokens before", ev.Compact.Pre))
		}
	case streamjson.KindRetry:
		if r := ev.Retry; r != nil {
			d.Line(id, fmt.Sprintf("= the API answered %s, retry %d of %d in %.0f s", retryCause(r), r.Attempt, r.Max, r.Delay.Seconds()))
		}
	}
}

func retryCause(r *streamjson.Retry) string {
	switch {
	case r.Status != 0 && r.Error != "":
		return fmt.Sprintf("%d %s", r.Status, r.Error)
	case r.Status != 0:
		return fmt.Sprint(r.Status)
	}
	return "nothing"
}

// maxBadLogged is the maximum number of lines of one turn that the log quotes although
// they are not messages. A client that logs to its output may print thousands.
const maxBadLogged = 3

// unreadable is the sink for lines that are not messages, which the log quotes. Such a line
// explains a turn that waits in vain: it may contain the end of an answer.
type unreadable struct {
	log     *journal.AgentLog
	message string // id
	n       int    // number of such lines
}

func (u *unreadable) event(ev *streamjson.Event) {
	if ev.Kind != streamjson.KindBad {
		return
	}
	u.n++
	switch {
	case u.n > maxBadLogged+1:
	case u.n > maxBadLogged:
		u.log.Line(u.message, "= it prints more such lines, which are not logged")
	case ev.Lost > 0:
		u.log.Line(u.message, fmt.Sprintf("= the client printed a line of %s bytes, which is too long: %s",
			screen.Thousands(len(ev.Raw)+int(ev.Lost)), screen.Short(string(ev.Raw), 120)))
	default:
		u.log.Line(u.message, "= the client printed text that is not a message: "+screen.Short(string(ev.Raw), 120))
	}
}
