package claude

import (
	"encoding/json"
	"io"
	"sync"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// promptLine is the turn's prompt as the client reads it on standard input.
func promptLine(t runner.Turn) []byte {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	line, err := json.Marshal(struct {
		Type    string  `json:"type"`
		Message message `json:"message"`
		UUID    string  `json:"uuid,omitempty"`
	}{"user", message{"user", t.Prompt}, t.UUID})
	if err != nil {
		panic("claude: strings cannot fail to be JSON: " + err.Error())
	}
	return append(line, '\n')
}

// A feed writes to a client's standard input without waiting for it: a client
// that does not read would hold up the one who follows it.
type feed struct {
	w  io.WriteCloser
	wg sync.WaitGroup
}

func newFeed(w io.WriteCloser) *feed { return &feed{w: w} }

// send is called once a turn. What cannot be written is not heard, which shows in
// the client's output.
func (f *feed) send(line []byte) {
	// Ends when the line is written or the pipe is closed; close waits for it.
	f.wg.Go(func() { f.w.Write(line) })
}

// close tells the client that no more comes. It may be called again.
func (f *feed) close() {
	f.w.Close()
	f.wg.Wait()
}
