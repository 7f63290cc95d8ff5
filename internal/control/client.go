package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/swarm/whisper"
)

// helloTimeout is how long a client waits for the daemon's first line. A daemon that takes
// longer is considered stuck.
const helloTimeout = 5 * time.Second

// errHungUp is the error returned if the daemon ends while a client is connecting: the
// kernel has accepted the connection, but no answer arrives.
var errHungUp = errors.New("hung up before the first line")

// A Client talks to the daemon of one project. It is safe for concurrent use. A stream that
// the caller does not read delays all other answers, so a caller that also sends other
// requests should use a second client for them.
type Client struct {
	conn    net.Conn
	path    string
	version string
	warning string
	done    chan struct{} // closed when the reader has ended

	once    sync.Once
	closing chan struct{} // closed by Close

	wmu sync.Mutex // held while a line is being written

	mu      sync.Mutex
	last    int
	waiting map[string]chan reply
	streams map[string]*Stream
	err     error // why the reader ended
	whisper func(line string)
}

// Dial connects to the daemon of a project. version is the version of the calling
// program. After the project's paths, Dial tries the non-empty paths in also. The error
// is [ErrNoDaemon] if no daemon answers. The caller must close the client.
func Dial(ctx context.Context, project, version string, getenv func(string) string, also ...string) (*Client, error) {
	paths, unknown := discovery.Paths(project, getenv) // without HOME, only also is known
	var d net.Dialer
	for _, path := range append(paths, also...) {
		if path == "" {
			continue
		}
		conn, err := d.DialContext(ctx, "unix", path)
		switch {
		case err == nil:
			c, err := newClient(ctx, conn, path, version)
			if errors.Is(err, errHungUp) {
				continue
			}
			return c, err
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOTDIR):
			continue
		}
		return nil, fmt.Errorf("control socket: %w", err)
	}
	if unknown != nil {
		return nil, unknown
	}
	return nil, ErrNoDaemon
}

func newClient(ctx context.Context, conn net.Conn, path, version string) (*Client, error) {
	c := &Client{conn: conn, path: path, done: make(chan struct{}), closing: make(chan struct{}),
		waiting: make(map[string]chan reply), streams: make(map[string]*Stream)}
	lines, err := c.greet(ctx, version)
	if err != nil {
		conn.Close()
		return nil, err
	}
	go c.read(lines) // Close waits for this goroutine
	return c, nil
}

// greet exchanges hellos with the daemon.
func (c *Client) greet(ctx context.Context, version string) (*lineReader, error) {
	deadline := time.Now().Add(helloTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	if err := c.conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { c.conn.Close() })
	defer stop()
	lines := newLineReader(c.conn)
	// A daemon that refuses this client sends the reason and hangs up, perhaps before our
	// hello is written. Therefore, read the answer even if the write failed.
	writeErr := writeFrame(c.conn, hello{Type: typeHello, V: protocolVersion, Version: version})
	line, err := lines.next()
	if err != nil {
		err = errors.Join(err, writeErr)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
			return nil, errHungUp
		}
		return nil, &Error{Code: CodeFailed, Message: fmt.Sprintf("the program listening on %s does not answer: %v", c.path, err),
			Hint: "claude-swarm doctor"}
	}
	var first struct {
		hello
		Error *Error `json:"error"` // set if the daemon refuses the client before its hello
	}
	if err := json.Unmarshal(line, &first); err != nil {
		return nil, fmt.Errorf("control socket: the program listening on %s is not a claude-swarm daemon: %w", c.path, err)
	}
	if first.Error != nil {
		return nil, first.Error
	}
	if first.Type != typeHello {
		return nil, fmt.Errorf("control socket: the program listening on %s is not a claude-swarm daemon", c.path)
	}
	c.version = first.Version
	if first.V != protocolVersion {
		return nil, &Error{Code: CodeVersion, Hint: "claude-swarm restart",
			Message: fmt.Sprintf("the daemon (%s) speaks version %d of the protocol, but this program (%s) speaks version %d", first.Version, first.V, version, protocolVersion)}
	}
	if first.Version != version {
		c.warning = fmt.Sprintf("the daemon is version %s, but this program is version %s", first.Version, version)
	}
	return lines, c.conn.SetDeadline(time.Time{})
}

// Close closes the connection, and ends the calls and streams that use it.
func (c *Client) Close() error {
	c.once.Do(func() { close(c.closing) })
	err := c.conn.Close()
	<-c.done
	return err
}

// Gone returns a channel that is closed when the connection has ended, which happens when
// the daemon ends, if not before.
func (c *Client) Gone() <-chan struct{} { return c.done }

// OnWhisper sets the function that receives each whisper, as one line, for the agent in
// whose turn the program is running. The reading goroutine calls show before it delivers
// the response that follows the whisper. OnWhisper must be called before the first
// request.
func (c *Client) OnWhisper(show func(line string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.whisper = show
}

// Version returns the version of the daemon.
func (c *Client) Version() string { return c.version }

// Warning returns a warning if the daemon and the program have different versions, and ""
// if the versions are the same.
func (c *Client) Warning() string { return c.warning }

// Path returns the path of the socket.
func (c *Client) Path() string { return c.path }

// call sends a request, waits for the answer, and decodes it into data unless data is nil.
// If ctx is done first, the daemon still completes the request.
func (c *Client) call(ctx context.Context, req request, data any) error {
	answered := make(chan reply, 1)
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return c.err
	}
	c.last++
	req.ID = strconv.Itoa(c.last)
	c.waiting[req.ID] = answered
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, req.ID)
		c.mu.Unlock()
	}()
	if err := c.write(req); err != nil {
		return err
	}
	select {
	case r := <-answered:
		return decode(r, data)
	case <-ctx.Done():
		return ctx.Err()
	case <-c.done:
	}
	select { // the answer may have been the last line
	case r := <-answered:
		return decode(r, data)
	default:
		return ErrGone
	}
}

func decode(r reply, data any) error {
	if r.Error != nil {
		return r.Error
	}
	if data == nil || len(r.Data) == 0 {
		return nil
	}
	if err := json.Unmarshal(r.Data, data); err != nil {
		return fmt.Errorf("answer from the daemon: %w", err)
	}
	return nil
}

func (c *Client) write(frame any) error {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	if err := writeFrame(c.conn, frame); err != nil {
		select {
		case <-c.done:
			return ErrGone
		default:
		}
		if errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
			return ErrGone
		}
		return err
	}
	return nil
}

// read passes each line from the daemon to its call or its stream until the connection
// ends.
func (c *Client) read(lines *lineReader) {
	defer close(c.done)
	for {
		line, err := lines.next()
		if errors.Is(err, errTooLong) {
			continue
		} else if err != nil {
			break
		}
		var r reply
		if json.Unmarshal(line, &r) != nil {
			continue // a newer daemon may send lines of other types
		}
		if r.Type == typeWhisper {
			c.mu.Lock()
			show := c.whisper
			c.mu.Unlock()
			var w whispered
			if json.Unmarshal(line, &w) == nil && show != nil {
				show(whisper.Whisper{Type: w.WhisperType, Text: w.Message}.Line())
			}
			continue
		}
		c.mu.Lock()
		answered, stream := c.waiting[r.ID], c.streams[r.ID]
		c.mu.Unlock()
		switch {
		case r.Type == typeResponse && answered != nil:
			select {
			case answered <- r:
			default: // a second answer to the same request
			}
		case r.Type == typeEvent && stream != nil:
			stream.put(r)
		}
	}
	c.mu.Lock()
	c.err = ErrGone
	streams := c.streams
	c.streams = nil
	c.mu.Unlock()
	for _, s := range streams {
		s.finish(ErrGone)
	}
}
