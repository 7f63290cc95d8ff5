package irc_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// A brokenLog is a log handler that panics at each line that contains a text.
type brokenLog struct{ text string }

func (brokenLog) Enabled(context.Context, slog.Level) bool { return true }

func (h brokenLog) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "text" && strings.Contains(a.Value.String(), h.text) || r.Message == h.text {
			panic("a bug")
		}
		return true
	})
	return nil
}

func (h brokenLog) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h brokenLog) WithGroup(string) slog.Handler      { return h }

// A panic in a goroutine of a connection ends the connection with ErrInternal. A panic
// while the connection's lock is held does not block the connection's methods.
func TestAPanicEndsTheConnection(t *testing.T) {
	for name, c := range map[string]struct{ text, line string }{
		"while reading":          {"boom", "< :s NOTE :boom"},
		"while writing":          {"PONG", "< PING :boom"},
		"while the lock is held": {"line was not understood", "< :"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, irc.Config{Nick: "ann", Flood: fast, Log: slog.New(brokenLog{c.text}), Addr: irctest.Script(t, greet+hello+c.line)})
			select {
			case <-conn.Done():
			case <-time.After(patience):
				t.Fatal("the connection did not end")
			}
			if err := conn.Err(); !errors.Is(err, irc.ErrInternal) || !strings.Contains(err.Error(), "a bug") {
				t.Errorf("Err = %v, want ErrInternal with the panic", err)
			}
			if st := conn.State(); st.Phase != irc.Closed {
				t.Errorf("phase %v, want closed", st.Phase)
			}
		})
	}
}

// forgetful is a memory that panics.
type forgetful struct{ irc.Memory }

func (forgetful) Marks(string) ([]irc.Mark, error) { panic("a bug") }

// A panic in the client's own goroutine reaches the caller of Run after the connection has
// ended.
func TestAPanicEndsTheClient(t *testing.T) {
	var nc closing
	cfg := irc.Config{Nick: "ann", Clear: true, Flood: fast, Addr: irctest.Script(t, greet+hello)}
	cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		var err error
		nc.Conn, err = (&net.Dialer{}).DialContext(ctx, network, addr)
		return &nc, err
	}
	c := irc.NewClient(cfg, irc.Options{Channels: []irc.Channel{{Name: "#room"}}, Memory: forgetful{}})
	func() {
		defer func() {
			if p := recover(); p != "a bug" {
				t.Errorf("Run panicked with %v, want the panic of the memory", p)
			}
		}()
		go func() { // ends when Run closes the events
			for range c.Events() {
			}
		}()
		_ = c.Run(t.Context())
	}()
	if !nc.closed.Load() || nc.reading.Load() {
		t.Errorf("closed %v, being read %v, want a closed connection without a reader", nc.closed.Load(), nc.reading.Load())
	}
}

// A closing is a network connection that records whether it is closed and being read.
type closing struct {
	net.Conn
	closed, reading atomic.Bool
}

func (c *closing) Read(p []byte) (int, error) {
	c.reading.Store(true)
	n, err := c.Conn.Read(p)
	if err != nil {
		time.Sleep(20 * time.Millisecond) // so that the test detects a Run that does not wait for the reader
	}
	c.reading.Store(false)
	return n, err
}

func (c *closing) Close() error {
	c.closed.Store(true)
	return c.Conn.Close()
}

// After a panic in a connection, the client connects again.
func TestTheClientSurvivesAPanic(t *testing.T) {
	client := run(t, irc.Config{Nick: "ann", Log: slog.New(brokenLog{"boom"}), Addr: irctest.Script(t,
		greet+hello+"< :s NOTE :boom", greet+hello)}, irc.Options{})
	ups := 0
	for late := time.After(patience); ups < 2; {
		select {
		case e := <-client.Events():
			if _, ok := e.(irc.Up); ok {
				ups++
			}
		case <-late:
			t.Fatalf("connected %d times, want twice", ups)
		}
	}
}
