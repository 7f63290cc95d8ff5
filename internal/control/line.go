package control

import (
	"bufio"
	"errors"
	"io"
)

// maxLine is the longest line of the protocol, in bytes, with its newline.
const maxLine = 1 << 20

// errTooLong is the error for a line over [maxLine]. The whole line has been read, so next
// can read the following line.
var errTooLong = errors.New("line longer than 1 MiB")

// A lineReader reads lines of bounded length. Bytes after the last newline are a truncated
// line, which it does not return.
type lineReader struct {
	r   *bufio.Reader
	buf []byte
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReader(r)} }

// next returns a line without its newline, valid until the next call. The error is
// errTooLong, after which next may be called again, or the reader's error.
func (l *lineReader) next() ([]byte, error) {
	l.buf = l.buf[:0]
	tooLong := false
	for {
		part, err := l.r.ReadSlice('\n')
		if len(l.buf)+len(part) > maxLine {
			tooLong = true
			l.buf = l.buf[:0]
		}
		if !tooLong {
			l.buf = append(l.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, err
		case tooLong:
			l.buf = nil // do not keep a megabyte of memory for a client that misbehaves
			return nil, errTooLong
		}
		return l.buf[:len(l.buf)-1], nil
	}
}
