package ircbridge

import (
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// A saying is a message that is being sent.
type saying struct {
	*bridge.Saying

	conn   *irc.Conn // the connection that last sent the message; nil if it has not been sent
	seq    uint64
	stay   uint64 // the stay in the channel during which it was sent; see [irc.Conn.Stay]
	as     string // the nick under which the message is relayed
	pieces []piece
	landed int // the number of pieces whose fate is known
	failed error

	said   int // number of bytes from the start that are proven
	unsure int // number of bytes from the start that may have been sent before
	sent   int // the end of the last piece that this attempt has written at least partly
	marked bool
	at     time.Time // when the message was first sent
	msgids []string
	lines  int
}

// A resume is the progress of a message that is waiting for a retry.
type resume struct {
	said, unsure int
	at           time.Time // when the message was first sent; zero means unknown
}

// A speech tracks a link's messages that are being sent, and the progress of those that
// are waiting for a retry. The bridge's goroutine owns it.
type speech struct {
	l       *link
	sayings map[string]*saying      // messages in flight, by id
	cut     map[*irc.Conn][]*saying // unproven messages of connections that have ended
	resume  map[string]resume       // progress of the messages that are waiting for a retry, by id
	lookups map[string]*lookup      // requests for histories, by target
	posted  uint64                  // counts sayings
}

// begin sends a message, or the part of it that was not sent in an earlier attempt.
func (s *speech) begin(text *bridge.Saying) {
	f := &saying{Saying: text}
	s.sayings[f.ID] = f
	if f.Begun > 1 {
		s.recall(f)
		return
	}
	s.sayInTurn(f)
}

// voice chooses how a message identifies its speaker. It returns the connection that
// sends the message, the prefix, and the nick under which the message is relayed.
func (s *speech) voice(f *saying) (via *connection, prefix, as string) {
	prefix = "[" + f.Name + "] "
	if !f.Agent {
		return s.l.main, prefix, ""
	}
	switch s.l.o.Style {
	case StyleNicks:
		c := s.l.others[f.Speaker]
		if c == nil || !c.usable() {
			break
		}
		if conn, ok := c.client.Conn(); ok && (!s.l.IsChannel(f.Target) ||
			slices.ContainsFunc(conn.State().Channels, func(ch string) bool { return c.fold.Same(ch, f.Target) })) {
			return c, "", ""
		}
	case StyleRelay:
		if s.l.status.noRelay == "" && s.l.IsChannel(f.Target) && s.l.rooms.room(f.Target).bare == "" {
			return s.l.main, "", s.l.o.Nick(f.Speaker) + "/" + s.l.main.nick
		}
	}
	return s.l.main, prefix, ""
}

// cutterOf returns the cutter for a message, given the prefix and the nick from
// [speech.voice].
func (s *speech) cutterOf(f *saying, conn *irc.Conn, prefix, as string) cutter {
	st := conn.State()
	return cutter{
		prefix: prefix, limit: conn.Limit(irc.Outgoing{Target: f.Target, As: as}), read: s.l.main.nick + ": read " + f.ReadID,
		whole: st.Cap("draft/multiline") && st.Cap("batch") && as == "", alone: !s.l.IsChannel(f.Target),
	}
}

// say sends the part of a message that has not been proven yet.
func (s *speech) say(f *saying) {
	via, prefix, as := s.voice(f)
	conn, ok := via.client.Conn()
	if !ok {
		via.doubt()
		s.release(f)
		return
	}
	if !s.l.inside(conn, f.Target) {
		rm := s.l.rooms.room(f.Target)
		rm.joined, rm.caught = false, false // the event about leaving has not arrived yet
		s.release(f)
		return
	}
	out := irc.Outgoing{Target: f.Target, Priority: priorityOf(f.Priority), As: as}
	cut := s.cutterOf(f, conn, prefix, as)
	text := cut.short(f.Text)
	f.conn, f.stay, f.as, f.seq = conn, conn.Stay(f.Target), as, s.posted
	s.posted++
	f.landed, f.failed, f.sent = 0, nil, 0
	f.pieces = cut.pieces(text, f.said, f.unsure)
	if len(f.pieces) == 0 {
		s.arrived(f, via)
		return
	}
	f.marked = f.marked || f.said < f.unsure
	if f.at.IsZero() {
		f.at = time.Now()
	}
	for i, p := range f.pieces {
		out.Text, out.Tags = p.text, nil
		if i == 0 {
			out.Tags = threaded(f.Answers)
		}
		d := conn.Post(out)
		s.l.host.Do(func() func() {
			<-d.Done() // closed when the connection ends, at the latest
			return func() { s.land(f, via, i, d) }
		})
	}
}

// priorityOf converts a priority to the library's type.
func priorityOf(p bridge.Priority) irc.Priority {
	switch p {
	case bridge.Urgent:
		return irc.Alert
	case bridge.Answer:
		return irc.Answer
	}
	return irc.Output
}

// Tell implements [bridge.Link].
func (l *link) Tell(target, text, answers string) bridge.Told {
	return told{l.main.client.Post(irc.Outgoing{Target: target, Text: text, Priority: irc.Answer, Tags: threaded(answers)})}
}

// told is a message that was sent to people.
type told struct{ *irc.Delivery }

// MsgID implements [bridge.Told].
func (t told) MsgID() (msgid string) {
	for _, p := range t.Pieces() {
		msgid = p.MsgID
	}
	return msgid
}

// Fit implements [bridge.Link].
func (l *link) Fit(text, target, person string) (lines []string) {
	limit := 300
	if conn, ok := l.main.client.Conn(); ok {
		limit = min(conn.Limit(irc.Outgoing{Target: target}), conn.Limit(irc.Outgoing{Target: person})) - len(person+": ")
	}
	for _, line := range irc.Split(text, max(limit, 16)) {
		lines = append(lines, line.Text)
	}
	return lines
}
