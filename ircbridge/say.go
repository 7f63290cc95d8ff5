package ircbridge

import (
	"cmp"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// voice chooses under which name a message is said: by which connection, with what
// before it, and relayed under which nick.
func (r *run) voice(f *flight) (via *link, prefix, as string) {
	prefix = "[" + r.Called(f.name) + "] "
	if f.name == dropbox.Lead || f.name == dropbox.Swarm || f.name == "" {
		return r.main, prefix, ""
	}
	switch r.Style {
	case StyleNicks:
		l := r.others[f.name]
		if l == nil || !l.usable() {
			break
		}
		if conn, ok := l.client.Conn(); ok && (!r.isChannel(f.place.target) ||
			slices.ContainsFunc(conn.State().Channels, func(c string) bool { return l.fold.Same(c, f.place.target) })) {
			return l, "", ""
		}
	case StyleRelay:
		if r.noRelay == "" && r.isChannel(f.place.target) && r.room(f.place.target).bare == "" {
			return r.main, "", r.Nick(f.name) + "/" + r.main.nick
		}
	}
	return r.main, prefix, ""
}

// cutterOf is how a message is cut for a voice.
func (r *run) cutterOf(f *flight, conn *irc.Conn, prefix, as string) cutter {
	st := conn.State()
	return cutter{
		prefix: prefix, limit: conn.Limit(irc.Outgoing{Target: f.place.target, As: as}), read: r.main.nick + ": read " + cmp.Or(f.note.About, f.ID),
		whole: st.Cap("draft/multiline") && st.Cap("batch") && as == "",
	}
}

// say sends what of a message is still to be said.
func (r *run) say(f *flight) {
	via, prefix, as := r.voice(f)
	conn, ok := via.client.Conn()
	if !ok {
		via.doubt()
		r.release(f)
		return
	}
	if !r.inside(conn, f.place.target) {
		rm := r.room(f.place.target)
		rm.joined, rm.caught = false, false // likewise
		r.release(f)
		return
	}
	out := irc.Outgoing{Target: f.place.target, Priority: f.place.priority, As: as}
	cut := r.cutterOf(f, conn, prefix, as)
	text := cut.short(f.text)
	f.conn, f.as, f.seq = conn, as, r.main.posted
	r.main.posted++
	f.landed, f.failed, f.sent = 0, nil, 0
	f.pieces = cut.pieces(text, f.said, f.unsure)
	if len(f.pieces) == 0 {
		r.arrived(f, via)
		return
	}
	f.marked = f.marked || f.said < f.unsure
	if f.at.IsZero() {
		f.at = time.Now()
	}
	for i, p := range f.pieces {
		out.Text, out.Tags = p.text, nil
		if i == 0 {
			out.Tags = threaded(f.place.answers)
		}
		d := conn.Post(out)
		r.do(func() func() {
			<-d.Done() // at the latest when the connection ends
			return func() { r.land(f, via, i, d) }
		})
	}
}
