package swarm

import (
	"fmt"
	"io"
	"strings"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/tokens"
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
	told  func(at time.Time, id, entry string) // who listens to each entry
	now   func() time.Time
	fail  func(error)
	// secrets may stand in no line; nil knows none.
	secrets *tokens.Source
}

func newDiary(home Home, agent string, p LogPolicy, told func(at time.Time, id, entry string), fail func(error)) *diary {
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
	return &diary{agent: agent, out: out, told: told, now: time.Now, fail: fail, secrets: home.Secrets()}
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
	d.told(now.UTC(), id, entry)
}

// close lets the file go; the next line opens it again. An idle agent holds no
// file open.
func (d *diary) close() {
	if err := d.out.Close(); err != nil {
		d.fail(err)
	}
}
