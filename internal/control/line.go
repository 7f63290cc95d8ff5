package control

import (
	"bufio"
	"errors"
	"io"
)

// maxLine is the maximum length of a line in the protocol, in bytes, including its
// newline.
const maxLine = 1 << 20

// errTooLong is the error for a line that is longer than [maxLine]. The whole line has
// been read, so next can continue with the following line.
var errTooLong = errors.New("line longer than 1 MiB")

// A lineReader reads lines of limited length. It does not return bytes after the last
// newline, because they are a truncated line.
type lineReader struct {
	r   *bufio.Reader
	buf []byte
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReader(r)} }

// next returns a line without its newline. The line is valid until the next call. The
// error is errTooLong or the underlying reader's error. After errTooLong, next may be
// called again.
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
			l.buf = nil // do not keep a megabyte of memory because of a misbehaving client
			return nil, errTooLong
		}
		return l.buf[:len(l.buf)-1], nil
	}
}
