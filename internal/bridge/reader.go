package bridge

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// A Reader reads the buffers of the channels. It does not need a running bridge, because
// it reads files. Several readers can read at the same time, even in different processes.
// Two readers with the same Name may get the same lines.
type Reader struct {
	Dir  string // the bridge's folder; see [Folder]
	Name string // the owner of the marks: an agent's name, or lead
	Size int    // how many lines of a channel are shown; 0 means 500
	// Own are the channels that an agent should read; an empty list means all channels.
	Own []string
}

// A Reading contains the new lines of a channel.
type Reading struct {
	Lines   []Line // oldest first
	Dropped int    // how many unread lines were dropped because the channel keeps a limited number of lines
	Left    int    // how many more new lines there are
}

// New returns up to limit lines that this reader has not received yet, and moves the
// reader's mark past them; limit 0 means all. If a channel has no buffer, New returns no
// lines.
func (r Reader) New(channel string, limit int) (Reading, error) {
	lines, err := r.lines(channel)
	if err != nil {
		return Reading{}, err
	}
	marks, err := r.marks()
	if err != nil {
		return Reading{}, err
	}
	name := fileName(channel)
	mark := marks[name]
	if err := r.looked(); err != nil || len(lines) == 0 {
		return Reading{}, err
	}
	if mark > lines[len(lines)-1].N {
		mark = 0 // the channel's file was deleted, so its numbers start from 1 again
	}
	var got Reading
	if first := lines[0].N; first > mark+1 {
		got.Dropped = int(first - mark - 1)
	}
	from, _ := slices.BinarySearchFunc(lines, mark+1, func(l Line, n int64) int { return int(l.N - n) })
	got.Lines = lines[from:]
	if limit > 0 && len(got.Lines) > limit {
		got.Left = len(got.Lines) - limit
		got.Lines = got.Lines[:limit]
	}
	if len(got.Lines) == 0 {
		return got, nil
	}
	marks[name] = got.Lines[len(got.Lines)-1].N
	return got, r.mark(marks)
}

// Recent returns the lines of a channel that are newer than since, newest first. It
// returns at most limit lines; limit 0 means all. It does not move the reader's mark.
func (r Reader) Recent(channel string, since time.Time, limit int) ([]Line, error) {
	lines, err := r.lines(channel)
	if err == nil {
		err = r.looked()
	}
	if err != nil {
		return nil, err
	}
	slices.Reverse(lines)
	lines = slices.DeleteFunc(lines, func(l Line) bool { return !l.At.After(since) })
	if limit > 0 && len(lines) > limit {
		lines = lines[:limit]
	}
	return lines, nil
}

// Unread counts the new lines of every channel with a buffer.
func (r Reader) Unread() (map[string]int, error) {
	last, err := r.channels()
	if err != nil {
		return nil, err
	}
	marks, err := r.marks()
	if err != nil {
		return nil, err
	}
	unread := make(map[string]int, len(last))
	for name, l := range last {
		mark := marks[name]
		if mark > l.N {
			mark = 0
		}
		unread[l.Channel] = int(min(l.N-mark, int64(l.kept)))
	}
	return unread, nil
}

// Newest returns the newest line of every channel and person with a buffer.
func (r Reader) Newest() ([]Line, error) {
	last, err := r.channels()
	if err != nil {
		return nil, err
	}
	var lines []Line
	for _, l := range last {
		lines = append(lines, l.Line)
	}
	return lines, nil
}

// A lastLine is the newest line of a channel, together with the number of lines that the
// channel's buffer keeps.
type lastLine struct {
	Line
	kept int
}

// channels returns the newest line of each channel, by the channel's file name.
func (r Reader) channels() (map[string]lastLine, error) {
	dir := filepath.Join(r.Dir, "buffer")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the buffers: %w", err)
	}
	last := make(map[string]lastLine)
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if !ok {
			continue
		}
		lines, err := readLines(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the buffers: %w", err)
		}
		if lines = r.shown(lines); len(lines) > 0 {
			last[name] = lastLine{lines[len(lines)-1], len(lines)}
		}
	}
	return last, nil
}

func (r Reader) lines(channel string) ([]Line, error) {
	lines, err := readLines(bufferFile(r.Dir, channel))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", channel, err)
	}
	return r.shown(lines), nil
}

func (r Reader) shown(lines []Line) []Line {
	lines = slices.DeleteFunc(lines, func(l Line) bool { return l.N == 0 })
	size := r.Size
	if size <= 0 {
		size = DefaultBufferSize
	}
	return lines[max(0, len(lines)-size):]
}

func (r Reader) marksFile() string {
	return filepath.Join(r.Dir, "marks", fileName(r.Name)+".json")
}

// marks returns how far this reader has read in each channel, by the channel's file name. If
// the file is missing or damaged, every line counts as new.
func (r Reader) marks() (map[string]int64, error) {
	marks := map[string]int64{}
	if err := durable.IgnoreDamage(durable.ReadJSON(r.marksFile(), &marks)); err != nil {
		return nil, fmt.Errorf("read the marks of %s: %w", r.Name, err)
	}
	if marks == nil { // the file contains null
		marks = map[string]int64{}
	}
	return marks, nil
}

func (r Reader) mark(marks map[string]int64) error {
	if err := writeSmall(r.marksFile(), marks); err != nil {
		return fmt.Errorf("mark what %s has read: %w", r.Name, err)
	}
	return nil
}

// bridge returns the name of the bridge, as people and agents type it.
func (r Reader) bridge() string { return filepath.Base(r.Dir) }
