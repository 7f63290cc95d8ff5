package ircbridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// A link is one connection, which the library keeps up: the bridge's own, or with
// [StyleNicks] an agent's. Its fields belong to the loop.
type link struct {
	agent  string // "" is the bridge's own
	client *irc.Client
	events <-chan irc.Event // of the bridge's own; those of others come by later
	stop   context.CancelFunc

	up       bool
	doubtful bool // see [link.doubt]
	caught   bool // all private talk until now is known
	gen      int  // counts connections
	nick     string
	nicks    []string // all that it has had, folded: what comes from one of them is ours
	fold     irc.CaseMapping
	state    irc.State // as of the beginning of the connection
	since    time.Time // of this connection
	proven   int       // lines of ours on it
	posted   uint64    // counts messages
	retired  bool
}

// usable says whether something can be posted.
func (l *link) usable() bool { return l.up && !l.doubtful }

// doubt notes that nothing can be posted, until the news of that comes, or of the next
// connection. What was said by an earlier connection says nothing of this one.
func (l *link) doubt() {
	if conn, ok := l.client.Conn(); ok {
		select {
		case <-conn.Done():
		default:
			return
		}
	}
	l.doubtful = true
}

// newLink makes a link and begins to keep it up until ctx is done.
func (r *run) newLink(ctx context.Context, agent, nick string) (*link, error) {
	cfg, err := r.config(nick)
	if err != nil {
		return nil, err
	}
	opts := irc.Options{Backoff: r.backoff(), RejoinAfter: r.RejoinAfter}
	for _, room := range r.rooms {
		if room.wanted && (agent == "" || room.fixed && r.hears(agent, room.name)) {
			opts.Channels = append(opts.Channels, r.channel(room.name))
		}
	}
	opts.Memory = memory{r.Home}
	if agent != "" {
		opts.Memory = privateMemory{memory{r.Home}}
	}
	l := &link{agent: agent, client: irc.NewClient(cfg, opts), nick: nick, fold: irc.RFC1459}
	l.nicks = []string{l.fold.Fold(nick)}
	ctx, l.stop = context.WithCancel(ctx)
	r.work.Go(func() {
		if agent != "" { // many that come at once look like an attack
			select {
			case <-time.After(rand.N(time.Second)):
			case <-ctx.Done():
			}
		}
		err := l.client.Run(ctx)
		hand(r.later, func() { r.over(l, err) })
	})
	if agent == "" {
		l.events = l.client.Events()
		return l, nil
	}
	r.work.Go(func() {
		for e := range l.client.Events() {
			hand(r.later, func() { r.take(l, e, true) })
		}
	})
	return l, nil
}

// hire makes a link for every agent that has none, and ends those of agents that are
// gone.
func (r *run) hire(ctx context.Context) {
	if r.Style != StyleNicks {
		return
	}
	names := r.agents()
	for _, name := range names {
		if r.others[name] != nil {
			continue
		}
		l, err := r.newLink(ctx, name, r.Nick(name))
		if err != nil {
			r.trouble("agent was not connected", err)
			return
		}
		r.others[name] = l
	}
	for name, l := range r.others {
		if !slices.Contains(names, name) && !l.retired {
			l.retired = true
			l.stop()
		}
	}
}

// over notes that a link is not kept up any more: at the end, or because trying again
// would be of no use.
func (r *run) over(l *link, err error) {
	if l.agent != "" {
		delete(r.others, l.agent)
		if err != nil {
			r.state.Instead = fmt.Sprintf("%s speaks through the bridge: %v", l.agent, err)
		}
		l.up = false
		return
	}
	if err != nil {
		r.trouble("the bridge does not try again", err)
		r.state.Why, r.state.NextTry = r.mask.Mask(err.Error())+"; it is not tried again before a reload", time.Time{}
	}
}

// hungUp says whether the other side ended a connection, as opposed to one that fell
// silent or that we ended: spoken, if the server said that it does and not that it goes
// itself, bare if it ended without a word.
func hungUp(err error) (spoken, bare bool) {
	if refused, ok := errors.AsType[*irc.Refused](err); ok {
		text := strings.ToLower(refused.Text)
		leaving := strings.Contains(text, "shut") || strings.Contains(text, "restart") || strings.Contains(text, "terminat")
		return refused.Code == "ERROR" && !leaving, false
	}
	return false, errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// take deals with what a link has to tell. ok is false when it will tell no more.
func (r *run) take(l *link, e irc.Event, ok bool) {
	r.dirty = true
	if !ok {
		l.events, l.up = nil, false
		return
	}
	switch e := e.(type) {
	case irc.Up:
		r.connected(l, e.State)
	case irc.Down:
		r.disconnected(l, e)
	case irc.Text:
		r.hear(l, e)
	case irc.Renamed:
		switch {
		case e.Own:
			l.nick = e.To
			l.nicks = append(l.nicks, l.fold.Fold(e.To))
			if conn, ok := l.client.Conn(); ok && l == r.main {
				r.describeUs(conn.State())
			}
		case l == r.main:
			r.follow(e.From, e.To)
		}
	case irc.CaughtUp:
		if e.Target == "" {
			l.caught = true
		} else if l == r.main {
			r.caughtUp(e)
		}
	default:
		if l == r.main {
			r.takeRoom(e)
		}
	}
}

func (r *run) connected(l *link, st irc.State) {
	l.since, l.proven = time.Now(), 0
	l.up, l.doubtful, l.gen, l.state, l.nick, l.fold = true, false, l.gen+1, st, st.Nick, st.CaseMapping()
	l.nicks = append(l.nicks, l.fold.Fold(st.Nick))
	if len(l.nicks) > 64 {
		l.nicks = l.nicks[len(l.nicks)-64:]
	}
	if l != r.main {
		return
	}
	if l.gen > 1 {
		r.state.Reconnects++
	}
	r.Log.Info("connected", "server", r.Server.HostPort(), keyNick, st.Nick)
	r.regroup()
	s := &r.state
	s.Connected, s.Since, s.Why, s.NextTry = true, time.Now().UTC(), "", time.Time{}
	r.describe(st)
}

func (r *run) disconnected(l *link, e irc.Down) {
	l.up, l.doubtful, l.caught = false, false, false
	if l == r.main {
		why := r.mask.Mask(fmt.Sprint(e.Err))
		r.Log.Log(r.ctx, levelOf(e), "not connected", keyWhy, why, "retry", e.Retry.Round(time.Millisecond))
		s := &r.state
		if s.Connected {
			s.Since = time.Now().UTC()
		}
		s.Connected, s.Why, s.NextTry = false, why, time.Time{}
		if e.Retry > 0 {
			s.NextTry = time.Now().Add(e.Retry).UTC()
		}
		for _, room := range r.rooms {
			room.joined, room.caught, room.bare = false, false, ""
			room.forgive()
			r.releaseJoiners(room)
		}
	} else if e.Err != nil {
		r.state.Instead = fmt.Sprintf("%s speaks through the bridge: %s", l.agent, r.mask.Mask(e.Err.Error()))
	}
}

// ours says whether a nick is, or was, one of our own.
func (r *run) ours(nick string) bool {
	is := func(l *link) bool { return slices.Contains(l.nicks, l.fold.Fold(nick)) }
	if is(r.main) {
		return true
	}
	for _, l := range r.others {
		if is(l) {
			return true
		}
	}
	return false
}

// now says whether a nick is one of our own at this moment.
func (r *run) now(nick string) bool {
	if r.main.fold.Same(nick, r.main.nick) {
		return true
	}
	for _, l := range r.others {
		if l.fold.Same(nick, l.nick) {
			return true
		}
	}
	return false
}

// follow remembers that somebody has another nick, so that answers reach them.
func (r *run) follow(from, to string) {
	if len(r.renamed) > 256 {
		clear(r.renamed)
	}
	r.renamed[r.fold().Fold(from)] = to
	delete(r.renamed, r.fold().Fold(to))
}

// nowCalled is the nick that somebody has now.
func (r *run) nowCalled(nick string) string {
	for range 8 {
		to, ok := r.renamed[r.fold().Fold(nick)]
		if !ok {
			break
		}
		nick = to
	}
	return nick
}
