package ircbridge

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// land records the fate of one piece. The pieces of a message can land in any order.
func (s *speech) land(f *saying, via *connection, i int, d *irc.Delivery) {
	s.l.host.Changed()
	p := &f.pieces[i]
	err := d.Err()
	written := 0
	for _, part := range d.Pieces() {
		if part.State != irc.Waiting {
			written++
		}
		if part.State == irc.Written || part.State == irc.Proven {
			f.unsure = max(f.unsure, p.upto) // it has arrived or may have, even if an earlier piece was refused
		}
		if part.State == irc.Proven && part.MsgID != "" {
			f.msgids = append(f.msgids, part.MsgID)
		}
	}
	start := 0
	if i > 0 {
		start = f.pieces[i-1].upto
	}
	if err == nil {
		via.proven++
		p.proven = true
		f.said = provenUpTo(f.said, f.pieces)
		f.lines++
		msgid := ""
		if n := len(f.msgids); n > 0 && len(d.Pieces()) > 0 {
			msgid = d.Pieces()[0].MsgID
		}
		s.l.host.Keep(f.Line(time.Now(), p.bare, msgid, f.said))
	} else if f.failed == nil || weightOf(err) > weightOf(f.failed) {
		f.failed = err
	}
	if written > 0 {
		f.sent = max(f.sent, p.upto, start)
	}
	if f.landed++; f.landed == len(f.pieces) {
		s.arrived(f, via)
		s.landCut(f.conn)
	}
}

// provenUpTo returns how many bytes from the start of a message are proven. The pieces start
// after the first from bytes. A proven piece that follows an unproven one does not count.
func provenUpTo(from int, pieces []piece) int {
	for _, p := range pieces {
		if !p.proven {
			break
		}
		from = p.upto
	}
	return from
}

// weightOf orders the errors of the pieces of one message. The error with the greatest
// weight decides the fate of the message.
func weightOf(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, irc.ErrNotSent) || errors.Is(err, irc.ErrQueueFull):
		return 1
	case errors.Is(err, irc.ErrUnproven):
		return 2
	}
	return 3
}

// arrived decides what happens to a message after all its pieces have landed.
func (s *speech) arrived(f *saying, via *connection) {
	err := f.failed
	refused, isRefused := errors.AsType[*irc.Rejected](err)
	switch {
	case err == nil:
		s.landed(f, bridge.Landing{Fate: bridge.Arrived})
	case isRefused && f.as != "":
		s.l.rooms.room(f.Target).bare = refused.Error()
		s.say(f)
	case isRefused && s.l.IsChannel(f.Target) && f.conn.Stay(f.Target) > f.stay:
		s.release(f) // we have left the channel, and are already back in it
	case isRefused && !s.l.inside(f.conn, f.Target):
		// We are no longer in the channel. The message waits until we are back in the
		// channel, or until it is known that the channel does not let us in.
		rm := s.l.rooms.room(f.Target)
		rm.joined, rm.caught = false, false // the event about leaving has not arrived yet
		s.release(f)
	case isRefused:
		s.landed(f, bridge.Landing{Fate: bridge.NeverAgain, Why: "IRC did not accept it: " + refused.Error()})
	case errors.Is(err, irc.ErrUnproven):
		s.cut[f.conn] = append(s.cut[f.conn], f)
	case errors.Is(err, irc.ErrNotSent):
		via.doubt()
		f.unsure = max(f.unsure, f.sent) // some lines of a piece may have arrived before the connection ended
		s.release(f)
	case errors.Is(err, irc.ErrQueueFull):
		s.release(f)
	default:
		s.landed(f, bridge.Landing{Fate: bridge.NeverAgain, Why: err.Error()})
	}
}

// landed reports the fate of a message to the bridge.
func (s *speech) landed(f *saying, end bridge.Landing) {
	delete(s.sayings, f.ID)
	end.Shown = bridge.Shown{Lines: f.lines, MsgIDs: f.msgids, Again: f.marked}
	if waits := s.l.host.Landed(f.Saying, end); waits && end.Fate != bridge.Put {
		s.resume[f.ID] = resume{said: f.said, unsure: max(f.unsure, f.sent), at: f.at}
	}
}

// landCut puts back the unproven messages of a connection that has ended, as soon as the
// fate of every message on that connection is known. The first of them may be the
// cause of the end.
func (s *speech) landCut(conn *irc.Conn) {
	list := s.cut[conn]
	if len(list) == 0 {
		return
	}
	for _, f := range s.sayings {
		if f.conn == conn && f.landed < len(f.pieces) {
			return // the fate of f is not known yet
		}
	}
	delete(s.cut, conn)
	slices.SortFunc(list, func(a, b *saying) int { return cmp.Compare(a.seq, b.seq) })
	for i, f := range list {
		hangup, because := hungUp(conn.Err())
		end := bridge.Landing{Fate: bridge.PutInPart}
		if i == 0 && because && !s.l.host.Stopping() {
			end = bridge.Landing{Fate: bridge.HungUpOn, HungUp: hangup}
		}
		s.landed(f, end)
	}
	s.l.host.LookAgain()
}

// inside reports whether a connection may speak to a target. It may if it is in that
// channel, or if the target is not a channel.
func (l *link) inside(conn *irc.Conn, target string) bool {
	if !l.IsChannel(target) {
		return true
	}
	return conn.Stay(target) > 0
}

// release puts back a message for another attempt. The next attempt marks the lines that
// may already have arrived.
func (s *speech) release(f *saying) {
	end := bridge.Landing{Fate: bridge.Put}
	if f.said > 0 || f.unsure > 0 {
		end.Fate = bridge.PutInPart
	}
	s.landed(f, end)
}
