package ircbridge

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// Keys of log attributes.
const (
	keyChannel = "channel"
	keyErr     = "err"
	keyNick    = "nick"
	keyWhy     = "why"
)

// A link is the bridge's link to an IRC network. It contains the connections, the
// channels, and the messages in flight. The bridge's goroutine owns all of its data.
type link struct {
	o       *Options
	host    bridge.Host
	stop    context.Context // when this context is done, the link starts no new work
	kill    context.Context // when this context is done, the connections end
	main    *connection
	others  map[string]*connection // the agents' connections with [StyleNicks], by agent
	rooms   *rooms
	speech  *speech
	renamed map[string]string // maps a folded old nick to the new nick
	status  status
}

var _ bridge.Link = (*link)(nil)

func newLink(o *Options) *link {
	l := &link{o: o, others: map[string]*connection{}, renamed: map[string]string{}, status: status{style: o.Style}}
	l.rooms = &rooms{l: l, all: map[string]*room{}}
	l.speech = &speech{
		l: l, sayings: map[string]*saying{}, cut: map[*irc.Conn][]*saying{}, resume: map[string]resume{}, lookups: map[string]*lookup{},
	}
	return l
}

// Rooms implements [bridge.Link].
func (l *link) Rooms() bridge.Rooms { return l.rooms }

// Say implements [bridge.Link].
func (l *link) Say(s *bridge.Saying) { l.speech.begin(s) }

// Open implements [bridge.Link].
func (l *link) Open(stop, kill context.Context, h bridge.Host, joined []string) (err error) {
	l.stop, l.kill, l.host, l.status.since = stop, kill, h, time.Now().UTC()
	for _, name := range l.o.fixed() {
		l.rooms.room(name).wanted = true
	}
	for _, name := range joined {
		rm := l.rooms.room(name)
		rm.wanted, rm.entered = true, true
	}
	if l.main, err = l.connect(kill, "", l.o.Server.Nick); err != nil {
		return err
	}
	l.connectAgents()
	return nil
}

// Sweep implements [bridge.Link].
func (l *link) Sweep(now time.Time) {
	l.connectAgents()
	l.rooms.overdue(now)
	for _, rm := range l.rooms.all {
		if rm.stale {
			l.rooms.askModes(rm)
		}
	}
}

// Stop implements [bridge.Link].
func (l *link) Stop() {
	for _, rm := range l.rooms.all {
		rm.release()
	}
}

// connectAgents makes a connection for every agent that has none, and ends the connections
// of agents that no longer exist.
func (l *link) connectAgents() {
	if l.o.Style != StyleNicks {
		return
	}
	names := l.host.Agents()
	for _, name := range names {
		if l.others[name] != nil {
			continue
		}
		c, err := l.connect(l.kill, name, l.o.Nick(name))
		if err != nil {
			l.host.Trouble("agent was not connected", err)
			return
		}
		l.others[name] = c
	}
	for name, c := range l.others {
		if !slices.Contains(names, name) && !c.retired {
			c.retired = true
			c.stop()
		}
	}
}

// over records that the library no longer keeps a connection up, because the bridge is
// ending or because retries would not help.
func (l *link) over(c *connection, err error) {
	if c.agent != "" {
		delete(l.others, c.agent)
		if err != nil {
			l.status.instead = fmt.Sprintf("%s speaks through the bridge: %v", c.agent, err)
		}
		c.up = false
		return
	}
	if err != nil {
		l.host.Trouble("the bridge will not try again", err)
		l.status.why, l.status.nextTry = l.host.Mask(err.Error())+"; the bridge will not try again until a reload", time.Time{}
	}
}

// handle handles an event from a connection.
func (l *link) handle(c *connection, e irc.Event) {
	l.host.Changed()
	switch e := e.(type) {
	case irc.Up:
		l.connected(c, e.State)
	case irc.Down:
		l.disconnected(c, e)
	case irc.Text:
		l.host.Heard(l.textOf(c, e))
	case irc.Renamed:
		switch {
		case e.Own:
			c.nick = e.To
			c.nicks = append(c.nicks, c.fold.Fold(e.To))
			if conn, ok := c.client.Conn(); ok && c == l.main {
				l.status.us = conn.State()
			}
		case c == l.main:
			l.follow(e.From, e.To)
		}
	case irc.CaughtUp:
		if e.Target == "" {
			c.caught = true
		} else if c == l.main {
			l.rooms.caughtUp(e)
		}
	default:
		if c == l.main {
			l.rooms.handle(e)
		}
	}
}

// textOf converts a message from a connection for the bridge.
func (l *link) textOf(c *connection, t irc.Text) bridge.Text {
	who := personOf(t.Nick, t.Source)
	if c.state.Cap("account-tag") {
		who.Account = t.Account
	}
	return bridge.Text{
		Time: t.Time, Target: t.Target, Source: t.Source, Nick: t.Nick, Account: t.Account, MsgID: t.MsgID, Body: t.Body, Who: who, Via: c.agent,
		Private: t.Private, Notice: t.Notice, Emote: t.Emote, Own: t.Own, Bot: t.Bot, Relayed: t.Relayed, History: t.History,
	}
}

// personOf returns the person who wrote a line. The source has the form nick!user@host.
func personOf(nick, source string) bridge.Person {
	p := bridge.Person{Nick: nick}
	if _, userhost, ok := strings.Cut(source, "!"); ok {
		p.User, p.Host, _ = strings.Cut(userhost, "@")
	}
	return p
}

func (l *link) connected(c *connection, st irc.State) {
	c.begun(st)
	if c != l.main {
		return
	}
	if c.gen > 1 {
		l.status.reconnects++
	}
	l.o.Log.Info("connected", "server", l.Server(), keyNick, st.Nick)
	l.rooms.regroup()
	s := &l.status
	s.connected, s.since, s.why, s.nextTry = true, time.Now().UTC(), "", time.Time{}
	s.begun(l.o, st, c)
}

func (l *link) disconnected(c *connection, e irc.Down) {
	c.up, c.doubtful, c.caught = false, false, false
	if c == l.main {
		why := l.host.Mask(fmt.Sprint(e.Err))
		l.o.Log.Log(l.kill, levelOf(e), "not connected", keyWhy, why, "retry", e.Retry.Round(time.Millisecond))
		s := &l.status
		if s.connected {
			s.since = time.Now().UTC()
		}
		s.connected, s.why, s.nextTry = false, why, time.Time{}
		if e.Retry > 0 {
			s.nextTry = time.Now().Add(e.Retry).UTC()
		}
		for _, room := range l.rooms.all {
			room.joined, room.caught, room.bare = false, false, ""
			room.forgive()
			room.release()
		}
	} else if e.Err != nil {
		l.status.instead = fmt.Sprintf("%s speaks through the bridge: %s", c.agent, l.host.Mask(e.Err.Error()))
	}
}

// levelOf returns the log level for the end of a connection. A failed retry gets a lower
// level.
func levelOf(e irc.Down) slog.Level {
	if e.Was {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// Remedy implements [bridge.Link].
func (*link) Remedy(reason string) bridge.Remedy { return remedyOf(reason) }

// Usable implements [bridge.Link].
func (l *link) Usable() bool { return l.main.usable() && len(l.speech.cut) == 0 }

// Connection implements [bridge.Link].
func (l *link) Connection() (n int, since time.Time) { return l.main.gen, l.main.since }

// If the server may have hung up because of a message, that message waits until the
// connection has proved reliable. Otherwise the bridge could mistake a bad network for a
// bad message. A connection counts as reliable when othersFirst pieces of other messages
// have arrived over it, or when it has lasted standFirst times as long as the first pause
// between two attempts to connect.
const (
	othersFirst = 8
	standFirst  = 5
)

// stand returns how long a connection must last to count as reliable.
func (l *link) stand() time.Duration { return standFirst * cmp.Or(l.o.Server.RetryMin, time.Second) }

// Sound implements [bridge.Link].
func (l *link) Sound() bool {
	return l.main.proven >= othersFirst || time.Since(l.main.since) >= l.stand()
}

// LookAgain implements [bridge.Link].
func (l *link) LookAgain(suspects bool) time.Duration {
	if suspects {
		return l.stand()
	}
	return max(lingerPatience-time.Since(l.main.since), 0)
}

// Self implements [bridge.Link].
func (l *link) Self() string { return l.main.nick }

// Selves implements [bridge.Link].
func (l *link) Selves() []string { return []string{l.main.nick, l.o.Server.Nick} }

// Ours implements [bridge.Link].
func (l *link) Ours(nick string) bool {
	if l.main.has(nick) {
		return true
	}
	for _, c := range l.others {
		if c.has(nick) {
			return true
		}
	}
	return false
}

// now reports whether a nick is currently one of ours.
func (l *link) now(nick string) bool {
	if l.main.fold.Same(nick, l.main.nick) {
		return true
	}
	for _, c := range l.others {
		if c.fold.Same(nick, c.nick) {
			return true
		}
	}
	return false
}

// Called implements [bridge.Link].
func (l *link) Called(agent string) (nicks []string) {
	c := l.others[agent]
	if l.o.Style != StyleNicks || c == nil {
		return nil
	}
	for _, nick := range []string{l.o.Nick(agent), c.nick} {
		if nick != agent && nick != "" {
			nicks = append(nicks, nick)
		}
	}
	return nicks
}

// follow records a person's new nick, so that answers reach the person.
func (l *link) follow(from, to string) {
	if len(l.renamed) > 256 {
		clear(l.renamed)
	}
	l.renamed[l.Fold(from)] = to
	delete(l.renamed, l.Fold(to))
}

// NowCalled implements [bridge.Link].
func (l *link) NowCalled(nick string) string {
	for range 8 {
		to, ok := l.renamed[l.Fold(nick)]
		if !ok {
			break
		}
		nick = to
	}
	return nick
}

// Network implements [bridge.Link].
func (l *link) Network() string {
	if name := l.main.state.ISupport["NETWORK"]; name != "" && len(name) < 64 && irc.PlainText(name) == name {
		return name
	}
	return l.Server()
}

// Server implements [bridge.Link].
func (l *link) Server() string { return l.o.Server.HostPort() }

// Vouched implements [bridge.Link]. Behind a bouncer it returns "", because the bouncer's
// address does not reveal who can reach the server.
func (l *link) Vouched() string {
	if l.main.state.Bouncer {
		return ""
	}
	return l.o.Server.Addr
}

// names returns a [names] with the current server's case mapping.
func (l *link) names() names { return names{l.main.fold} }

// Fold implements [bridge.Names].
func (l *link) Fold(name string) string { return l.main.fold.Fold(name) }

// Same implements [bridge.Names].
func (l *link) Same(a, b string) bool { return l.main.fold.Same(a, b) }

// FindMention implements [bridge.Names].
func (l *link) FindMention(text, name string) (start, end int) {
	return l.names().FindMention(text, name)
}

// Plain implements [bridge.Names].
func (l *link) Plain(text string) string { return irc.PlainText(text) }

// IsChannel implements [bridge.Names].
func (l *link) IsChannel(target string) bool {
	if l.main.gen == 0 {
		return isChannel(target)
	}
	return l.main.state.ISupport.IsChannel(target)
}
