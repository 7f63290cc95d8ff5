package follow

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// output is what a client has printed.
type output struct {
	file    *os.File // as the turn reads it
	room    runner.Room
	read    int64     // bytes of this turn
	flooded bool      // it has printed more than MaxOutput, whether that was read or not
	cramped bool      // there was no room for what it may have said
	lookAt  time.Time // at the size of the files
}

// makeRoom reserves room for the first that a turn prints.
func (o *output) makeRoom(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return o.room.Keep(path, info.Size())
}

// Output is what the client prints from this turn on: a reader that waits for more as long
// as the client may write, does what is due before each read, and ends when the client has
// ended or has printed too much. The output of the turn begins at Turn.From.Offset of its
// file.
func (r *Run) Output() io.Reader { return &watched{r, runner.NewTail(r.output.file, r.wait)} }

// watched is the client's output, with a tick before every read.
type watched struct {
	run  *Run
	tail *runner.Tail
}

func (w *watched) Read(p []byte) (int, error) {
	w.run.tick(time.Now())
	if w.run.flooded() {
		return 0, io.EOF // the rest is not worth reading, and the client is killed at once
	}
	n, err := w.tail.Read(p)
	if n > 0 {
		w.run.output.read += int64(n)
		w.run.woken.poll.reset()
	}
	return n, err
}

// flooded reports whether the client has printed too much.
func (r *Run) flooded() bool { return r.output.flooded || r.output.read > r.options.MaxOutput }

func (r *Run) tooMuch() Verdict {
	return Verdict{End: runner.Failed, Reason: fmt.Sprintf("the client printed more than %d MiB", r.options.MaxOutput>>20),
		Hint: "look at the beginning of " + r.turn.Stdout}
}

// lookAtFiles keeps the files within their bounds, and room in front of the output.
func (r *Run) lookAtFiles(now time.Time) {
	o := &r.output
	if !now.After(o.lookAt) {
		return
	}
	o.lookAt = now.Add(100 * time.Millisecond)
	boundFile(r.turn.Stderr)
	// A client can print faster than its output is read.
	if info, err := os.Stat(r.turn.Stdout); err == nil {
		o.flooded = o.flooded || info.Size()-r.turn.From.Offset > r.options.MaxOutput
		o.cramped = o.room.Keep(r.turn.Stdout, info.Size()) != nil || o.cramped
	}
}

// Stderr is the end of what the client wrote on its standard error.
func (r *Run) Stderr() string { return tailOf(r.turn.Stderr, 8<<10) }

// maxStderr is how much of the standard error is kept, in bytes: its beginning
// and its newest part. Of a flood on the standard output the beginning is kept.
const (
	maxStderr  = 4 << 20
	keptStderr = 1 << 20
)

// boundFile cuts a file that has grown too long. The client appends, so it goes
// on behind what is kept.
func boundFile(path string) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxStderr {
		os.Truncate(path, keptStderr)
	}
}

// tailOf returns the last n bytes of a file, or what can be had of them.
func tailOf(path string, n int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > n {
		f.Seek(-n, io.SeekEnd)
	}
	data, _ := io.ReadAll(io.LimitReader(f, n))
	return string(data)
}
