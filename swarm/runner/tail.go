package runner

import (
	"errors"
	"io"
	"os"
)

// A Tail reads a file that another process is still writing. It is an [io.Reader] that
// returns [io.EOF] only when the writer has ended and all its output is read. It is not
// safe for several goroutines.
type Tail struct {
	file *os.File
	wait func() bool
	last bool // the writer was gone before the coming read
}

// NewTail reads file from its present offset. At the present end of the file it calls wait,
// which returns when the file may have grown, and reports whether the writer may still write.
// The caller closes file.
func NewTail(file *os.File, wait func() (writing bool)) *Tail {
	return &Tail{file: file, wait: wait}
}

// Read reads the bytes that are there, or waits for more. When the file was made shorter,
// it continues at the new end.
func (t *Tail) Read(p []byte) (int, error) {
	for {
		n, err := t.file.Read(p)
		if n > 0 {
			return n, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if t.last {
			// All output of the writer is read: the file was read to its end after the
			// writer's end.
			return 0, io.EOF
		}
		if err := t.back(); err != nil {
			return 0, err
		}
		t.last = !t.wait()
	}
}

// back moves the offset to the end of a file that has become shorter; reading beyond the
// end would wait without end.
func (t *Tail) back() error {
	info, err := t.file.Stat()
	if err != nil {
		return err
	}
	at, err := t.file.Seek(0, io.SeekCurrent)
	if err == nil && at > info.Size() {
		_, err = t.file.Seek(info.Size(), io.SeekStart)
	}
	return err
}
