package follow

import (
	"io"
	"sync"
)

// A feed writes to a client's standard input without waiting for the client, because a
// client that does not read would hold up the turn. Lines keep their order.
type feed struct {
	w  io.WriteCloser
	wg sync.WaitGroup

	mu     sync.Mutex
	lines  [][]byte // waiting to be written
	unread int      // their size, in bytes
	busy   bool     // a goroutine writes them
	full   bool     // too many are waiting: the client does not read
}

// maxUnread is how many bytes may wait for a client that does not read, in addition to
// one line of any length.
const maxUnread = 16 << 20

func newFeed(w io.WriteCloser) *feed { return &feed{w: w} }

// send queues a line for the client. A line that cannot be written is lost, and the client
// prints no answer to it. When too many lines wait, every further line is lost too.
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
		// This goroutine ends when all lines are written or the pipe is closed; close waits
		// for it.
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

// isFull reports whether too many lines wait, because the client does not read.
func (f *feed) isFull() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.full
}

// close tells the client that no more lines follow. Lines that are still waiting are
// lost. close may be called more than once.
func (f *feed) close() {
	f.w.Close()
	f.wg.Wait()
}
