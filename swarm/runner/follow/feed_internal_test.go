package follow

import (
	"bytes"
	"io"
	"testing"
)

// The queue of lines for a client that does not read its input is bounded, and a full
// queue is reported. A single line can have any length.
func TestAClientThatDoesNotRead(t *testing.T) {
	r, w := io.Pipe()
	f := newFeed(w)
	f.send(bytes.Repeat([]byte("p"), 3*maxUnread))
	for range 8 {
		f.send(bytes.Repeat([]byte("x"), maxUnread/4))
	}
	if !f.isFull() {
		t.Error("the queue is not reported as full")
	}
	f.mu.Lock()
	if f.unread > 2*maxUnread || len(f.lines) > 8 {
		t.Errorf("%d bytes in %d lines wait", f.unread, len(f.lines))
	}
	f.mu.Unlock()
	r.Close()
	f.close()
}

// A client that starts reading late gets all lines in order.
func TestAClientThatReadsLate(t *testing.T) {
	r, w := io.Pipe()
	f := newFeed(w)
	var want []byte
	for i := range 100 {
		line := append(bytes.Repeat([]byte{byte('a' + i%26)}, 100<<10), '\n')
		want = append(want, line...)
		f.send(line)
	}
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, want) || f.isFull() {
		t.Errorf("it read other bytes: %v; full: %v", err, f.isFull())
	}
	r.Close()
	f.close()
}
