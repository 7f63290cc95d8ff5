package streamjson

import (
	"bytes"
	"io"
)

const (
	readSize  = 64 << 10 // size of a read, and of the buffer that is reused
	chunkSize = 1 << 20  // maximum size of a piece of a long line
	maxEmpty  = 100      // number of consecutive empty reads before an error
)

// A line is a line of the stream without its newline.
type line struct {
	text   []byte // valid until the next line is read
	lost   int64  // number of bytes beyond the limit, which are not in text
	cutOff bool   // the stream ended before its newline
}

// A lineReader splits a stream into lines of any length. Lines that fit into its buffer
// are not copied. A longer line is collected in pieces, which are joined when its length
// is known. Joining them requires twice the line's length in memory; doubling a buffer
// would require four times the length. Reading the next line frees all of that memory.
type lineReader struct {
	r   io.Reader
	max int
	err error // the reader's error; it is returned when buf is exhausted

	buf        []byte
	start, end int   // buf[start:end] has been read but not yet returned
	read       int64 // number of bytes of the stream read so far
}

// offset returns the number of bytes of the stream that have been returned, including
// newlines.
func (l *lineReader) offset() int64 { return l.read - int64(l.end-l.start) }

func (l *lineReader) next() (line, error) {
	if l.buf == nil {
		l.buf = make([]byte, readSize)
	}
	for seen := l.start; ; {
		if i := bytes.IndexByte(l.buf[seen:l.end], '\n'); i >= 0 {
			text := l.buf[l.start : seen+i]
			l.start = seen + i + 1
			return l.capped(text, false), nil
		}
		seen = l.end
		switch {
		case l.err != nil && l.start == l.end:
			return line{}, l.err
		case l.err != nil:
			text := l.buf[l.start:l.end]
			l.start = l.end
			return l.capped(text, true), nil
		case l.end < len(l.buf):
		case l.start > 0:
			l.end = copy(l.buf, l.buf[l.start:l.end])
			seen, l.start = l.end, 0
		default:
			return l.long(), nil
		}
		l.fill()
	}
}

// fill reads into the free space at the end of buf.
func (l *lineReader) fill() {
	n, err := l.more(l.buf[l.end:])
	l.end += n
	l.err = err
}

// more reads at least one byte or returns an error.
func (l *lineReader) more(p []byte) (int, error) {
	for range maxEmpty {
		n, err := l.r.Read(p)
		l.read += int64(n)
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

func (l *lineReader) capped(text []byte, cutOff bool) line {
	kept := text[:min(len(text), l.max)]
	return line{text: kept, lost: int64(len(text) - len(kept)), cutOff: cutOff}
}

// long reads the remainder of a line whose beginning fills buf.
func (l *lineReader) long() line {
	pieces := [][]byte{bytes.Clone(l.buf[:min(len(l.buf), l.max)])}
	kept := len(pieces[0])
	lost := int64(len(l.buf) - kept)
	size := 2 * readSize
	for {
		l.start, l.end = 0, 0
		if l.err != nil {
			break
		}
		room := min(size, l.max-kept)
		size = min(2*size, chunkSize)
		if room == 0 {
			l.fill()
			i := bytes.IndexByte(l.buf[:l.end], '\n')
			if i < 0 {
				lost += int64(l.end)
				continue
			}
			lost += int64(i)
			l.start = i + 1
			return line{text: bytes.Join(pieces, nil), lost: lost}
		}
		piece, found := l.piece(room)
		pieces = append(pieces, piece)
		kept += len(piece)
		if found {
			return line{text: bytes.Join(pieces, nil), lost: lost}
		}
	}
	return line{text: bytes.Join(pieces, nil), lost: lost, cutOff: true}
}

// piece reads at most room bytes of the line and reports whether the line's newline
// followed. It puts bytes after the newline back into buf.
func (l *lineReader) piece(room int) (piece []byte, found bool) {
	p := make([]byte, room)
	for n := 0; n < room; {
		// A read is never larger than buf, so the bytes after the newline fit into buf.
		m, err := l.more(p[n:min(room, n+len(l.buf))])
		l.err = err
		if i := bytes.IndexByte(p[n:n+m], '\n'); i >= 0 {
			l.start, l.end = 0, copy(l.buf, p[n+i+1:n+m])
			return p[:n+i], true
		}
		n += m
		if err != nil {
			return p[:n], false
		}
	}
	return p, false
}
