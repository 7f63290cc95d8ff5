package acp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is the longest line that is read, in bytes. A client sends the whole text of a
// file before and after an edit.
const maxLine = 16 << 20

// A lineReader reads the lines of a client's output.
type lineReader struct {
	r      *bufio.Reader
	offset int64 // after the last line, in bytes
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line without its newline; the line is valid until the next call. It
// returns only the beginning of a line that is longer than maxLine. whole is false for such
// a line, and for a last line without a newline.
func (l *lineReader) next() (line []byte, whole bool, err error) {
	long := false
	for {
		piece, err := l.r.ReadSlice('\n')
		l.offset += int64(len(piece))
		switch {
		case len(line)+len(piece) > maxLine:
			long = true
		case err == nil && line == nil:
			return bytes.TrimRight(piece, "\r\n"), true, nil
		default:
			line = append(line, piece...)
		}
		switch {
		case err == nil:
			return bytes.TrimRight(line, "\r\n"), !long, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, false, err
		}
	}
}

// badLines counts lines that are not messages.
type badLines struct {
	count int
	first string // the beginning of the first such line
}

// maxBad is how many lines that are not messages a program may print before it has answered
// initialize: a launcher may print some notes.
const maxBad = 50

// add counts a line.
func (b *badLines) add(line []byte) {
	b.count++
	if b.first == "" {
		b.first = string(line[:min(len(line), 120)])
	}
}
