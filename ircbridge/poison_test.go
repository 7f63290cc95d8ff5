package ircbridge_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
)

// A message that repeatedly causes a panic in the connection is given up, and the messages
// beside it are posted.
func TestAMessageThatCausesAPanic(t *testing.T) {
	srv := irctest.NewServer(t, irctest.Features{Without: []string{"draft/chathistory"}})
	s := newScene(t, srv.Addr)
	s.o.Log = slog.New(allergic{s.o.Log.Handler()})
	s.start()
	s.ready()
	bad := s.say("coder", bridge.Origin{}, "poison")
	var good []string
	for _, text := range []string{"one", "two", "three"} {
		good = append(good, s.say("coder", bridge.Origin{}, text))
	}
	s.where(bad, dropbox.Dead)
	for _, id := range good {
		s.where(id, dropbox.Done)
	}
	told := s.mail("coder", 1)[0]
	if told.ReplyTo != bad || !strings.Contains(string(told.Body), "the connection ended") || !strings.Contains(string(told.Body), "internal error: a bug") {
		t.Errorf("coder was told %q", told.Body)
	}
	count := map[string]int{}
	for _, m := range srv.Said("#project-x") {
		count[strings.Replace(m.Text, "(again) ", "", 1)]++
	}
	for _, text := range []string{"[coder] one", "[coder] two", "[coder] three"} {
		if n := count[text]; n < 1 || n > 2 {
			t.Errorf("%q was said %d times: %v", text, n, count)
		}
	}
}

// allergic is a log handler that panics at each received line that contains "poison".
type allergic struct{ slog.Handler }

func (allergic) Enabled(context.Context, slog.Level) bool { return true }

func (h allergic) Handle(ctx context.Context, r slog.Record) error {
	received, poison := false, false
	r.Attrs(func(a slog.Attr) bool {
		received = received || a.Key == "way" && a.Value.String() == "<-"
		poison = poison || a.Key == "text" && strings.Contains(a.Value.String(), "poison")
		return true
	})
	if received && poison {
		panic("a bug")
	}
	return h.Handler.Handle(ctx, r)
}

func (h allergic) WithAttrs(a []slog.Attr) slog.Handler { return allergic{h.Handler.WithAttrs(a)} }
func (h allergic) WithGroup(n string) slog.Handler      { return allergic{h.Handler.WithGroup(n)} }
