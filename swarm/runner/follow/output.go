package follow

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// output is the state of a client's output.
type output struct {
	file    *os.File // the output file, opened for reading by this turn
	room    runner.Room
	read    int64     // number of bytes read in this turn
	flooded bool      // the client has printed more than MaxOutput, including output that was not read
	cramped bool      // the disk did not have room for all the output that the client may have printed
	lookAt  time.Time // when to check the size of the files next
}

// makeRoom reserves disk space for the first output of a turn.
func (o *output) makeRoom(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return o.room.Keep(path, info.Size())
}

// Output returns a reader for the client's output, starting with this turn at
// Turn.From.Offset in the file. The reader waits for more as long as the client may still
// write. Before each read, it performs the actions that are due. It returns EOF when the
// client has exited or has printed too much.
func (r *Run) Output() io.Reader { return &watched{r, runner.NewTail(r.output.file, r.wait)} }

// watched reads the client's output, with a tick before every read.
type watched struct {
	run  *Run
	tail *runner.Tail
}

func (w *watched) Read(p []byte) (int, error) {
	w.run.tick(time.Now())
	if w.run.flooded() {
		return 0, io.EOF // no further output need be read, and the client is killed immediately
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

// lookAtFiles enforces the size limits of the files, and reserves disk space for further
// output.
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

// Stderr returns the last part of the client's standard error.
func (r *Run) Stderr() string { return tailOf(r.turn.Stderr, 8<<10) }

// maxStderr is the maximum size of the standard error file, in bytes. A larger file is
// truncated to its first keptStderr bytes, and the client continues to append to it. If a
// turn fails because its standard output is too long, the first maxStderr bytes of that
// output are kept.
const (
	maxStderr  = 4 << 20
	keptStderr = 1 << 20
)

// boundFile truncates a file that has grown too long.
func boundFile(path string) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxStderr {
		os.Truncate(path, keptStderr)
	}
}

// tailOf returns the last n bytes of a file, or as many as can be read.
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
