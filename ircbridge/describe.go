package ircbridge

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// A status is the part of the state that describes the connection, without its channels.
type status struct {
	connected  bool
	since      time.Time // when connected last changed
	why        string    // why the bridge is not connected
	nextTry    time.Time
	us         irc.State // the current state of the bridge's connection
	offers     irc.State // the state of the connection when it began
	text       int       // how many bytes of text fit in a line to the project's channel
	style      Style     // the style in use
	instead    string    // why style is not the requested style
	noRelay    string    // why no message is relayed on this server
	reconnects int
}

// begun records the features of a new connection.
func (s *status) begun(o *Options, st irc.State, c *connection) {
	s.us, s.offers, s.text = st, st, 0
	if conn, ok := c.client.Conn(); ok {
		s.text = conn.Limit(irc.Outgoing{Target: o.Channels.Project})
	}
	s.style, s.instead, s.noRelay = o.Style, "", ""
	if o.Style == StyleRelay && !st.Cap("draft/relaymsg") {
		s.noRelay = "nothing is relayed: the server has no draft/relaymsg"
		s.style, s.instead = StylePrefix, s.noRelay
	}
}

// Describe implements [bridge.Link].
func (l *link) Describe(s *bridge.State) {
	l.describeConnection(s)
	for _, key := range slices.Sorted(maps.Keys(l.rooms.all)) {
		room := l.rooms.all[key]
		s.Channels = append(s.Channels, room.told(l.main))
		if room.why != "" {
			s.Warnings = append(s.Warnings, "not in "+room.name+": "+room.why+room.howBack(l.main.nick))
		}
	}
	for _, c := range s.Channels {
		if c.NotRelayed != "" {
			s.Warnings = append(s.Warnings, "in "+c.Name+" nothing is relayed: "+c.NotRelayed)
		}
	}
	if s.Wanted != "" && s.Connected {
		s.Warnings = append(s.Warnings, fmt.Sprintf("another user has the nick %s: the bridge uses %s until it is free", s.Wanted, s.Nick))
	}
	for _, agent := range slices.Sorted(maps.Keys(l.others)) {
		if want, c := l.o.Nick(agent), l.others[agent]; c.up && !strings.HasPrefix(c.fold.Fold(want), c.fold.Fold(c.nick)) { // a server may shorten a nick
			s.Warnings = append(s.Warnings, fmt.Sprintf("another user has the nick %s: the agent uses %s until it is free", want, c.nick))
		}
	}
	if l.main.state.Bouncer {
		s.Warnings = append(s.Warnings, bridge.IdlePermits(l.o.Allow)...)
	}
	if s.Instead != "" {
		s.Warnings = append(s.Warnings, s.Instead)
	}
}

// describeConnection describes the connection.
func (l *link) describeConnection(s *bridge.State) {
	st := l.status
	s.Connected, s.Since, s.Why, s.NextTry = st.connected && l.kill.Err() == nil, st.since, st.why, st.nextTry
	s.Style, s.Instead, s.Reconnects = string(st.style), st.instead, st.reconnects
	l.describeHeard(s)
	if l.main.gen == 0 {
		return
	}
	s.Network = st.offers.ISupport["NETWORK"]
	s.Caps, s.Limits = slices.Sorted(maps.Keys(st.offers.Caps)), limitsOf(st.offers)
	s.Limits.Text = st.text
	s.Nick, s.Mask, s.Account, s.Wanted = st.us.Nick, st.us.Source, st.us.Account, ""
	if !st.us.CaseMapping().Same(st.us.Nick, l.o.Server.Nick) {
		s.Wanted = l.o.Server.Nick
	}
}

// describeHeard records the time up to which all private messages are known, so that a
// later bridge requests only newer ones. It does nothing until the loop knows the current
// connection.
func (l *link) describeHeard(s *bridge.State) {
	if conn, ok := l.main.client.Conn(); ok && l.main.caught {
		if st := conn.State(); st.Since.Equal(l.main.state.Since) {
			s.Heard = st.Heard.UTC()
		}
	}
}

// limitsOf returns the limits of a server.
func limitsOf(st irc.State) bridge.Limits {
	l := bridge.Limits{
		Nick: st.ISupport.Number("NICKLEN", 0), Channel: st.ISupport.Number("CHANNELLEN", 0), Topic: st.ISupport.Number("TOPICLEN", 0),
		CaseMapping: string(st.CaseMapping()),
	}
	if st.Cap("draft/chathistory") {
		l.History = st.ISupport.Number("CHATHISTORY", 100)
	}
	for part := range strings.SplitSeq(st.Caps["draft/multiline"], ",") {
		name, number, _ := strings.Cut(part, "=")
		n, _ := strconv.Atoi(number)
		switch name {
		case "max-bytes":
			l.MultilineBytes = n
		case "max-lines":
			l.MultilineLines = n
		}
	}
	return l
}
