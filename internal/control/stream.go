package control

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"sync"

	"github.com/claude-swarm/claude-swarm/swarm"
)

// A Stream returns the events of a subscription in the order in which the daemon sends
// them. Next may be called from one goroutine at a time, Close from any goroutine.
type Stream struct {
	c      *Client
	id     string
	events chan swarm.FeedEvent
	closed chan struct{} // closed by Close
	ended  chan struct{} // closed by finish
	err    error         // valid when ended is closed

	closing, ending sync.Once
}

// Subscribe starts a stream of the swarm's events. The caller must close it.
func (c *Client) Subscribe(ctx context.Context, f swarm.Filter) (*Stream, error) {
	s := &Stream{c: c, events: make(chan swarm.FeedEvent), closed: make(chan struct{}), ended: make(chan struct{})}
	answered := make(chan reply, 1)
	// Register the stream before sending the request, because its first event may follow
	// the response immediately.
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return nil, c.err
	}
	c.last++
	s.id = streamID(c.last)
	c.waiting[s.id] = answered
	c.streams[s.id] = s
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, s.id)
		c.mu.Unlock()
	}()
	err := c.write(request{Type: reqSubscribe, ID: s.id, Agent: f.Agent, Text: f.Text, Raw: f.Raw})
	if err == nil {
		select {
		case r := <-answered:
			err = decode(r, nil)
		case <-c.done:
			err = ErrGone
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Next waits for the next event. The error is [io.EOF] if the daemon has ended the stream
// or the caller has closed it, [ErrGone] if the connection has ended, or the error from
// ctx.
func (s *Stream) Next(ctx context.Context) (swarm.FeedEvent, error) {
	select {
	case ev := <-s.events:
		return ev, nil
	case <-s.ended:
		return swarm.FeedEvent{}, s.err
	case <-s.closed:
		return swarm.FeedEvent{}, io.EOF
	case <-ctx.Done():
		return swarm.FeedEvent{}, ctx.Err()
	}
}

// Close ends the stream.
func (s *Stream) Close() {
	s.closing.Do(func() {
		close(s.closed)
		s.c.mu.Lock()
		delete(s.c.streams, s.id)
		s.c.mu.Unlock()
		// An error means that the connection, and therefore the stream, has ended.
		_ = s.c.write(request{Type: typeCancel, ID: s.id})
	})
}

// put passes an event from the client's reader to Next. It waits until Next has received the
// event, or the stream or the client is closed. In the meantime, the daemon queues new
// events, and drops the oldest ones when its queue is full.
func (s *Stream) put(r reply) {
	if r.End {
		s.finish(io.EOF)
		return
	}
	var ev swarm.FeedEvent
	if json.Unmarshal(r.Data, &ev) != nil {
		return
	}
	select {
	case s.events <- ev:
	case <-s.closed:
	case <-s.c.closing:
	}
}

func (s *Stream) finish(err error) {
	s.ending.Do(func() {
		s.err = err
		close(s.ended)
	})
}

func streamID(n int) string { return "s" + strconv.Itoa(n) }
