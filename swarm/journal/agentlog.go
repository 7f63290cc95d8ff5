package journal

import (
	"fmt"
	"io"
	"strings"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/tokens"
)

// maxLogLine bounds the text that one event adds to an agent's log, in bytes; the turn's
// stream has the whole text.
const maxLogLine = 8 << 10

// AgentLog is an agent's readable log. It has an entry for each thing that the agent says
// or does, with the time, the agent and the message. All lines of an entry except the
// first are indented. AgentLog also passes each entry to told. It is safe for concurrent
// use.
type AgentLog struct {
	agent string
	out   io.WriteCloser
	told  func(at time.Time, id, entry string) // called with each entry
	now   func() time.Time
	fail  func(error)
	// secrets are kept out of every line; nil means no secrets.
	secrets *tokens.Source
}

func OpenAgentLog(home Home, agent string, p LogPolicy, told func(at time.Time, id, entry string), fail func(error)) *AgentLog {
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
	return &AgentLog{agent: agent, out: out, told: told, now: time.Now, fail: fail, secrets: home.Secrets()}
}

// Line writes one entry about a message.
func (d *AgentLog) Line(id, text string) {
	text = d.secrets.Redactor().Text(text)
	if len(text) > maxLogLine {
		text = strings.ToValidUTF8(text[:maxLogLine], "") + fmt.Sprintf(" … (%d bytes in all)", len(text))
	}
	now := d.now()
	text = strings.ReplaceAll(screen.Plain(strings.TrimRight(text, "\n")), "\n", "\n    ")
	entry := fmt.Sprintf("%s %s %s  %s\n", now.Format(time.TimeOnly), d.agent, orDash(id), text)
	if _, err := io.WriteString(d.out, entry); err != nil {
		d.fail(fmt.Errorf("log of %s: %w", d.agent, err))
	}
	d.told(now.UTC(), id, entry)
}

// Close closes the file; the next call of Line opens it again. So an idle agent keeps no
// file open.
func (d *AgentLog) Close() {
	if err := d.out.Close(); err != nil {
		d.fail(err)
	}
}

// LogPolicy bounds the log of each agent and the kept streams of its turns.
// Zero values mean 20 MB, 5 backups and 30 days.
type LogPolicy struct {
	MaxSizeMB, MaxBackups, MaxAgeDays int
}
