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

// rawLog prints the event stream of the agent's newest turn. With -f it continues with that
// stream and with the streams of later turns.
func rawLog(c *cli.Context, p *project, agent string) error {
	s := &rawStream{out: c.App.Writer, turns: &turnFiles{home: p.home, agent: agent, seen: map[string]bool{}}}
	defer func() { s.tail.close() }() // the file was only read
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

// A rawStream prints the event streams of an agent's turns, one after the other.
type rawStream struct {
	out   io.Writer
	turns *turnFiles
	tail  tail // the stream that is being printed
}

// begin prints the last n lines of the newest turn. It reports whether there is a turn.
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

// more prints the lines that were added since the last call, and then those of each turn
// that has begun since.
func (s *rawStream) more() error {
	// Look for new turns first: if there is one, the turn before it has ended, and its file
	// is complete.
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

// print prints the new lines of the current stream.
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

// turnFiles finds the streams of an agent's turns. It reads each turn's record once.
type turnFiles struct {
	home  journal.Home
	agent string
	seen  map[string]bool
}

// A turnFile says where the events of a turn are.
type turnFile struct {
	path  string // the stream
	from  int64  // the offset in it at which the turn begins
	begun time.Time
}

// next returns the turns that began after the last call, in the order in which they began.
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
			continue // the file has just been rotated
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
