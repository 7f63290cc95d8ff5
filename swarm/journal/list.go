package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
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
// several processes. It does not need to be closed: the one file that it keeps open is only
// read, and is closed when the Events is no longer in use.
type Events struct {
	dir     string
	files   durable.Files
	hide    func([]byte) []byte
	maxSize int64
	tail    tail
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
	e.tail.mu.Lock()
	defer e.tail.mu.Unlock()
	size, err := e.tail.refresh(e.dir)
	if err != nil {
		return err
	}
	if size >= e.maxSize {
		if err := os.Rename(filepath.Join(e.dir, newFile), filepath.Join(e.dir, oldFile)); err != nil {
			return err
		}
	}
	ev.V, ev.Seq = 1, e.tail.last+1
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
	if err := e.files.Append(filepath.Join(e.dir, newFile), durable.Options{}, line); err != nil {
		return err
	}
	if _, err := e.tail.refresh(e.dir); err != nil {
		e.tail.forget() // the event is in the list; the next reader meets the error, if it remains
	}
	return nil
}

// Last returns the number of the newest event, or 0 if the list is empty.
func (e *Events) Last() (last int64, err error) {
	err = e.locked(func() (err error) {
		e.tail.mu.Lock()
		defer e.tail.mu.Unlock()
		_, err = e.tail.refresh(e.dir)
		last = e.tail.last
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("event list: %w", err)
	}
	return last, nil
}

// lastIn returns the size in bytes of the whole lines in a file, and the number of the last
// event in the file, or 0 if it contains no events. The last line counts even if it lacks its
// newline. lastIn reads the end of the file first, and reads more only if it finds no event
// there.
func lastIn(file io.ReaderAt, size int64) (whole, last int64, err error) {
	for window := int64(someLines); ; window *= 4 {
		from := max(size-window, 0)
		data := make([]byte, size-from)
		if _, err := file.ReadAt(data, from); err != nil && err != io.EOF {
			return 0, 0, err
		}
		i := bytes.LastIndexByte(data, '\n') + 1
		if i > 0 {
			whole = from + int64(i)
		}
		for line := range linesBackward(data) {
			if seq := seqOf(line); seq > 0 && (i > 0 || from == 0) {
				return whole, seq, nil
			}
		}
		if from == 0 {
			return whole, 0, nil
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

// linesForward returns the lines of data without their newlines, and whether each is whole,
// which means that it ends with a newline.
func linesForward(data []byte) iter.Seq2[[]byte, bool] {
	return func(yield func([]byte, bool) bool) {
		for len(data) > 0 {
			line, rest, whole := bytes.Cut(data, []byte("\n"))
			if !yield(line, whole) {
				return
			}
			data = rest
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
