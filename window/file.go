package window

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"

	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// ErrBroken reports that a window's file could not be parsed and was renamed.
var ErrBroken = errors.New("window file is broken")

// A header is the first line of a window's file. The window's bytes follow it
// unchanged, so that a person can read the file.
type header struct {
	V       int    `json:"v"`
	Start   int64  `json:"start"` // position of the window's first byte
	Mark    string `json:"mark"`
	Sum     uint32 `json:"crc32"`   // the checksum of the window's bytes
	Entries []int  `json:"entries"` // the lengths of the entries, oldest first
}

const version = 1

// Save writes the window to path with mode 0600 and replaces an existing file. If Save
// returns nil, the file survives a machine crash. If Save fails or is interrupted, the
// file contains either the complete old window or the complete new one.
func (b *Buffer) Save(path string) error {
	body := b.AppendRange(nil, b.start, b.end)
	h := header{V: version, Start: b.start, Mark: b.mark, Sum: crc32.ChecksumIEEE(body), Entries: make([]int, 0, len(b.index))}
	for i, begin := range b.index {
		end := b.end
		if i+1 < len(b.index) {
			end = b.index[i+1]
		}
		h.Entries = append(h.Entries, int(end-begin))
	}
	head, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("save window: %w", err)
	}
	if err := b.o.Files.Write(path, durable.Options{}, append(head, '\n'), body); err != nil {
		return fmt.Errorf("save window: %w", err)
	}
	return nil
}

// Load reads a window that Save wrote and restores its positions. If the file is missing,
// Load returns an empty window. A broken file, or one with an unknown version, is renamed
// to path + ".broken"; the window is then empty and the error is [ErrBroken]. For any
// other error, the window is nil.
func Load(path string, o Options) (*Buffer, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return New(o), nil
	} else if err != nil {
		return nil, fmt.Errorf("load window: %w", err)
	}
	defer f.Close()
	b, err := read(f, o)
	if broken, ok := errors.AsType[*brokenError](err); ok {
		if err := os.Rename(path, path+".broken"); err != nil {
			return nil, fmt.Errorf("load window: set aside a broken file: %w", err)
		}
		return New(o), fmt.Errorf("%w; it is now %s.broken: %s", ErrBroken, path, broken.why)
	} else if err != nil {
		return nil, fmt.Errorf("load window: %w", err)
	}
	return b, nil
}

// A brokenError describes what is wrong with the content of a file.
type brokenError struct{ why string }

func (e *brokenError) Error() string { return e.why }

func read(r io.Reader, o Options) (*Buffer, error) {
	in := bufio.NewReader(r)
	head, err := in.ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var h header
	if err := json.Unmarshal(head, &h); err != nil {
		return nil, &brokenError{why: err.Error()}
	}
	if h.V != version {
		return nil, &brokenError{why: fmt.Sprintf("version %d is unknown", h.V)}
	}
	body, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	if crc32.ChecksumIEEE(body) != h.Sum {
		return nil, &brokenError{why: "the checksum differs"}
	}
	if !utf8.Valid(body) {
		return nil, &brokenError{why: "it is not UTF-8"}
	}
	return restore(h, body, o)
}

// restore fills a window with the entries of a file.
func restore(h header, body []byte, o Options) (*Buffer, error) {
	b := New(o)
	b.mark = h.Mark
	b.start, b.end = h.Start, h.Start
	if h.Start < 0 || h.Start > 1<<62 {
		return nil, &brokenError{why: "its beginning is missing"}
	}
	for _, n := range h.Entries {
		if n <= 0 || n > len(body) {
			return nil, &brokenError{why: "an entry is longer than the file"}
		}
		if body[n-1] != '\n' {
			return nil, &brokenError{why: "the end of an entry is missing"}
		}
		b.put(nil, string(body[:n-1]))
		body = body[n:]
	}
	if len(body) > 0 {
		return nil, &brokenError{why: "it contains data after its entries"}
	}
	return b, nil
}
