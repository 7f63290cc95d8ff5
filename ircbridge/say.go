package ircbridge

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// maxUnproven is how many messages are on their way at once: as many may be said twice
// when the connection is cut and the server has no history.
const maxUnproven = 4

// maxUnsettled is how many messages may be on their way or being filed.
const maxUnsettled = 32

// How often the other side may hang up on a message before it is given up: when the
// server says that it does, and when the connection only ends, as a bad network does it.
const (
	maxHangUps    = 2
	maxBareHangUp = 4
)

// A flight is a message that was claimed and is not settled yet.
type flight struct {
	*dropbox.Claim
	note  Note
	place place

	name   string    // whose words
	text   string    // all that is to be said, masked and cut short
	conn   *irc.Conn // by which it was said last; nil when it was not
	seq    uint64
	as     string // relayed under this nick
	pieces []piece
	landed int // pieces whose fate is known
	failed error

	said   int // bytes that are proven, from the beginning
	unsure int // bytes that may have been said before
	sent   int // bytes that were written now, at least in part
	marked bool
	filing bool      // its fate is known
	at     time.Time // when it was sent first
	msgids []string
	lines  int
}

// resume is what is known of a message that was put back.
type resume struct {
	said, unsure int
	at           time.Time // when it was sent first; zero is not known
}

// placeOf decides where a waiting message goes.
func (r *run) placeOf(m *dropbox.Message) place {
	n, _ := NoteOf(m)
	var origin Note
	if n.Channel == "" && m.ReplyTo != "" {
		origin = r.originOf(m.ReplyTo)
	}
	p := placeOf(m, n, origin, r.Channels)
	if p.private() {
		p.target = r.nowCalled(p.target)
		p.person = p.target
	} else if p.person != "" {
		p.person = r.nowCalled(p.person)
	}
	return p
}

// find looks for a message and reads it. One that is being moved may be seen nowhere, or
// be gone from where it was seen, so it is looked for again: the answer to a message
// comes at the very moment in which the message is filed.
func (r *run) find(id string) (f dropbox.Found, m *dropbox.Message, err error) {
	for range 5 {
		if f, err = r.Store.Find(id); err == nil {
			m, err = r.Store.Load(f)
		}
		if !errors.Is(err, dropbox.ErrNotFound) && !errors.Is(err, dropbox.ErrGone) {
			break
		}
	}
	return f, m, err
}

// originOf is where the message with that id came from on IRC, zero if it did not.
func (r *run) originOf(id string) Note {
	_, m, err := r.find(id)
	if err != nil || m.From != dropbox.IRC {
		return Note{}
	}
	n, _ := NoteOf(m)
	return n
}

// takeOff sends what may be sent now.
func (r *run) takeOff() {
	for !r.stopping && !r.halted && r.main.usable() && r.unproven() < maxUnproven && len(r.flights) < maxUnsettled && len(r.cut) == 0 && !r.suspected() {
		w, ok, err := r.plan.next(r.ready)
		if err != nil {
			r.trouble("mailbox was not listed", err)
			r.halted = true // until the next sweep
			return
		}
		if !ok {
			return
		}
		r.claim(w)
	}
}

// unproven counts the messages that are on their way.
func (r *run) unproven() int {
	n := 0
	for _, f := range r.flights {
		if !f.filing {
			n++
		}
	}
	return n
}

// suspected says whether the server hung up before on a message that is on its way: it
// goes alone.
func (r *run) suspected() bool {
	for _, f := range r.flights {
		if f.Failed > 0 && !f.filing {
			return true
		}
	}
	return false
}

// A message on which the server may have hung up waits until the connection has proven
// good: so many others were said by it, or it stood for so many times the first pause
// between two tries. Else a bad network would look like a bad message.
const (
	othersFirst = 8
	standFirst  = 5
)

// ready says whether a message may be said now.
func (r *run) ready(w waiter) bool {
	if w.Failed > 0 {
		stand := standFirst * cmp.Or(r.Server.RetryMin, time.Second)
		if r.unproven() > 0 || r.main.proven < othersFirst && time.Since(r.main.since) < stand {
			return false
		}
	}
	if w.request != "" {
		for _, f := range r.flights {
			if !f.filing && r.sameChannel(f.place.target, w.target) {
				return false // what was said before comes before it
			}
		}
		return true
	}
	if !r.isChannel(w.target) || r.noChannel(w.target) != "" {
		return true
	}
	rm := r.room(w.target)
	if rm.failed != "" {
		return true // to be given up
	}
	r.want(rm)
	return rm.joined && rm.caught
}

// claim takes a message and begins to say it.
func (r *run) claim(w waiter) {
	c, err := r.box.Claim(w.Entry)
	switch {
	case errors.Is(err, dropbox.ErrHalted):
		r.halted, r.dirty = true, true
		return
	case errors.Is(err, dropbox.ErrGone):
		r.plan.take(w)
		return
	case err != nil:
		r.trouble("message was not claimed", err)
		r.halted = true // until the next sweep
		return
	}
	r.plan.take(w)
	r.dirty = true
	f := &flight{Claim: c, place: w.place}
	if done, err := r.box.HasReceipt(c.Entry); err == nil && done {
		if err := r.box.File(c.Entry); err != nil {
			r.trouble("message was not filed", err)
		}
		return
	}
	r.flights[c.ID] = f
	switch {
	case c.Bad != nil:
		r.giveUp(f, c.Bad.Error())
		return
	case c.Message.Expired(time.Now()):
		r.giveUp(f, "it expired before it could be said")
		return
	}
	f.note, _ = NoteOf(c.Message)
	if f.place.request != "" {
		r.request(f)
		return
	}
	if r.isChannel(f.place.target) {
		if why := r.noChannel(f.place.target); why != "" {
			r.giveUp(f, why)
			return
		}
		if rm := r.room(f.place.target); rm.failed != "" {
			r.giveUp(f, "cannot get into "+rm.name+": "+rm.failed)
			return
		}
	}
	sh := show(c.Message, f.note, f.place)
	f.name = sh.name
	masked := r.mask.Mask(sh.text)
	if masked != sh.text {
		r.state.Masked++
		r.Log.Warn("secret was masked", keyMessage, c.ID, "from", c.Message.From)
	}
	f.text = masked
	if c.Begun > 1 {
		r.recall(f)
		return
	}
	r.say(f)
}

// voice chooses under which name a message is said: by which connection, with what
// before it, and relayed under which nick.
func (r *run) voice(f *flight) (via *link, prefix, as string) {
	prefix = "[" + f.name + "] "
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
		if r.noRelay == "" && r.isChannel(f.place.target) {
			return r.main, "", r.Nick(f.name) + "/" + r.main.nick
		}
	}
	return r.main, prefix, ""
}

// cutterOf is how a message is cut for a voice.
func cutterOf(f *flight, conn *irc.Conn, prefix, as string) cutter {
	st := conn.State()
	return cutter{
		prefix: prefix, limit: conn.Limit(irc.Outgoing{Target: f.place.target, As: as}), id: cmp.Or(f.note.About, f.ID),
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
	cut := cutterOf(f, conn, prefix, as)
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
		out.Text = p.text
		d := conn.Post(out)
		r.work.Go(func() {
			<-d.Done() // at the latest when the connection ends
			r.later <- func() { r.land(f, via, i, d) }
		})
	}
}

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
		r.keep(Line{At: time.Now(), Channel: f.place.target, Nick: f.name, Text: p.bare, MsgID: msgid, Drop: f.ID, Upto: p.upto})
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
		r.noRelay = fmt.Sprintf("nothing is relayed: %v", refused)
		r.state.Style, r.state.Instead = StylePrefix, r.noRelay
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

// hungUpOn begins the reason of a message that the server does not bear.
const hungUpOn = "the server hung up"

// inside says whether a connection may speak in a place: it is in that channel, or it
// is no channel.
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

// recall finds out how much of a message was said when it was begun before: by what we
// noted, and then by the server's history. The rest is said again, marked where it may
// have been said.
func (r *run) recall(f *flight) {
	known, ok := r.resume[f.ID]
	delete(r.resume, f.ID)
	if !ok { // another process began it
		known.unsure = math.MaxInt
	}
	ring := r.ring(f.place.target)
	if ring != nil {
		said, msgids, err := ring.said(f.ID)
		if err != nil {
			r.trouble("buffer was not read", err)
		}
		known.said = max(known.said, said)
		f.msgids = msgids
	}
	f.said, f.unsure, f.at = known.said, known.unsure, known.at
	via, _, _ := r.voice(f)
	conn, up := via.client.Conn()
	if !up {
		r.release(f)
		return
	}
	if f.said >= f.unsure || conn.HistoryLimit() == 0 || ring == nil {
		r.say(f)
		return
	}
	if known.at.IsZero() {
		// It was on its way together with what was proven last, or after that.
		known.at = ring.spoke.Add(-provenWithin)
	}
	since := f.Entry.Created
	if known.at.After(since) {
		since = known.at
	}
	r.lookUp(f, via, conn, since.Add(-clockSkew))
}

// Bounds of the time of a message that another process began.
const (
	provenWithin = 2 * time.Minute // longest wait for a proof; the library ends a connection before that
	clockSkew    = time.Minute     // between the server and us
)

// A lookup is a history that is being asked for, and who waits for it.
type lookup struct {
	since   time.Time
	flights []*flight
}

// lookUp asks for what was said in the place of a message since a time; one question
// serves all messages for that place.
func (r *run) lookUp(f *flight, via *link, conn *irc.Conn, since time.Time) {
	target, client := f.place.target, via.client
	if l := r.lookups[target]; l != nil && !since.Before(l.since) {
		l.flights = append(l.flights, f)
		return
	}
	l := &lookup{since: since, flights: []*flight{f}}
	r.lookups[target] = l // one that is under way for a shorter time goes on by itself
	r.do(func() func() {
		texts, err := client.History(r.ctx, target, irc.Mark{Time: since})
		return func() {
			if r.lookups[target] == l {
				delete(r.lookups, target)
			}
			// What could not be looked up since the connection ended is not said now. A
			// server that has nothing to give lets us say it again.
			known := true
			if err != nil {
				r.Log.Info("history was not to be had", keyChannel, target, keyErr, err)
				select {
				case <-conn.Done():
					known = false
					via.doubt()
				default:
				}
			}
			for _, f := range l.flights {
				if !known || !r.main.usable() || r.stopping {
					r.release(f)
					continue
				}
				texts = r.recognise(f, texts)
				r.say(f)
			}
		}
	})
}

// recognise takes what stands in the history for said, and returns the rest of the
// history.
func (r *run) recognise(f *flight, texts []irc.Text) []irc.Text {
	ring := r.ring(f.place.target)
	via, prefix, as := r.voice(f)
	conn, ok := via.client.Conn()
	if ring == nil || !ok {
		return texts
	}
	cut := cutterOf(f, conn, prefix, as)
	text := cut.short(f.text)
	for f.said < len(text) {
		found := false
		for _, mark := range []int{0, math.MaxInt} { // said once, or again
			pieces := cut.pieces(text, f.said, mark)
			i := slices.IndexFunc(texts, func(t irc.Text) bool {
				return (t.Own || r.ours(t.Nick)) && !ring.seen[t.MsgID] && t.Body == strings.TrimRight(pieces[0].text, "\n")
			})
			if i < 0 {
				continue
			}
			t := texts[i]
			texts = slices.Delete(texts, i, i+1)
			f.said, f.msgids, found = pieces[0].upto, append(f.msgids, t.MsgID), true
			f.lines++
			r.keep(Line{At: t.Time, Channel: f.place.target, Nick: f.name, Text: pieces[0].bare, MsgID: t.MsgID, Drop: f.ID, Upto: f.said})
			break
		}
		if !found {
			break
		}
	}
	return texts
}
