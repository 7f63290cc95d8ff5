package ircbridge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// land notes what became of one piece.
func (r *run) land(f *flight, via *link, i int, d *irc.Delivery) {
	r.dirty = true
	p := f.pieces[i]
	err := d.Err()
	written := 0
	for _, part := range d.Pieces() {
		if part.State != irc.Waiting {
			written++
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
		if f.failed == nil {
			f.said = p.upto
		}
		f.lines++
		msgid := ""
		if n := len(f.msgids); n > 0 && len(d.Pieces()) > 0 {
			msgid = d.Pieces()[0].MsgID
		}
		r.keep(Line{At: time.Now(), Channel: f.place.target, Nick: f.name, Text: p.bare, MsgID: msgid, Own: f.note.About != "", Drop: f.ID, Upto: p.upto})
	} else if f.failed == nil || weightOf(err) > weightOf(f.failed) {
		f.failed = err
	}
	if written > 0 {
		f.sent = max(f.sent, p.upto, start)
	}
	if f.landed++; f.landed == len(f.pieces) {
		r.arrived(f, via)
		r.landCut(f.conn)
	}
}

// weightOf orders the ends of the pieces of one message: the heaviest decides.
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

// arrived decides what comes after all pieces have landed.
func (r *run) arrived(f *flight, via *link) {
	err := f.failed
	refused, isRefused := errors.AsType[*irc.Rejected](err)
	switch {
	case err == nil && f.Message.Type == dropbox.Question:
		r.asked(f)
	case err == nil:
		r.settle(f, outcomeSaid)
	case isRefused && f.as != "":
		r.room(f.place.target).bare = refused.Error()
		r.say(f)
	case isRefused && !r.inside(f.conn, f.place.target):
		// We were thrown out on the way. It waits until we are in again, or are not
		// let in for good.
		rm := r.room(f.place.target)
		rm.joined, rm.caught = false, false // the news is on its way
		r.release(f)
	case isRefused:
		r.giveUp(f, "IRC did not take it: "+refused.Error())
	case errors.Is(err, irc.ErrUnproven):
		r.cut[f.conn] = append(r.cut[f.conn], f)
	case errors.Is(err, irc.ErrNotSent):
		via.doubt()
		r.release(f)
	case errors.Is(err, irc.ErrQueueFull):
		r.release(f)
	default:
		r.giveUp(f, err.Error())
	}
}

// landCut puts back what was on its way when a connection ended, as soon as the fate
// of all of it is known. The first message of those may be the reason, if the other
// side hung up.
func (r *run) landCut(conn *irc.Conn) {
	list := r.cut[conn]
	if len(list) == 0 {
		return
	}
	for _, f := range r.flights {
		if f.conn == conn && f.landed < len(f.pieces) {
			return // its news is on its way
		}
	}
	delete(r.cut, conn)
	slices.SortFunc(list, func(a, b *flight) int { return cmp.Compare(a.seq, b.seq) })
	for i, f := range list {
		spoken, bare := hungUp(conn.Err())
		guilty := i == 0 && (spoken || bare) && !r.stopping
		if n := f.Failed + 1; guilty && (spoken && n >= maxHangUps || n >= maxBareHangUp) {
			r.giveUp(f, fmt.Sprintf("%s %d times while it was said (%v)", hungUpOn, n, conn.Err()))
			continue
		}
		r.putBack(f, guilty)
	}
	r.plan.ring()
}

// inside says whether a connection may speak in a place: it is in that channel, or it
// is not a channel.
func (r *run) inside(conn *irc.Conn, target string) bool {
	if !r.isChannel(target) {
		return true
	}
	_, _, in := conn.Members(target)
	return in
}

// putBack lets a message wait again that may have been said in part.
func (r *run) putBack(f *flight, hungUp bool) {
	r.resume[f.ID] = resume{said: f.said, unsure: max(f.unsure, f.sent), at: f.at}
	delete(r.flights, f.ID)
	if _, err := r.box.PutBack(f.Entry, hungUp); err != nil && !errors.Is(err, dropbox.ErrGone) {
		r.trouble("message was not put back", err)
	}
	r.plan.ring()
}

// release lets a message wait again of which nothing was said now.
func (r *run) release(f *flight) {
	if f.said > 0 || f.unsure > 0 {
		r.putBack(f, false)
		return
	}
	delete(r.flights, f.ID)
	if _, err := r.box.Release(f.Entry); err != nil && !errors.Is(err, dropbox.ErrGone) {
		r.trouble("message was not put back", err)
	}
	r.plan.ring()
}
