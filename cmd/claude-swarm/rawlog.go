package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// rawLog prints the event stream of the agent's latest turn. With -f, it follows that
// stream and the streams of later turns.
func rawLog(c *cli.Context, p *project, agent string) error {
	s := &rawStream{out: c.App.Writer, turns: &turnFiles{home: p.home, agent: agent, seen: map[string]bool{}}}
	defer func() { s.tail.close() }() // a close error does not matter, because the file was only read
	found, err := s.begin(c.Int("n"))
	switch {
	case err != nil:
		return err
	case c.Bool("f"):
		return follow(c, swarm.Filter{Agent: agent}, func(swarm.FeedEvent) {}, s.more)
	case !found:
		fmt.Fprintf(c.App.ErrWriter, "no turn of %s is kept\n", agent)
	}
	return nil
}

// A rawStream prints the event streams of an agent's turns one after another.
type rawStream struct {
	out   io.Writer
	turns *turnFiles
	tail  tail // the stream that is being printed
}

// begin prints the last n lines of the latest turn. It reports whether it found a turn.
func (s *rawStream) begin(n int) (found bool, err error) {
	list, err := s.turns.next()
	if err != nil || len(list) == 0 {
		return false, err
	}
	newest := list[len(list)-1]
	t, lines, err := openTail(newest.path, newest.from, n)
	if err != nil {
		return true, err
	}
	s.tail = *t
	_, err = s.out.Write(lines)
	return true, err
}

// more prints the lines that were added to the current stream since the last call, and
// then the lines of each turn that has begun in the meantime.
func (s *rawStream) more() error {
	// Find new turns first, because the file of the current turn is complete if a later
	// turn has begun.
	list, err := s.turns.next()
	if err != nil {
		return err
	}
	if err := s.print(); err != nil {
		return err
	}
	for _, next := range list {
		if next.path == s.tail.path {
			continue // a warm client continues in the same file
		}
		if err := s.tail.close(); err != nil {
			return err
		}
		s.tail = tail{path: next.path}
		if err := s.print(); err != nil {
			return err
		}
	}
	return nil
}

// print prints the new lines in the current stream.
func (s *rawStream) print() error {
	if s.tail.path == "" {
		return nil
	}
	lines, err := s.tail.more()
	if err != nil {
		return err
	}
	_, err = s.out.Write(lines)
	return err
}

// turnFiles finds the event streams of an agent's turns. It reads the record of each turn
// only once.
type turnFiles struct {
	home  journal.Home
	agent string
	seen  map[string]bool
}

// A turnFile is the location of a turn's events.
type turnFile struct {
	path  string // the stream
	from  int64  // the offset in the stream at which the turn begins
	begun time.Time
}

// next returns the turns that have begun since the last call, ordered by their start
// times.
func (f *turnFiles) next() (list []turnFile, err error) {
	files, err := os.ReadDir(f.home.Turns())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, file := range files {
		name := file.Name()
		if f.seen[name] || filepath.Ext(name) != ".json" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(f.home.Turns(), name))
		if err != nil {
			continue // another process has removed the file in the meantime
		}
		var rec struct {
			Turn, Client, Agent string
			From                runner.Place
			Begun               time.Time
		}
		if json.Unmarshal(data, &rec) != nil {
			continue
		}
		f.seen[name] = true
		if rec.Agent == f.agent {
			list = append(list, turnFile{f.home.Stream(cmp.Or(rec.Client, rec.Turn)), rec.From.Offset, rec.Begun})
		}
	}
	slices.SortStableFunc(list, func(a, b turnFile) int { return a.begun.Compare(b.begun) })
	return list, nil
}
