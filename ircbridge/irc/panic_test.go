package irc_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
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
