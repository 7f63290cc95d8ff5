package runner

import (
	"errors"
	"io"
	"os"
)

// A Tail reads a file that another process is still writing. It is an [io.Reader] that
// returns [io.EOF] only when the writer has ended and all its output has been read. It is
// not safe for concurrent use.
type Tail struct {
	file *os.File
	wait func() bool
	last bool // the writer has ended, so the next read is the last
}

// NewTail returns a Tail that reads file from its current offset. At the current end of
// the file, the Tail calls wait. wait returns when the file may have grown, and reports
// whether the writer may write more. The caller must close file.
func NewTail(file *os.File, wait func() (writing bool)) *Tail {
	return &Tail{file: file, wait: wait}
}

// Read reads the available bytes, or waits for more. If the file has been truncated, Read
// continues at the new end.
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
			// All output has been read, because the file was read to its end after the
			// writer had ended.
			return 0, io.EOF
		}
		if err := t.back(); err != nil {
			return 0, err
		}
		t.last = !t.wait()
	}
}

// back moves the offset to the end of a file that has been truncated. Otherwise a read
// beyond the end would wait forever.
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
