package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// maxShared is the maximum number of events that a tail keeps in memory. A listener that is
// further behind reads the files.
const maxShared = 32

// A tail is what this process knows about the end of the list. All listeners of the process
// share it, so an event is read once, and an event that the process itself added is not
// searched for. A tail never replaces the files: it is used only while the newest file is the
// one that the tail has read, and has the size that it had then. Another process that adds an
// event changes that size. The tail then reads the new lines, under the list's lock, because
// an event that is not durable yet must not be heard.
type tail struct {
	mu sync.Mutex
	// file is the newest file, or nil if there was none. It stays open, so that a list that
	// replaces a deleted one has another identity.
	file *os.File
	info fs.FileInfo
	last int64 // number of the last event in the list; 0 if there is none
	end  int64 // size, in bytes, of the whole lines that are read
	// before is the place before the first shared event.
	before cursor
	first  int64 // number of the first event in the file; 0 if there is none
	shared []sharedEvent
	// heard is the place up to which this process has told each listener the list. The file of
	// the cursor may be behind.
	heard map[string]cursor
}

// A sharedEvent is an event, and the place after it.
type sharedEvent struct {
	Event
	after cursor
}

// current reports whether no process has changed the list since the tail read it. The caller
// holds t.mu.
func (t *tail) current(dir string) bool {
	if t.file == nil {
		return false
	}
	info, err := os.Stat(filepath.Join(dir, newFile))
	return err == nil && os.SameFile(info, t.info) && info.Size() == t.end
}

// refresh reads what was added to the list since the last call, and returns the size in bytes
// of the newest file. The caller holds the list's lock and t.mu.
func (t *tail) refresh(dir string) (size int64, err error) {
	info, err := os.Stat(filepath.Join(dir, newFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	if err == nil && t.file != nil && os.SameFile(info, t.info) {
		if info.Size() == t.end {
			return t.end, nil
		}
		if info.Size() > t.end {
			if grown, err := t.grow(info.Size()); grown || err != nil {
				return info.Size(), err
			}
		}
	}
	return t.reopen(dir)
}

// reopen begins again with the newest file. It reads only the end of that file.
func (t *tail) reopen(dir string) (size int64, err error) {
	t.forget()
	defer func() {
		if err != nil {
			t.forget()
		}
	}()
	file, err := os.Open(filepath.Join(dir, newFile))
	if err == nil {
		size, err = t.open(file)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil && t.last == 0 {
		t.last, err = lastOf(filepath.Join(dir, oldFile))
	}
	t.before = cursor{Seq: t.last, First: t.first, Offset: t.end}
	return size, err
}

// open begins with a file, which forget closes.
func (t *tail) open(file *os.File) (size int64, err error) {
	t.file = file
	if t.info, err = file.Stat(); err != nil {
		return 0, err
	}
	if t.end, t.last, err = lastIn(file, t.info.Size()); err != nil {
		return 0, err
	}
	if t.first, err = firstIn(bufio.NewReader(io.NewSectionReader(file, 0, t.end))); err != nil {
		return 0, err
	}
	return t.info.Size(), nil
}

// forget closes the file, and drops all that is known about the list.
func (t *tail) forget() {
	if t.file != nil {
		_ = t.file.Close() // it was only read
	}
	t.file, t.info, t.last, t.end, t.before, t.first, t.shared = nil, nil, 0, 0, cursor{}, 0, nil
}

// grow reads the lines after t.end. It returns false if the file was not only extended.
func (t *tail) grow(size int64) (bool, error) {
	from := max(t.end-1, 0) // begins with the newline of the last line that is known
	data := make([]byte, size-from)
	if _, err := t.file.ReadAt(data, from); err == io.EOF {
		return false, nil
	} else if err != nil {
		return false, err
	}
	if t.end > 0 {
		if data[0] != '\n' {
			return false, nil
		}
		data = data[1:]
	}
	for line, whole := range linesForward(data) {
		if !whole { // a crash cut off the line; the next line gets another number than an event in it
			t.last = max(t.last, seqOf(line))
			break
		}
		t.end += int64(len(line)) + 1
		var ev Event
		if json.Unmarshal(line, &ev) != nil || ev.Seq <= 0 {
			continue
		}
		if t.first == 0 {
			t.first = ev.Seq
		}
		t.last = max(t.last, ev.Seq)
		t.share(ev)
	}
	return true, nil
}

// share keeps an event whose line ends at t.end.
func (t *tail) share(ev Event) {
	if len(t.shared) >= maxShared {
		t.before = t.shared[0].after
		t.shared = slices.Delete(t.shared, 0, 1)
	}
	t.shared = append(t.shared, sharedEvent{ev, cursor{Seq: ev.Seq, First: t.first, Offset: t.end}})
}

// after returns the events after a cursor, and the cursor after them. It returns false if the
// tail does not know them all, or does not know that the cursor belongs to this list.
func (t *tail) after(c cursor) (events []Event, next cursor, ok bool) {
	from := 0
	switch {
	case c.Seq > t.last:
		return nil, c, false
	case c.Offset == 0: // a new listener's cursor has only a number
		if c.Seq < t.before.Seq {
			return nil, c, false
		}
		for from < len(t.shared) && t.shared[from].Seq <= c.Seq {
			from++
		}
	case !c.at(t.before):
		for from < len(t.shared) && !c.at(t.shared[from].after) {
			from++
		}
		if from++; from > len(t.shared) {
			return nil, c, false
		}
	}
	next = c
	for _, s := range t.shared[from:] {
		events, next = append(events, s.Event), s.after
	}
	return events, next, true
}

// at reports whether two cursors are at the same place.
func (c cursor) at(d cursor) bool {
	return c.Seq == d.Seq && c.First == d.First && c.Offset == d.Offset
}

// lastOf returns the number of the last event in a file, or 0 if it contains no events.
func lastOf(path string) (last int64, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	_, last, err = lastIn(file, info.Size())
	return last, err
}
