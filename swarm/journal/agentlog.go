package journal

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/tokens"
)

// maxLogLine is the maximum size, in bytes, of the text that one event adds to an agent's
// log. The turn's stream contains the whole text.
const maxLogLine = 8 << 10

// AgentLog is an agent's human-readable log. Each entry records one thing that the agent
// said or did, with the time, the agent and the message. All lines of an entry except the
// first are indented. AgentLog also passes each entry to told. It is safe for concurrent
// use.
type AgentLog struct {
	agent string
	out   io.WriteCloser
	told  func(at time.Time, id, entry string) // called with each entry
	now   func() time.Time
	fail  func(error)
	check func() error // see [Home.Checked]; may be nil
	// secrets contains the secrets that are removed from every line; nil means no
	// secrets.
	secrets *tokens.Source
}

func OpenAgentLog(home Home, agent string, p LogPolicy, told func(at time.Time, id, entry string), fail func(error)) *AgentLog {
	return &AgentLog{agent: agent, out: p.open(home.AgentLog(agent)), told: told, now: time.Now, fail: fail, check: home.check, secrets: home.Secrets()}
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
	if err := d.write(entry); err != nil {
		d.fail(fmt.Errorf("log of %s: %w", d.agent, err))
	}
	d.told(now.UTC(), id, entry)
}

// write appends an entry to the file. If the project was moved, it writes nothing, because
// opening the file would create the folders at the old path again.
func (d *AgentLog) write(entry string) error {
	if d.check != nil {
		if err := d.check(); err != nil {
			return err
		}
	}
	_, err := io.WriteString(d.out, entry)
	return err
}

// Close closes the file, so that an idle agent keeps no file open. The next call to Line
// reopens it.
func (d *AgentLog) Close() {
	if err := d.out.Close(); err != nil {
		d.fail(err)
	}
}

// LogPolicy limits each agent's log, and how long the streams of its turns are kept. Zero
// values mean 20 MB, 5 backups and 30 days. The tags are those of the configuration's keys.
type LogPolicy struct {
	MaxSizeMB  int `key:"max_size_mb" default:"20" doc:"The log of an agent is rotated when it reaches this size, in MB."`
	MaxBackups int `key:"max_backups" default:"5" doc:"How many rotated logs are kept for each agent."`
	MaxAgeDays int `key:"max_age_days" default:"30" doc:"Rotated logs and the recorded streams of turns are removed after this many days."`

	// Open opens an agent's log; nil means a file that is rotated according to the other
	// fields. Only tests set this field, because the rotation starts a goroutine that never
	// ends.
	Open func(path string) io.WriteCloser
}

func (p LogPolicy) open(path string) io.WriteCloser {
	if p.Open != nil {
		return p.Open(path)
	}
	return &lumberjack.Logger{
		Filename: path, MaxSize: cmp.Or(p.MaxSizeMB, 20), MaxBackups: cmp.Or(p.MaxBackups, 5), MaxAge: cmp.Or(p.MaxAgeDays, 30),
	}
}
