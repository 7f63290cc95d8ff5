package ircbridge

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// A connection is an IRC connection that the irc package keeps up. It belongs to the
// bridge or, with [StyleNicks], to an agent. The bridge's goroutine owns its fields.
type connection struct {
	agent  string // "" means the bridge's own connection
	client *irc.Client
	stop   context.CancelFunc

	up       bool
	doubtful bool // see [connection.doubt]
	caught   bool // all private messages up to now are known
	gen      int  // counts connections
	nick     string
	nicks    []string // its latest nicks, folded; a line from any of them is ours
	fold     irc.CaseMapping
	state    irc.State // the state when the connection began
	since    time.Time // when this connection began
	proven   int       // how many pieces of our text are known to have arrived over this connection
	retired  bool
}

// usable reports whether the connection can post now.
func (c *connection) usable() bool { return c.up && !c.doubtful }

// doubt records that the connection has failed, before the event about the failure
// arrives. The connection posts nothing until that event arrives, or until it is up
// again. A failure of an earlier connection does not count.
func (c *connection) doubt() {
	if conn, ok := c.client.Conn(); ok {
		select {
		case <-conn.Done():
		default:
			return
		}
	}
	c.doubtful = true
}

// begun records that a connection is up.
func (c *connection) begun(st irc.State) {
	c.since, c.proven = time.Now(), 0
	c.up, c.doubtful, c.gen, c.state, c.nick, c.fold = true, false, c.gen+1, st, st.Nick, st.CaseMapping()
	c.nicks = append(c.nicks, c.fold.Fold(st.Nick))
	if len(c.nicks) > 64 {
		c.nicks = c.nicks[len(c.nicks)-64:]
	}
}

// has reports whether a nick is, or was, a nick of the connection.
func (c *connection) has(nick string) bool { return slices.Contains(c.nicks, c.fold.Fold(nick)) }

// connect makes a connection. A goroutine keeps the connection up until ctx is done.
func (l *link) connect(ctx context.Context, agent, nick string) (*connection, error) {
	cfg, err := l.o.config(nick)
	if err != nil {
		return nil, err
	}
	dir := Folder(l.o.Home)
	opts := irc.Options{Backoff: l.o.backoff(), RejoinAfter: l.o.RejoinAfter}
	for _, room := range l.rooms.inOrder() {
		if room.wanted && (agent == "" || room.fixed && l.o.Channels.Hears(agent, room.name)) {
			opts.Channels = append(opts.Channels, l.o.channel(room.name))
		}
	}
	opts.Memory = memory{dir}
	if agent != "" {
		opts.Memory = privateMemory{memory{dir}}
	}
	c := &connection{agent: agent, client: irc.NewClient(cfg, opts), nick: nick, fold: irc.RFC1459}
	c.nicks = []string{c.fold.Fold(nick)}
	ctx, c.stop = context.WithCancel(ctx)
	handled := make(chan struct{}) // closed when the bridge has handled all events
	l.host.Do(func() func() {
		if agent != "" { // many simultaneous connections look like an attack
			select {
			case <-time.After(rand.N(time.Second)):
			case <-ctx.Done():
			}
		}
		err := c.client.Run(ctx)
		<-handled // otherwise a late event could overwrite the reason why the connection ended
		return func() { l.over(c, err) }
	})
	l.host.Do(func() func() {
		defer close(handled)
		for e := range c.client.Events() {
			if agent == "" {
				l.host.Event(func() { l.handle(c, e) }) // the event is lost if the bridge has ended
			} else {
				l.host.Later(func() { l.handle(c, e) })
			}
		}
		if agent == "" {
			l.host.Event(func() { c.up = false })
		}
		return nil
	})
	return c, nil
}

// hungUp describes the end of a connection. because reports whether a message may be the
// cause: the server announced that it would hang up, for a reason other than a shutdown;
// the connection ended without an announcement; or one of our goroutines panicked. It is
// false after a shutdown or a KILL, if the connection timed out, or if we ended it.
func hungUp(err error) (h bridge.Hangup, because bool) {
	h.Err = err
	if refused, ok := errors.AsType[*irc.Refused](err); ok {
		text := strings.ToLower(refused.Text)
		leaving := strings.Contains(text, "shut") || strings.Contains(text, "restart") || strings.Contains(text, "terminat")
		h.Spoken = refused.Code == "ERROR" && !leaving
		return h, h.Spoken
	}
	h.Ours = errors.Is(err, irc.ErrInternal)
	return h, h.Ours || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
