package swarm

import (
	"fmt"
	"io"
	"strings"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/tokens"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/window"
)

// maxDiaryLine bounds what one event adds to an agent's log, in bytes; the whole
// stands in the stream of the turn.
const maxDiaryLine = 8 << 10

// diary is an agent's readable log: a line per thing said or done, with the
// time, the agent and the message; further lines of one text are indented.
// What is written is also published to whoever listens. It belongs to the
// agent's goroutine.
type diary struct {
	agent string
	out   io.WriteCloser
	feed  *feed
	now   func() time.Time
	fail  func(error)
	// secrets may stand in no line; nil knows none.
	secrets *tokens.Source
}

func newDiary(home Home, agent string, p LogPolicy, f *feed, fail func(error)) *diary {
	out := &lumberjack.Logger{Filename: home.AgentLog(agent), MaxSize: p.MaxSizeMB, MaxBackups: p.MaxBackups, MaxAge: p.MaxAgeDays}
	if out.MaxSize == 0 {
		out.MaxSize = 20
	}
	if out.MaxBackups == 0 {
		out.MaxBackups = 5
	}
	if out.MaxAge == 0 {
		out.MaxAge = 30
	}
	return &diary{agent: agent, out: out, feed: f, now: time.Now, fail: fail, secrets: home.Secrets()}
}

// line writes one entry about a message.
func (d *diary) line(id, text string) {
	text = d.secrets.Redactor().Text(text)
	if len(text) > maxDiaryLine {
		text = strings.ToValidUTF8(text[:maxDiaryLine], "") + fmt.Sprintf(" … (%d bytes in all)", len(text))
	}
	now := d.now()
	text = strings.ReplaceAll(screen.Plain(strings.TrimRight(text, "\n")), "\n", "\n    ")
	entry := fmt.Sprintf("%s %s %s  %s\n", now.Format(time.TimeOnly), d.agent, orDash(id), text)
	if _, err := io.WriteString(d.out, entry); err != nil {
		d.fail(fmt.Errorf("log of %s: %w", d.agent, err))
	}
	d.feed.publish(FeedEvent{Kind: FeedLine, At: now.UTC(), Agent: d.agent, ID: id, Text: entry})
}

// close lets the file go; the next line opens it again. An idle agent holds no
// file open.
func (d *diary) close() {
	if err := d.out.Close(); err != nil {
		d.fail(err)
	}
}

// event writes what an event is worth telling.
func (d *diary) event(id string, tools runner.Tools, ev *streamjson.Event) {
	sub := ""
	if ev.Parent != "" {
		sub = "  "
	}
	switch ev.Kind {
	case streamjson.KindAssistant:
		for _, b := range ev.Blocks {
			switch b.Kind {
			case streamjson.BlockText:
				d.line(id, sub+b.Text)
			case streamjson.BlockToolUse:
				d.line(id, sub+strings.ReplaceAll(window.CallText(b.Name, tools.About(b.Name, b.Input), b.Input), "\n", " "))
			}
		}
	case streamjson.KindUser:
		for _, b := range ev.Blocks {
			if b.Kind == streamjson.BlockToolResult && b.Failed {
				d.line(id, sub+"✗ "+screen.Short(b.Text, 200))
			}
		}
	case streamjson.KindCompact:
		if ev.Compact != nil {
			d.line(id, fmt.Sprintf("= compacted, %d tokens before", ev.Compact.Pre))
		}
	case streamjson.KindRetry:
		if r := ev.Retry; r != nil {
			d.line(id, fmt.Sprintf("= the API answered %s, retry %d of %d in %.0f s", retryCause(r), r.Attempt, r.Max, r.Delay.Seconds()))
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
