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

// maxHangUps is how often the server may hang up on a message before it is given up.
const maxHangUps = 2

// A flight is a message that was claimed and is not settled yet.
type flight struct {
	*dropbox.Claim
	note  Note
	place place

	name   string // whose words
	text   string // all that is to be said, masked and cut short
	via    *link
	gen    int // of its connection
	seq    uint64
	as     string // relayed under this nick
	pieces []piece
	landed int // pieces whose fate is known
	failed error
	ended  bool // all pieces have landed

	said   int // bytes that are proven, from the beginning
	unsure int // bytes that may have been said before
	sent   int // bytes that were written now, at least in part
	marked bool
	msgids []string
	lines  int
}

// resume is what is known of a message that was put back.
type resume struct{ said, unsure int }

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

// originOf is where the message with that id came from on IRC, zero if it did not.
func (r *run) originOf(id string) Note {
	f, err := r.Store.Find(id)
	if err != nil {
		return Note{}
	}
	m, err := r.Store.Load(f)
	if err != nil || m.From != dropbox.IRC {
		return Note{}
	}
	n, _ := NoteOf(m)
	return n
}

// takeOff sends what may be sent now.
func (r *run) takeOff() {
	for !r.stopping && !r.halted && r.main.usable() && len(r.flights) < maxUnproven && len(r.cut) == 0 {
		if r.oneFliesAlone() {
			return // it flies alone: if the server hangs up again it was this one
		}
		w, ok, err := r.plan.next(r.ready)
		if err != nil {
			r.trouble("mailbox was not listed", err)
			r.halted = true // until the next sweep
			return
		}
		if !ok || w.Failed > 0 && len(r.flights) > 0 {
			return
		}
		r.claim(w)
	}
}

// ready says whether a message may be said now.
func (r *run) ready(w waiter) bool {
	if w.request != "" {
		for _, f := range r.flights {
			if r.sameChannel(f.place.target, w.target) {
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

// say sends what of a message is still to be said.
func (r *run) say(f *flight) {
	via, prefix, as := r.voice(f)
	conn, ok := via.client.Conn()
	if !ok {
		r.release(f)
		return
	}
	st := conn.State()
	out := irc.Outgoing{Target: f.place.target, Priority: f.place.priority, As: as}
	cut := cutter{prefix: prefix, limit: conn.Limit(out), id: cmp.Or(f.note.About, f.ID), whole: st.Cap("draft/multiline") && st.Cap("batch") && as == ""}
	text := cut.short(f.text)
	f.via, f.gen, f.as, f.seq = via, via.gen, as, r.main.posted
	r.main.posted++
	f.landed, f.failed, f.ended, f.sent = 0, nil, false, 0
	f.pieces = cut.pieces(text, f.said, f.unsure)
	if len(f.pieces) == 0 {
		r.arrived(f)
		return
	}
	f.marked = f.marked || f.said < f.unsure
	for i, p := range f.pieces {
		out.Text = p.text
		d := via.client.Post(out)
		r.work.Go(func() {
			<-d.Done() // at the latest when the connection ends
			r.later <- func() { r.land(f, i, d) }
		})
	}
}

// land notes what became of one piece.
func (r *run) land(f *flight, i int, d *irc.Delivery) {
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
		f.ended = true
		r.arrived(f)
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
func (r *run) arrived(f *flight) {
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
	case isRefused && r.isChannel(f.place.target) && !r.room(f.place.target).joined:
		// We were thrown out on the way. It waits until we are in again, or are not
		// let in for good.
		r.release(f)
	case isRefused:
		r.giveUp(f, "IRC did not take it: "+refused.Error())
	case errors.Is(err, irc.ErrUnproven):
		r.cut[f.via] = append(r.cut[f.via], f)
		if !f.via.up || f.via.gen != f.gen {
			r.landCut(f.via)
		}
	case errors.Is(err, irc.ErrNotSent) || errors.Is(err, irc.ErrQueueFull):
		if f.via.gen == f.gen && errors.Is(err, irc.ErrNotSent) {
			f.via.doubtful = true // the news that it is down is on its way
		}
		r.release(f)
	default:
		r.giveUp(f, err.Error())
	}
}

// landCut puts back what was on its way when a connection ended. The first message of
// those may be the reason, if the other side hung up.
func (r *run) landCut(l *link) {
	list := r.cut[l]
	for _, f := range r.flights {
		if f.via == l && f.landed < len(f.pieces) && (f.gen != l.gen || !l.up) {
			return // its news is on its way
		}
	}
	delete(r.cut, l)
	slices.SortFunc(list, func(a, b *flight) int { return cmp.Compare(a.seq, b.seq) })
	for i, f := range list {
		hungUp := i == 0 && l.hungUp && !r.stopping
		if hungUp && f.Failed+1 >= maxHangUps {
			r.giveUp(f, fmt.Sprintf("the server hung up %d times while it was said: %s", maxHangUps, r.mask.Mask(fmt.Sprint(l.err))))
			continue
		}
		r.putBack(f, hungUp)
	}
	r.plan.ring()
}

// putBack lets a message wait again that may have been said in part.
func (r *run) putBack(f *flight, hungUp bool) {
	r.resume[f.ID] = resume{said: f.said, unsure: max(f.unsure, f.sent)}
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
	f.said, f.unsure = known.said, known.unsure
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
	target, since, client := f.place.target, f.Entry.Created.Add(-time.Minute), via.client
	r.do(func() func() {
		texts, err := client.History(r.ctx, target, irc.Mark{Time: since})
		return func() {
			if err != nil && !errors.Is(err, irc.ErrNoHistory) {
				r.Log.Info("history was not to be had", keyChannel, target, keyErr, err)
			}
			r.recognise(f, texts)
			if r.main.usable() && !r.stopping {
				r.say(f)
			} else {
				r.release(f)
			}
		}
	})
}

// recognise takes what stands in the history for said.
func (r *run) recognise(f *flight, texts []irc.Text) {
	ring := r.ring(f.place.target)
	if ring == nil {
		return
	}
	via, prefix, as := r.voice(f)
	conn, ok := via.client.Conn()
	if !ok {
		return
	}
	st := conn.State()
	cut := cutter{prefix: prefix, limit: conn.Limit(irc.Outgoing{Target: f.place.target, As: as}), id: cmp.Or(f.note.About, f.ID), whole: st.Cap("draft/multiline") && st.Cap("batch") && as == ""}
	text := cut.short(f.text)
	for f.said < len(text) {
		found := false
		for _, mark := range []int{0, math.MaxInt} { // said once, or again
			pieces := cut.pieces(text, f.said, mark)
			i := slices.IndexFunc(texts, func(t irc.Text) bool {
				return r.ours(t.Nick) && !ring.seen[t.MsgID] && t.Body == strings.TrimRight(pieces[0].text, "\n")
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
			return
		}
	}
}

// oneFliesAlone says whether the server hung up before on a message that is on its way.
func (r *run) oneFliesAlone() bool {
	for _, f := range r.flights {
		if f.Failed > 0 {
			return true
		}
	}
	return false
}
