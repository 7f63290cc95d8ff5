package acp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is the maximum length of a line, in bytes. Lines can be long because a client
// sends the whole text of a file before and after an edit.
const maxLine = 16 << 20

// A lineReader reads the lines of a client's output.
type lineReader struct {
	r      *bufio.Reader
	offset int64 // the end of the last line read, in bytes
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line without its newline. The line is valid until the next call. If
// a line is longer than maxLine, next returns only its beginning. whole is false for such a
// line and for a final line without a newline.
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

// maxBad is the maximum number of lines that are not messages before the answer to
// initialize. Some such lines are allowed because a launcher may print them.
const maxBad = 50

// add counts a line.
func (b *badLines) add(line []byte) {
	b.count++
	if b.first == "" {
		b.first = string(line[:min(len(line), 120)])
	}
}
