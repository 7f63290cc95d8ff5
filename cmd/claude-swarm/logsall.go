package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// allLogs follows the logs of all agents, including removed agents and agents that are
// added while it runs.
type allLogs struct {
	dir   string // the logs folder
	tails map[string]*tail
}

// A logEntry is a line of a log together with the indented lines after it. The field at
// includes the date, but the line itself contains only the time of day.
type logEntry struct {
	at   time.Time
	text []byte
}

// readableLogs prints the entries of all agents' logs in chronological order.
func readableLogs(c *cli.Context, p *project) error {
	all := &allLogs{dir: filepath.Dir(p.home.AgentLog("")), tails: map[string]*tail{}}
	defer all.close()
	n := c.Int("n")
	entries, err := all.read(func(path string) (*tail, []byte, error) { return openEntries(path, n) })
	if err != nil {
		return err
	}
	out := &logPrinter{w: c.App.Writer, live: isTerminal(c.App.Writer), p: paletteOf(c.App.Writer)}
	out.lines(lastOf(entries, n))
	if !c.Bool("f") {
		if len(all.tails) == 0 {
			fmt.Fprintln(c.App.ErrWriter, "no agent has done anything yet")
		}
		return nil
	}
	return follow(c, swarm.Filter{}, func(swarm.FeedEvent) {}, func() error {
		entries, err := all.read(func(path string) (*tail, []byte, error) { return &tail{path: path}, nil, nil })
		for _, e := range entries {
			out.lines(e.text)
		}
		return err
	})
}

// read returns the new entries of all logs in chronological order. It calls open for each
// new log. The function open may also return some of the lines that are already in the
// log.
func (a *allLogs) read(open func(path string) (*tail, []byte, error)) ([]logEntry, error) {
	files, err := os.ReadDir(a.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []logEntry
	for _, file := range files {
		agent, isLog := strings.CutSuffix(file.Name(), ".log")
		if !isLog || dropbox.CheckAgent(agent) != nil { // skips rotated logs
			continue
		}
		path, last := filepath.Join(a.dir, file.Name()), time.Now()
		if info, err := file.Info(); err == nil {
			last = info.ModTime()
		}
		t, lines := a.tails[agent], []byte(nil)
		if t == nil {
			if t, lines, err = open(path); err != nil {
				return nil, err
			}
			a.tails[agent] = t
		}
		added, err := t.more()
		if err != nil {
			return nil, err
		}
		all = append(all, dated(append(lines, added...), last)...)
	}
	slices.SortStableFunc(all, func(a, b logEntry) int { return a.at.Compare(b.at) })
	return all, nil
}

// openEntries is like openTail, but its lines begin with the first line of an entry, so it
// can return more than n lines.
func openEntries(path string, n int) (*tail, []byte, error) {
	for {
		t, lines, err := openTail(path, 0, n)
		if err != nil || !bytes.HasPrefix(lines, []byte(logIndent)) || bytes.Count(lines, []byte("\n")) < n {
			return t, lines, err
		}
		if err := t.close(); err != nil {
			return nil, nil, err
		}
		n *= 2
	}
}

func (a *allLogs) close() {
	for _, t := range a.tails {
		t.close()
	}
}

// dated returns the entries of a log with their dates. The argument last is the time of
// the last entry. If an entry's time of day is later than the next entry's, dated
// assumes that the entry is from the previous day.
func dated(lines []byte, last time.Time) []logEntry {
	var all []logEntry
	for _, text := range entriesIn(lines) {
		all = append(all, logEntry{text: text})
	}
	at := last.Local()
	for i := len(all) - 1; i >= 0; i-- {
		word, _, _ := bytes.Cut(all[i].text, []byte(" "))
		if day, err := time.ParseInLocation(time.TimeOnly, string(word), time.Local); err == nil {
			hour, minute, second := day.Clock()
			then := time.Date(at.Year(), at.Month(), at.Day(), hour, minute, second, 0, time.Local)
			if then.After(at) {
				then = then.AddDate(0, 0, -1)
			}
			at = then
		}
		all[i].at = at
	}
	return all
}

// entriesIn splits the lines of a log into entries. Each entry is a line together with the
// indented lines after it.
func entriesIn(lines []byte) (all [][]byte) {
	for len(lines) > 0 {
		end := bytes.IndexByte(lines, '\n') + 1
		for bytes.HasPrefix(lines[end:], []byte(logIndent)) {
			end += bytes.IndexByte(lines[end:], '\n') + 1
		}
		all = append(all, lines[:end])
		lines = lines[end:]
	}
	return all
}

// lastOf returns the last n lines of entries.
func lastOf(entries []logEntry, n int) []byte {
	var lines []byte
	for _, e := range entries {
		lines = append(lines, e.text...)
	}
	for extra := bytes.Count(lines, []byte("\n")) - n; extra > 0; extra-- {
		lines = lines[bytes.IndexByte(lines, '\n')+1:]
	}
	return lines
}
