package mcpserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// maxLine bounds a message from the client, in bytes.
const maxLine = 16 << 20

var errLongLine = fmt.Errorf("a message has at most %d bytes", maxLine)

// readLine reads a line. If a line is too long, it reads to the end of the line, drops it,
// and returns errLongLine.
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

// A lineWriter writes the server's lines, each in a single write. It keeps the first error
// and then writes nothing more, since the client has closed the connection.
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
