package follow

import (
	"io"
	"sync"
)

// A feed writes lines to a client's standard input in order. It does not wait for the
// client, because a client that does not read its input would hold up the turn.
type feed struct {
	w  io.WriteCloser
	wg sync.WaitGroup

	mu     sync.Mutex
	lines  [][]byte // waiting to be written
	unread int      // the total size of lines, in bytes
	busy   bool     // a goroutine is writing lines
	full   bool     // too many lines are waiting because the client does not read them
}

// maxUnread is the maximum number of bytes that can wait for a client that does not read
// its input. In addition to these bytes, one line of any length can be waiting.
const maxUnread = 16 << 20

func newFeed(w io.WriteCloser) *feed { return &feed{w: w} }

// send queues a line for the client. A line that cannot be written is lost, so the client
// prints no answer to it. If too many lines are waiting, all further lines are lost as
// well.
func (f *feed) send(line []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.full = f.full || f.unread > maxUnread; f.full {
		return
	}
	f.lines = append(f.lines, line)
	f.unread += len(line)
	if !f.busy {
		f.busy = true
		// This goroutine ends when all lines have been written or the pipe is closed, and
		// close waits for it.
		f.wg.Go(f.write)
	}
}

func (f *feed) write() {
	for {
		f.mu.Lock()
		if len(f.lines) == 0 {
			f.busy = false
			f.mu.Unlock()
			return
		}
		line := f.lines[0]
		f.lines = f.lines[1:]
		f.unread -= len(line)
		f.mu.Unlock()
		f.w.Write(line)
	}
}

// isFull reports whether too many lines are waiting because the client does not read
// them.
func (f *feed) isFull() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.full
}

// close closes the client's standard input. Lines that are still waiting are lost. close
// can be called more than once.
func (f *feed) close() {
	f.w.Close()
	f.wg.Wait()
}
