package mcpserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// maxLine is the maximum length of a message from the client, in bytes.
const maxLine = 16 << 20

var errLongLine = fmt.Errorf("a message can have at most %d bytes", maxLine)

// readLine reads a line. If the line is too long, readLine skips to the end of it and
// returns errLongLine.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for long := false; ; {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		} else {
			line = nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && err == nil:
			return nil, errLongLine
		default:
			return bytes.TrimSpace(line), err
		}
	}
}

// A lineWriter writes the server's lines, each with a single Write call. After the first
// error, it writes nothing more, because the client has closed the connection.
type lineWriter struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

func (l *lineWriter) write(message []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		_, l.err = l.w.Write(append(message, '\n'))
	}
}

func (l *lineWriter) failed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
