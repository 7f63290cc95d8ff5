package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/durable"
)

const (
	newFile = "events.jsonl"
	oldFile = "events.old.jsonl"

	// maxSize is the size, in bytes, at which a new file is started. Together the two
	// files have room for about ten thousand turns.
	maxSize = 4 << 20
	// someLines is the size, in bytes, of the part at the end of a file that nearly always
	// contains the last event.
	someLines = 8 << 10
)

// Events is the event list of one project. It is safe for concurrent use, even by
// several processes. It does not need to be closed.
type Events struct {
	dir     string
	files   durable.Files
	hide    func([]byte) []byte
	maxSize int64
}

// Open returns the list in a folder, which must exist by the time the list is used. hide
// removes secrets from a line; it may be nil.
func Open(dir string, files durable.Files, hide func([]byte) []byte) *Events {
	return &Events{dir: dir, files: files, hide: hide, maxSize: maxSize}
}

// locked holds the lock on the list while f runs.
func (e *Events) locked(f func() error) error {
	return whileLocked(filepath.Join(e.dir, "events.lock"), f)
}

// Add appends an event to the list. It sets the event's number, and its time if the time
// is zero. The event is durable when Add returns nil.
func (e *Events) Add(ev Event) error {
	err := e.locked(func() error { return e.add(ev) })
	if err != nil {
		return fmt.Errorf("event list: %w", err)
	}
	return nil
}

func (e *Events) add(ev Event) error {
	last, size, err := e.end()
	if err != nil {
		return err
	}
	if size >= e.maxSize {
		if err := os.Rename(filepath.Join(e.dir, newFile), filepath.Join(e.dir, oldFile)); err != nil {
			return err
		}
	}
	ev.V, ev.Seq = 1, last+1
	if ev.At.IsZero() {
		ev.At = time.Now().UTC()
	}
	line, err := json.Marshal(ev)
	if err != nil {
		return err
	}
	if e.hide != nil {
		line = e.hide(line)
	}
	return e.files.Append(filepath.Join(e.dir, newFile), durable.Options{}, line)
}

// Last returns the number of the newest event, or 0 if the list is empty.
func (e *Events) Last() (last int64, err error) {
	err = e.locked(func() (err error) {
		last, _, err = e.end()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("event list: %w", err)
	}
	return last, nil
}

// end returns the number of the newest event, and the size in bytes of the file to which
// the next event is added.
func (e *Events) end() (last, size int64, err error) {
	for _, name := range []string{newFile, oldFile} {
		file, err := os.Open(filepath.Join(e.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return 0, 0, err
		}
		n, last, err := lastIn(file)
		if name == newFile {
			size = n
		}
		if err := errors.Join(err, file.Close()); err != nil || last > 0 {
			return last, size, err
		}
	}
	return 0, size, nil
}

// lastIn returns the size of a file in bytes, and the number of its last event, or 0 if
// the file contains no events. It reads the end of the file first, and reads more only if
// it finds no event there.
func lastIn(file interface {
	io.ReaderAt
	io.Seeker
}) (size, last int64, err error) {
	if size, err = file.Seek(0, io.SeekEnd); err != nil {
		return 0, 0, err
	}
	for window := int64(someLines); ; window *= 4 {
		from := max(size-window, 0)
		data := make([]byte, size-from)
		if _, err := file.ReadAt(data, from); err != nil && err != io.EOF {
			return 0, 0, err
		}
		for line := range linesBackward(data) {
			if seq := seqOf(line); seq > 0 {
				return size, seq, nil
			}
		}
		if from == 0 {
			return size, 0, nil
		}
	}
}

// linesBackward returns the lines of data, last line first.
func linesBackward(data []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(data) > 0 {
			data = bytes.TrimSuffix(data, []byte("\n"))
			i := bytes.LastIndexByte(data, '\n') + 1
			if !yield(data[i:]) {
				return
			}
			data = data[:i]
		}
	}
}

// seqOf returns the number of the event in a line, or 0 if the line contains no event.
func seqOf(line []byte) int64 {
	var ev struct {
		Seq int64 `json:"seq"`
	}
	if json.Unmarshal(line, &ev) != nil {
		return 0
	}
	return ev.Seq
}
