package follow

import (
	"io"
	"sync"
)

// A feed writes to a client's standard input without waiting for it: a client
// that does not read would hold up the one who follows it. Lines keep their order.
type feed struct {
	w  io.WriteCloser
	wg sync.WaitGroup

	mu    sync.Mutex
	lines [][]byte // that wait to be written
	busy  bool     // somebody writes them
}

func newFeed(w io.WriteCloser) *feed { return &feed{w: w} }

// send gives the client a line. The client does not read a line that cannot be written,
// which shows in its output.
func (f *feed) send(line []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = append(f.lines, line)
	if !f.busy {
		f.busy = true
		// Ends when all is written or the pipe is closed; close waits for it.
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
		f.mu.Unlock()
		f.w.Write(line)
	}
}

// close tells the client that no more comes. It may be called again.
func (f *feed) close() {
	f.w.Close()
	f.wg.Wait()
}
