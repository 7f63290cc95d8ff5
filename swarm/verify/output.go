package verify

import (
	"bytes"
	"os"
	"strings"
	"time"
)

const (
	mostLines = 100      // the number of lines that are kept
	mostBytes = 64 << 10 // of these, only the last bytes are kept
	mostLine  = 4 << 10  // of a longer line, only the beginning is kept
)

// drainTime is how long the output is read after all processes have ended. It ends at once,
// unless a process that could not be found still has the pipe open.
const drainTime = time.Second

// An output reads what a command prints, and keeps its last lines.
type output struct {
	in   *os.File // the end that we read
	done chan struct{}

	lines [][]byte // a ring of complete lines
	next  int      // the place of the oldest line in a full ring
	line  []byte   // the line that is not complete yet
}

// capture returns an output, and the file to which the command writes. The caller closes the
// file when the command has started, and then calls last.
func capture() (*output, *os.File, error) {
	in, to, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	o := &output{in: in, done: make(chan struct{})}
	go o.read() // ends at the end of the pipe, or at the deadline that last sets
	return o, to, nil
}

func (o *output) read() {
	defer close(o.done)
	buf := make([]byte, 64<<10)
	for {
		n, err := o.in.Read(buf)
		o.add(buf[:n])
		if err != nil { // the end, or the deadline
			return
		}
	}
}

func (o *output) add(data []byte) {
	for len(data) > 0 {
		part, rest, ended := bytes.Cut(data, []byte("\n"))
		o.line = append(o.line, part[:min(len(part), mostLine-len(o.line))]...)
		if ended {
			o.end()
		}
		data = rest
	}
}

// end completes the current line.
func (o *output) end() {
	if len(o.lines) < mostLines {
		o.lines = append(o.lines, o.line)
		o.line = nil
		return
	}
	o.lines[o.next], o.line = o.line, o.lines[o.next][:0]
	o.next = (o.next + 1) % mostLines
}

// last returns the last lines, once all processes of the command have ended.
func (o *output) last() []string {
	_ = o.in.SetReadDeadline(time.Now().Add(drainTime)) // a pipe can have a deadline
	<-o.done
	_ = o.in.Close() // it was only read
	if len(o.line) > 0 {
		o.end()
	}
	var all []string
	size := 0
	for i := range len(o.lines) { // from the newest
		line := string(o.lines[(o.next+2*len(o.lines)-1-i)%len(o.lines)])
		if size += len(line); size > mostBytes {
			break
		}
		all = append(all, strings.ToValidUTF8(strings.TrimSuffix(line, "\r"), "�"))
	}
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}
