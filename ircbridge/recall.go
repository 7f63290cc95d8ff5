package ircbridge

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

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
		r.sayInTurn(f)
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

// lingerPatience is how long an earlier connection of ours may go on saying what came by
// it: 18 s were seen with 40 lines.
const lingerPatience = 20 * time.Second

// lingers says whether to wait with a message that may have been said: an earlier
// connection is still there, by its nick, so that the history is not the whole of it yet.
// When a channel is caught up with, its members are known.
func (r *run) lingers(channel string) bool {
	conn, ok := r.main.client.Conn()
	if !ok || !conn.State().Since.Equal(r.main.state.Since) {
		return true // the news of another connection is on its way
	}
	return time.Since(r.main.since) < lingerPatience && conn.HistoryLimit() > 0 && r.earlier(conn, channel)
}

// earlier says whether a nick that we had is in a channel, beside ours.
func (r *run) earlier(conn *irc.Conn, channel string) bool {
	members, _, _ := conn.Members(channel)
	return slices.ContainsFunc(members, func(nick string) bool { return r.ours(nick) && !r.now(nick) })
}

// A lookup is a history that is being asked for, and who waits for it: those of which a
// part may have been said, and what comes after them.
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
			kept := err == nil && len(texts) > 0 // there is a history indeed
			for _, f := range l.flights {
				if !known || !r.main.usable() || r.stopping {
					r.release(f)
					continue
				}
				if f.said < f.unsure {
					var absent bool
					texts, absent = r.recognise(f, texts)
					if kept && absent && !r.earlier(conn, target) {
						f.unsure = f.said // the rest is not in it
					}
				}
				r.say(f)
			}
		}
	})
}

// sayInTurn is say, behind those for the same place for which a history is asked.
func (r *run) sayInTurn(f *flight) {
	if l := r.lookups[f.place.target]; l != nil {
		l.flights = append(l.flights, f)
		return
	}
	r.say(f)
}

// recognise takes what stands in the history for said, and returns the rest of the
// history. absent is whether nothing in that looks like the rest of the message.
func (r *run) recognise(f *flight, texts []irc.Text) (rest []irc.Text, absent bool) {
	ring := r.ring(f.place.target)
	via, prefix, as := r.voice(f)
	conn, ok := via.client.Conn()
	if ring == nil || !ok {
		return texts, false
	}
	cut := r.cutterOf(f, conn, prefix, as)
	text := cut.short(f.text)
	own := func(t irc.Text) bool { return (t.Own || r.ours(t.Nick)) && !ring.seen[t.MsgID] }
	for f.said < len(text) {
		n := 0
		i := slices.IndexFunc(texts, func(t irc.Text) bool {
			n = cut.said(text[f.said:], t.Body)
			return n > 0 && own(t)
		})
		if i < 0 {
			break
		}
		t := texts[i]
		texts = slices.Delete(texts, i, i+1)
		bare := strings.TrimRight(text[f.said:f.said+n], "\n")
		f.said += n
		f.msgids = append(f.msgids, t.MsgID)
		f.lines++
		r.keep(Line{At: t.Time, Channel: f.place.target, Nick: f.name, Text: bare, MsgID: t.MsgID, Own: f.note.About != "", Drop: f.ID, Upto: f.said})
	}
	absent = !slices.ContainsFunc(texts, func(t irc.Text) bool { return own(t) && cut.alike(text[f.said:], t.Body) })
	return texts, absent
}
