package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/fatih/color"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// demoAgents are the agents whose logs the timeline shows.
var demoAgents = []string{"coder", "reviewer"}

// A timeline shows the events on a stage as they happen: each delivered message and each new
// line in an agent's log. It reads the events from files, as any other program can.
type timeline struct {
	s     *stage
	from  time.Time
	seen  map[string]bool  // ids of the messages that were already shown
	read  map[string]int64 // number of bytes read from each log
	wrong []string         // lines that report failures
}

func newTimeline(s *stage) *timeline {
	return &timeline{s: s, from: time.Now(), seen: map[string]bool{}, read: map[string]int64{}}
}

// follow calls look repeatedly until ctx is done.
func (t *timeline) follow(ctx context.Context) {
	every := time.NewTicker(100 * time.Millisecond)
	defer every.Stop()
	for {
		t.look()
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
	}
}

// look prints the new events: first the messages from the lead, then the agents' log
// entries, then all other messages. It uses this order because the true order of the events
// is unknown.
func (t *timeline) look() {
	t.messages(func(m *dropbox.Message) bool { return m.From == dropbox.Lead })
	for _, name := range demoAgents {
		t.log(name)
	}
	t.messages(func(*dropbox.Message) bool { return true })
}

// messages prints a line for each new message that the given function accepts.
func (t *timeline) messages(which func(*dropbox.Message) bool) {
	file, err := config.Load(t.s.path(config.Name))
	if err != nil {
		return
	}
	store, err := dropbox.Open(file.DeadDropDir, dropbox.Options{})
	if err != nil {
		return
	}
	defer store.Close()
	err = store.Walk(func(_ dropbox.Found, m *dropbox.Message) bool {
		if !t.seen[m.ID] && which(m) {
			t.seen[m.ID] = true
			t.entry(m.From, fmt.Sprintf("→ %s: %s %s", strings.Join(m.To, ", "), m.Type, m.ID), color.Bold)
		}
		return true
	})
	if err != nil {
		t.wrong = append(t.wrong, err.Error())
	}
}

// log prints the new entries in an agent's log.
func (t *timeline) log(agent string) {
	f, err := os.Open(journal.HomeOf(t.s.path("")).AgentLog(agent))
	if errors.Is(err, fs.ErrNotExist) {
		return
	} else if err != nil {
		t.wrong = append(t.wrong, err.Error())
		return
	}
	defer f.Close()
	var data bytes.Buffer
	if _, err := f.Seek(t.read[agent], 0); err == nil {
		_, err = data.ReadFrom(f)
		if err != nil {
			t.wrong = append(t.wrong, err.Error())
		}
	}
	whole := bytes.LastIndexByte(data.Bytes(), '\n') + 1
	t.read[agent] += int64(whole)
	for _, text := range logEntries(string(data.Bytes()[:whole])) {
		if begun().MatchString(text) {
			continue // the message itself was already shown
		}
		t.entry(agent, strings.ReplaceAll(text, t.s.path("")+string(os.PathSeparator), ""))
	}
}

// begun returns a regular expression for the log line that reports the beginning of a
// turn.
var begun = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^= [a-z]+ from `) })

// logEntries returns the text of each entry in a log. In the log, the continuation lines of
// an entry are indented. logEntries appends them to the text of the entry.
func logEntries(log string) []string {
	var out []string
	for line := range strings.Lines(log) {
		line = strings.TrimSuffix(line, "\n")
		if more, ok := strings.CutPrefix(line, "    "); ok && len(out) > 0 {
			out[len(out)-1] += "\n" + more
			continue
		}
		// The first line of an entry is TIME AGENT ID, two spaces, and the text.
		if _, text, ok := strings.Cut(line, "  "); ok {
			out = append(out, text)
		}
	}
	return out
}

// entry prints one entry of the timeline. It indents all lines of the text after the
// first.
func (t *timeline) entry(who, text string, attrs ...color.Attribute) {
	if strings.HasPrefix(text, "✗") || strings.HasPrefix(text, "= failed") {
		t.wrong = append(t.wrong, who+": "+text)
	}
	const margin = 20
	switch {
	case strings.HasPrefix(text, "$ "):
		text = screen.Cut(screen.OneLine(text), width-margin)
	default:
		text = screen.Wrap(screen.Plain(text), width-margin)
	}
	first, rest, more := strings.Cut(text, "\n")
	name := t.s.pal.paint(fmt.Sprintf("%-9s", who), agentColour(who))
	t.s.say("%6.1f s  %s %s\n", time.Since(t.from).Seconds(), name, t.s.pal.paint(first, attrs...))
	if more {
		t.s.say("%s\n", indent(rest, strings.Repeat(" ", margin)))
	}
}

// failures returns the last lines that report failures, at most three, in parentheses.
// The caller appends the result to the text of an error.
func (t *timeline) failures() string {
	if len(t.wrong) == 0 {
		return ""
	}
	return " (" + screen.Cut(screen.OneLine(strings.Join(t.wrong[max(0, len(t.wrong)-3):], "; ")), 300) + ")"
}
