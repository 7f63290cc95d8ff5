package irc

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxIncoming is the maximum number of received messages that can wait in
// [Conn.Messages]. At this limit, the client stops reading from the connection, so the
// server must wait. During this time the client does not treat the server as silent.
const maxIncoming = 1024

// writeTimeout is the timeout for a write. It ends a connection whose other side has
// stopped reading.
const writeTimeout = 60 * time.Second

// A Conn is one registered connection, which is alive until Done is closed. It does not
// reconnect, unlike a [Client]. All methods are safe for concurrent use.
//
// A Conn has two goroutines. The reader reads from the socket, and owns the batches and
// the registration. The writer writes to the socket and runs the timers. Both end when
// the connection ends, and [Conn.Close] waits for them.
type Conn struct {
	cfg    Config
	log    *slog.Logger
	nc     net.Conn
	below  net.Conn // the connection underneath TLS; without TLS, the same as nc
	isTLS  bool
	in     chan Message
	ending sync.Once
	done   chan struct{}
	wg     sync.WaitGroup

	mu  sync.Mutex // guards the fields below
	p   protocol
	err error // why the connection ended
}

// Dial connects and registers, and returns once the server has announced its features.
// ctx has no effect after that. The error is [ErrConfig] or [ErrSASL] if a retry would
// not help, [ErrNoSASL] if the server currently accepts no logins, or a [*Refused] if the
// server refused the connection. It can also be [ErrTimeout], [ErrInternal], ctx's error, or an error
// from net or tls. The caller must read [Conn.Messages] and call [Conn.Close].
func Dial(ctx context.Context, cfg Config) (*Conn, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.RegisterTimeout, ErrTimeout)
	defer cancel()
	c := &Conn{
		cfg: cfg, log: cfg.Log,
		in:   make(chan Message, maxIncoming),
		done: make(chan struct{}),
		p: protocol{
			cfg: cfg, mask: cfg.masker(), log: cfg.Log,
			bell: make(chan struct{}, 1), ready: make(chan struct{}),
			st: newSession(cfg.Nick), out: newOutbox(cfg.Flood, time.Now()),
		},
	}
	if c.nc, err = c.connect(ctx); err != nil {
		return nil, &connectError{cfg.Addr, err}
	}
	c.p.timers = timers{heard: time.Now()}
	c.wg.Go(c.read)
	c.wg.Go(c.write)
	select {
	case <-c.p.ready:
		return c, nil
	case <-c.done:
		select {
		case <-c.p.ready:
			return c, nil // the connection has already ended, but its messages can still be read
		default:
		}
	case <-ctx.Done():
		c.end(context.Cause(ctx))
	}
	c.wg.Wait()
	return nil, fmt.Errorf("register at %s: %w", cfg.Addr, c.Err())
}

// connect dials and performs the TLS handshake. It refuses an unencrypted login to
// another machine. If TLS is configured, it never connects without TLS.
func (c *Conn) connect(ctx context.Context) (net.Conn, error) {
	nc, err := c.cfg.Dial(ctx, "tcp", c.cfg.Addr)
	if err != nil {
		return nil, err
	}
	c.below = nc
	if c.cfg.Clear {
		if c.cfg.SASL != nil && !isLoopback(nc.RemoteAddr()) {
			return nil, errors.Join(fmt.Errorf("%w: SASL would be sent unencrypted", ErrConfig), nc.Close())
		}
		return nc, nil
	}
	tc := tls.Client(nc, c.cfg.TLS)
	if err := tc.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, nc.Close())
	}
	c.isTLS = true
	return tc, nil
}

func isLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback() // a pipe or a Unix socket does not leave the machine
}

// Messages returns the received messages, in order. The channel is closed when the
// connection ends. The channel does not contain PING, CAP and similar messages, or the
// echo of [Conn.Post]. A multiline batch is one message with line feeds in its last
// parameter. A message from any other batch, except a labeled-response, has the batch's
// type, such as chathistory, as its "batch" tag. A batch that is incomplete when the
// connection ends is dropped.
//
// The caller must read from the channel in a goroutine that does not call [Conn.Do].
func (c *Conn) Messages() <-chan Message { return c.in }

// Done returns a channel that is closed when the connection has ended. [Conn.Err] then
// returns the reason.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns nil until the connection ends. After that, it returns [ErrClosed] if
// [Conn.Close] was called, a [*Refused] if the server ended the connection with a reason,
// [ErrInternal] after a panic, or else [ErrTimeout], io.EOF or another network error.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// State returns a snapshot of what is known about the connection.
func (c *Conn) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &c.p.st
	state := State{
		Phase: s.phase, TLS: c.isTLS, Bouncer: s.bouncer(), Nick: s.nick, Source: s.source, Account: s.account,
		Caps: maps.Clone(s.caps), ISupport: s.isup.clone(), Lag: s.lag, Since: s.since, Heard: s.heard, Dropped: s.dropped,
		Waiting: c.p.out.size(), Unproven: len(c.p.out.flying),
	}
	for _, r := range s.rooms {
		state.Channels = append(state.Channels, r.name)
	}
	slices.Sort(state.Channels)
	return state
}

// Members returns the sorted nicks and the topic of a joined channel. ok is false for any
// other channel.
func (c *Conn) Members(channel string) (nicks []string, topic string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.p.st.rooms[c.p.st.fold.Fold(channel)]
	if !ok {
		return nil, "", false
	}
	return slices.Sorted(maps.Values(r.members)), r.topic, true
}

// Ranks returns the signs of the members' ranks in a joined channel, such as "@", by folded
// nick, as of the last list of names that the server sent.
func (c *Conn) Ranks(channel string) map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.p.st.rooms[c.p.st.fold.Fold(channel)]; r != nil {
		return maps.Clone(r.ranks)
	}
	return nil
}

// Stay returns a number for the time between joining and leaving a channel, or 0 if this
// connection is not in the channel. After each join the number is larger.
func (c *Conn) Stay(channel string) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.p.st.rooms[c.p.st.fold.Fold(channel)]; r != nil {
		return r.stay
	}
	return 0
}

// Close sends QUIT, waits until the server hangs up or ctx is done, and then waits for
// the goroutines. Messages that are still waiting are not sent, so the caller should
// first wait for their deliveries.
func (c *Conn) Close(ctx context.Context, reason string) error {
	c.leave(reason)
	for open := true; open; {
		select {
		case _, open = <-c.in: // the reader must reach the end of the input
		case <-ctx.Done():
			open = false
		}
	}
	c.end(ErrClosed)
	c.wg.Wait()
	return nil
}

// leave queues a QUIT before everything else.
func (c *Conn) leave(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.p.st.refused == nil {
		c.p.st.leaving = true
	}
	c.p.urgent(Msg("QUIT", reason))
}

// end is the only function that ends the connection. Only the first call has an effect.
func (c *Conn) end(err error) {
	c.ending.Do(func() {
		defer c.nc.Close()
		defer close(c.done)
		if errors.Is(err, ErrTimeout) {
			c.discard() // before a caller can see that the connection has ended and resend the message
		}
		c.settle(err)
	})
}

// settle records why the connection ended, and settles all messages that are in flight or
// waiting.
func (c *Conn) settle(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.p.st.leaving:
		err = ErrClosed
	case c.p.st.refused != nil:
		err = c.p.st.refused
	}
	c.err = err
	c.p.st.phase = Closed
	c.p.out.end(err)
}

// discard drops the bytes that the other side has not acknowledged. Otherwise the kernel
// would try to send them for several minutes after the end, and they could arrive after
// the message was resent.
func (c *Conn) discard() {
	if tcp, ok := c.below.(interface{ SetLinger(sec int) error }); ok {
		_ = tcp.SetLinger(0)
	}
	c.below.Close() // close before TLS sends its closing message, which would block
}

func (c *Conn) write() {
	defer c.endAfterPanic()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		now := time.Now()
		data, rest, wait, err := c.next(now)
		if err != nil {
			c.end(err)
			return
		}
		if len(data) > 0 {
			c.logLines("->", data)
			_ = c.nc.SetWriteDeadline(now.Add(writeTimeout))
			if _, err := c.nc.Write(data); err != nil {
				c.afterWriteError(err)
				return
			}
			continue
		}
		if wait > 0 {
			rest = min(rest, wait)
		}
		timer.Reset(rest)
		select {
		case <-c.p.bell:
		case <-timer.C:
		case <-c.done:
			return
		}
	}
}

// next returns the data to write now. rest is the time until the next timer, and wait the
// time after which more may be written; 0 means that nothing is waiting.
func (c *Conn) next(now time.Time) (data []byte, rest, wait time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rest, err = c.p.runTimers(now)
	data, wait = c.p.out.next(now)
	return data, rest, wait, err
}

// begin begins the registration.
func (c *Conn) begin(reg *registration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reg.begin(&c.p)
}

// handle handles a received message, and returns the messages for the caller.
func (c *Conn) handle(m Message, b *batches, reg *registration) (seen []Message, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.p.handle(m, b, reg)
}

// endAfterPanic ends the connection if the goroutine that defers it has panicked, so that a
// bug does not end the program. No function may hold mu when it panics: all of them release
// it with defer.
func (c *Conn) endAfterPanic() {
	if p := recover(); p != nil {
		stack := debug.Stack()
		c.end(fmt.Errorf("%w: %v", ErrInternal, p))
		c.log.Error("connection panicked", "err", fmt.Sprint(p), "stack", string(stack))
	}
}

// afterWriteError gives the reader a moment to find an ERROR from the server, which is
// more informative than a broken pipe.
func (c *Conn) afterWriteError(err error) {
	select {
	case <-c.done:
	case <-time.After(time.Second):
		c.end(err)
	}
}

func (c *Conn) read() {
	defer close(c.in)
	defer c.endAfterPanic()
	r := bufio.NewReaderSize(c.nc, maxRead)
	var batches batches
	reg := newRegistration(c.cfg)
	c.begin(reg)
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = r.ReadSlice('\n')
			}
			c.drop("line was too long")
			if err == nil {
				continue
			}
		}
		if errors.Is(err, io.EOF) {
			err = silentEnd{}
		}
		if err != nil {
			c.end(err)
			return
		}
		if len(line) == 0 {
			continue
		}
		c.logLines("<-", line)
		m, err := Parse(string(line))
		if err != nil {
			c.drop("line was not understood")
			continue
		}
		seen, err := c.handle(m, &batches, reg)
		for _, m := range seen {
			select {
			case c.in <- m:
			default:
				c.blocked(true)
				select {
				case c.in <- m:
					c.blocked(false)
				case <-c.done:
					return
				}
			}
		}
		if err != nil {
			c.end(err)
			return
		}
	}
}

// blocked records whether the reader is currently waiting for its consumer instead of the
// server.
func (c *Conn) blocked(now bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.p.timers.blocked = now
	c.p.timers.heard = time.Now()
}

func (c *Conn) drop(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.p.st.dropped++
	c.log.Warn(why, "dropped", c.p.st.dropped)
}

func (c *Conn) logLines(way string, data []byte) {
	if !c.log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	for line := range strings.Lines(string(data)) {
		c.log.Debug("line", "way", way, "text", c.p.mask.Line(strings.TrimRight(line, "\r\n")))
	}
}
