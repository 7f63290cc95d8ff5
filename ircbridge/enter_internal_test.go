package ircbridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// A quietHost records the calls to Noted, and allows only a few other calls.
type quietHost struct {
	bridge.Host // nil, so an unexpected call panics
	noted       []string
}

func (h *quietHost) Noted(channels []string) { h.noted = channels }
func (*quietHost) Changed()                  {}
func (*quietHost) LookAgain()                {}

// newOffline returns a link without a connection.
func newOffline() (*link, *quietHost) {
	o := &Options{Options: bridge.Options{Channels: bridge.Channels{Project: "#project-x"}, Log: slog.New(slog.DiscardHandler)}}
	o.Server.RetryMin = time.Minute
	h := &quietHost{}
	l := newLink(o)
	l.host, l.stop, l.kill = h, context.Background(), context.Background()
	l.main = &connection{client: irc.NewClient(irc.Config{Addr: "localhost:1", Nick: "swarm"}, irc.Options{}), fold: irc.RFC1459, nick: "swarm"}
	return l, h
}

// The link reports the outcome of joining or leaving a channel, and records the channels
// for the next start.
func TestJoinAndLeave(t *testing.T) {
	l, h := newOffline()
	l.rooms.room("#project-x").wanted = true
	var told []string
	tell := func(e bridge.Entry) {
		told = append(told, fmt.Sprintf("%s in %v dropped %v: %s|%s", e.Name, e.In, e.Dropped, e.Why, e.Advice))
	}
	joined := func(channel string) { l.rooms.handle(irc.Joined{Channel: channel, Nick: "swarm", Own: true}) }

	l.rooms.Join("#Open", true, tell)
	joined("#open")
	l.rooms.Join("#OPEN", false, tell)
	l.rooms.Join("#shut", true, tell)
	l.rooms.handle(irc.Failed{Channel: "#shut", Err: errors.New("banned"), Retry: time.Minute})
	joined("#shut") // no request is still waiting for this channel
	l.rooms.Join("#later", false, tell)
	l.Stop()
	want := []string{
		"#Open in true dropped false: |", "#Open in true dropped false: |",
		"#shut in false dropped false: banned|#shut does not let me in: banned. To let me in immediately: /invite swarm #shut",
		"#later in false dropped true: |",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if want := []string{"#Open", "#later"}; !slices.Equal(h.noted, want) {
		t.Errorf("noted for the next start: %q, want %q", h.noted, want)
	}
	l.rooms.Leave("#open")
	if ch, known := l.rooms.Channel("#open"); known {
		t.Errorf("after it was left: %+v", ch)
	}
	if ch, _ := l.rooms.Channel("#PROJECT-X"); !ch.Fixed || !ch.Wanted {
		t.Errorf("the project's channel: %+v", ch)
	}
	for name, want := range map[string]string{"x": `"x" is not a channel`, "#a b": `"#a b" cannot be the name of a channel`, "#c": ""} {
		if got := l.rooms.CannotBe(name); got != want {
			t.Errorf("CannotBe(%q) = %q, want %q", name, got, want)
		}
	}
}

// A connection has proved reliable after enough lines, or after enough time.
func TestSound(t *testing.T) {
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d) }
	const stand = standFirst * time.Minute
	for name, c := range map[string]struct {
		proven int // the bridge's lines on the connection
		since  time.Time
		want   bool
	}{
		"a new connection":                     {0, ago(0), false},
		"almost enough lines":                  {othersFirst - 1, ago(stand - time.Minute), false},
		"enough lines":                         {othersFirst, ago(0), true},
		"a connection that stands long enough": {0, ago(stand + time.Second), true},
	} {
		l, _ := newOffline()
		l.main.proven, l.main.since = c.proven, c.since
		if got := l.Sound(); got != c.want {
			t.Errorf("%s: Sound = %v, want %v", name, got, c.want)
		}
	}
}
