package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
)

// A tail reads the new lines of a file, even after the file has been rotated. A missing
// file counts as empty.
type tail struct {
	path string
	file *os.File
	rest []byte // the beginning of an incomplete line
}

// tailChunk is the number of bytes that a tail reads at a time when it searches backwards
// for the last lines.
const tailChunk = 64 << 10

// openTail opens the file at path and returns its last n lines. It ignores all data
// before the byte offset from.
func openTail(path string, from int64, n int) (*tail, []byte, error) {
	t := &tail{path: path}
	if err := t.open(); err != nil || t.file == nil {
		return t, nil, err
	}
	lines, err := t.lastLines(from, n)
	if err != nil {
		return nil, nil, errors.Join(err, t.close())
	}
	return t, lines, nil
}

func (t *tail) open() error {
	f, err := os.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	t.file = f
	return nil
}

func (t *tail) close() error {
	if t.file == nil {
		return nil
	}
	err := t.file.Close()
	t.file = nil
	return err
}

// lastLines reads backwards until it has n lines or reaches the offset from. Afterwards,
// the file position is at the end of the file. lastLines keeps the text after the last
// newline for [tail.more].
func (t *tail) lastLines(from int64, n int) ([]byte, error) {
	end, err := t.file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	var data []byte
	for at := end; at > from && bytes.Count(data, []byte("\n")) <= n; {
		size := min(at-from, tailChunk)
		at -= size
		chunk := make([]byte, size, int(size)+len(data))
		if _, err := t.file.ReadAt(chunk, at); err != nil {
			return nil, err // for example because the file has shrunk in the meantime
		}
		data = append(chunk, data...)
	}
	cut := bytes.LastIndexByte(data, '\n') + 1
	t.rest = bytes.Clone(data[cut:])
	data = data[:cut]
	for extra := bytes.Count(data, []byte("\n")) - n; extra > 0; extra-- {
		data = data[bytes.IndexByte(data, '\n')+1:]
	}
	return data, nil
}

// more returns the complete lines that were added since the last call.
func (t *tail) more() ([]byte, error) {
	var out []byte
	for {
		if t.file == nil {
			if err := t.open(); err != nil || t.file == nil {
				return out, err
			}
		}
		// Check this before reading. Otherwise, a line that is added just before a
		// rotation could be lost.
		replaced, err := t.replaced()
		if err != nil {
			return out, err
		}
		data, err := io.ReadAll(t.file)
		if err != nil {
			return out, err
		}
		data = append(t.rest, data...)
		cut := bytes.LastIndexByte(data, '\n') + 1
		out, t.rest = append(out, data[:cut]...), bytes.Clone(data[cut:])
		if !replaced {
			return out, nil
		}
		t.rest = nil // an incomplete last line is dropped
		if err := t.close(); err != nil {
			return out, err
		}
	}
}

// replaced reports whether the path now refers to another file or the file was truncated.
func (t *tail) replaced() (bool, error) {
	now, err := os.Stat(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // the old file was renamed, and the new one does not exist yet
	} else if err != nil {
		return false, err
	}
	ours, err := t.file.Stat()
	if err != nil {
		return false, err
	}
	at, err := t.file.Seek(0, io.SeekCurrent)
	return !os.SameFile(now, ours) || now.Size() < at, err
}
