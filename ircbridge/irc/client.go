package irc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A Client keeps a connection up. After a connection ends, it reconnects with a
// [Backoff], rejoins its channels, and fetches the messages that it has missed. Its
// events form a single stream without duplicates. All methods are safe for concurrent
// use.
type Client struct {
	cfg    Config
	o      Options
	events events
	wanted *wanted

	mu     sync.Mutex // guards the fields below
	conn   *Conn      // nil if there is no connection
	status Status     // without Failed
}

// NewClient makes a client. The client does nothing until Run is called.
func NewClient(cfg Config, o Options) *Client {
	if o.Memory == nil {
		o.Memory = &RAM{}
	}
	return &Client{
		cfg: cfg, o: o, events: make(events, maxEvents), wanted: newWanted(o.Channels),
		status: Status{Conn: State{Phase: Closed, Nick: cfg.Nick}},
	}
}

// Events returns the stream of events, which is closed when Run returns. The caller must
// read the stream in a goroutine that does not call [Client.Do] or [Client.History].
func (c *Client) Events() <-chan Event { return c.events }

// Run keeps the connection up until ctx is done, then sends QUIT and returns nil. It
// returns an error if a retry would not help; see [Final]. It must be called only once.
// When it returns, all its goroutines have ended.
func (c *Client) Run(ctx context.Context) error {
	defer close(c.events)
	tr := &translator{
		o: c.o, log: orDiscard(c.cfg.Log), events: c.events, wanted: c.wanted, recents: make(map[string]*recent),
	}
	for {
		c.mu.Lock()
		c.status.Tries++
		c.mu.Unlock()
		conn, err := Dial(ctx, c.cfg)
		var stood time.Duration
		if err == nil {
			begin := time.Now()
			c.up(conn)
			err = tr.serve(ctx, conn)
			stood = time.Since(begin)
		}
		if ctx.Err() != nil {
			c.down(nil, time.Time{})
			return nil
		}
		wait, stop := c.o.Backoff.Next(err, stood)
		if stop {
			c.down(err, time.Time{})
			c.events.emit(ctx, Down{Err: err, Was: stood > 0})
			return err
		}
		c.down(err, time.Now().Add(wait))
		c.events.emit(ctx, Down{Err: err, Retry: wait, Was: stood > 0})
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

func (c *Client) up(conn *Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = conn
	c.status.Up, c.status.Err, c.status.Retry = true, nil, time.Time{}
	c.wanted.begin()
}

func (c *Client) down(err error, retry time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = nil
	c.status.Up, c.status.Err, c.status.Retry = false, err, retry
	c.status.Conn = State{Phase: Closed, Nick: c.cfg.Nick}
}

// Status returns the current status of the client.
func (c *Client) Status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.status
	if c.conn != nil {
		s.Conn = c.conn.State()
	}
	s.Failed = c.wanted.failures()
	return s
}

// Conn returns the connection; ok is false if there is no connection. The connection may
// end at any time.
func (c *Client) Conn() (conn *Conn, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn, c.conn != nil
}

// Post works like [Conn.Post]. If there is no connection, the delivery fails immediately
// with [ErrNotSent].
func (c *Client) Post(o Outgoing) *Delivery {
	if conn, ok := c.Conn(); ok {
		return conn.Post(o)
	}
	return refusedDelivery(ErrNotSent)
}

// Do works like [Conn.Do]. If there is no connection, the error is [ErrNotSent].
func (c *Client) Do(ctx context.Context, m Message) ([]Message, error) {
	if conn, ok := c.Conn(); ok {
		return conn.Do(ctx, m)
	}
	return nil, fmt.Errorf("%s: %w", m.Command, ErrNotSent)
}

// History returns the messages of target after a mark, as [Conn.History] does. They
// include this client's own messages, so the history shows the fate of a delivery that
// ended with [ErrUnproven].
func (c *Client) History(ctx context.Context, target string, after Mark) ([]Text, error) {
	conn, ok := c.Conn()
	if !ok {
		return nil, fmt.Errorf("history of %s: %w", target, ErrNotSent)
	}
	messages, err := conn.History(ctx, target, after)
	st := conn.State()
	var texts []Text
	for _, m := range messages {
		if t, ok := newText(m, &st, time.Now()); ok {
			t.History = true
			texts = append(texts, t)
		}
	}
	return texts, err
}

// Join makes the client join a channel, now and after every reconnect. The outcome is an
// event: [Joined] or [Failed]. If an earlier attempt to join the channel failed, the
// client retries immediately.
func (c *Client) Join(ch Channel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted.add(ch, c.fold())
}

// Part leaves a channel for good.
func (c *Client) Part(channel, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted.remove(channel, c.fold())
	if c.conn != nil {
		c.conn.tell(Msg("PART", channel, reason))
	}
}

func (c *Client) fold() CaseMapping {
	if c.conn != nil {
		return c.conn.State().CaseMapping()
	}
	return ASCII
}

// Handled records in the [Memory] that a message was handled, so that it is not emitted
// again after a restart of the program. The caller must handle the messages of a target
// in order.
func (c *Client) Handled(t Text) error {
	c.mu.Lock()
	fold := c.fold()
	c.mu.Unlock()
	err := c.o.Memory.Add(fold.Fold(t.Peer()), t.Mark())
	if t.Private {
		err = errors.Join(err, c.o.Memory.Add("", Mark{Time: t.Time}))
	}
	return err
}
