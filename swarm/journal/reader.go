package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A Reader reads the list without a cursor file. Only one goroutine may use it.
type Reader struct {
	list *Events
	at   cursor
}

// From returns a reader of the events after the event with the number seq.
func (e *Events) From(seq int64) *Reader { return &Reader{e, cursor{Seq: seq}} }

// Next returns at most 100 of the next events, oldest first. It returns no events if none
// were added since the last call. If the list was deleted in the meantime, Next continues
// with the first event of the new list.
func (r *Reader) Next() ([]Event, error) {
	events, next, err := r.list.after(&r.at)
	if errors.Is(err, fs.ErrNotExist) { // the folder does not exist yet
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("event list: %w", err)
	}
	r.at = next
	return events, nil
}

// after returns the next events after a cursor, and a cursor that is after those events.
// If the cursor belongs to a deleted list, after first moves it to just before this
// list's first event.
func (e *Events) after(c *cursor) (events []Event, next cursor, err error) {
	e.tail.mu.Lock()
	if e.tail.current(e.dir) {
		if events, next, ok := e.tail.after(*c); ok {
			e.tail.mu.Unlock()
			return events, next, nil
		}
	}
	e.tail.mu.Unlock() // the list's lock comes first
	err = e.locked(func() error {
		e.tail.mu.Lock()
		defer e.tail.mu.Unlock()
		if _, err := e.tail.refresh(e.dir); err != nil {
			return err
		}
		var known bool
		if events, next, known = e.tail.after(*c); known {
			return nil
		}
		same, err := e.continues(*c)
		if err != nil {
			return err
		}
		if c.Seq > e.tail.last || !same {
			*c = cursor{}
		}
		next = *c
		if c.First > 0 {
			if found, err := e.read(newFile, c.First, &next, &events); found || err != nil {
				return err
			}
		}
		if _, err := e.read(oldFile, 0, &next, &events); err != nil {
			return err
		}
		_, err = e.read(newFile, 0, &next, &events)
		return err
	})
	return events, next, err
}

// continues reports whether a cursor may belong to this list and not to a deleted list.
// If it belongs to this list, the event before its offset is the last event that the
// listener has heard.
func (e *Events) continues(c cursor) (bool, error) {
	if c.Offset == 0 {
		return true, nil
	}
	for _, name := range []string{newFile, oldFile} {
		file, err := os.Open(filepath.Join(e.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return false, err
		}
		first, err := firstIn(bufio.NewReader(file))
		same := true
		if err == nil && first == c.First {
			same, err = endsWith(file, c)
		}
		if err := errors.Join(err, file.Close()); err != nil || first == c.First {
			return same, err
		}
	}
	return true, nil // the cursor's file has been rotated out
}

// endsWith reports whether the line that ends at the cursor's offset contains the
// cursor's event.
func endsWith(file *os.File, c cursor) (bool, error) {
	end := make([]byte, 1)
	if _, err := file.ReadAt(end, c.Offset-1); err == io.EOF {
		return false, nil
	} else if err != nil {
		return false, err
	}
	_, seq, err := lastIn(io.NewSectionReader(file, 0, c.Offset), c.Offset)
	return end[0] == '\n' && seq == c.Seq, err
}

// read adds the events of one file that follow a cursor, up to a total of maxBatch
// events, and moves the cursor past them. If want is not 0, it reads the file only if the
// first event in the file has that number. It reports whether it read the file.
func (e *Events) read(name string, want int64, c *cursor, events *[]Event) (bool, error) {
	file, err := os.Open(filepath.Join(e.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	defer file.Close()
	r := bufio.NewReader(file)
	first, err := firstIn(r)
	if err != nil || want != 0 && first != want {
		return false, err
	}
	offset := int64(0)
	if first == c.First {
		offset = c.Offset
	}
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return false, err
	}
	for r.Reset(file); len(*events) < maxBatch; {
		line, err := r.ReadBytes('\n')
		offset += int64(len(line))
		if err == io.EOF {
			return true, nil // a crash truncated the last line
		} else if err != nil {
			return false, err
		}
		var ev Event
		if json.Unmarshal(line, &ev) == nil && ev.Seq > c.Seq {
			*events = append(*events, ev)
			c.Seq, c.First, c.Offset = ev.Seq, first, offset
		}
	}
	return true, nil
}

// firstIn returns the number of the first event in r, or 0 if r contains no events.
func firstIn(r *bufio.Reader) (int64, error) {
	for {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			return 0, nil
		} else if err != nil {
			return 0, err
		}
		if seq := seqOf(line); seq > 0 {
			return seq, nil
		}
	}
}
