package ircbridge

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// recall determines how much of a message was sent in earlier attempts. It checks the
// buffer, and then the server's history. It then sends the part that it did not find,
// with a mark if that part may have been sent before.
func (s *speech) recall(f *saying) {
	known, ok := s.resume[f.ID]
	delete(s.resume, f.ID)
	if !ok { // another process began to send the message
		known.unsure = math.MaxInt
	}
	kept, ok := s.l.host.Kept(f.Target, f.ID)
	if ok {
		known.said = max(known.said, kept.Upto)
		f.msgids = kept.MsgIDs
	}
	f.said, f.unsure, f.at = known.said, known.unsure, known.at
	via, _, _ := s.voice(f)
	conn, up := via.client.Conn()
	if !up {
		s.release(f)
		return
	}
	if f.said >= f.unsure || conn.HistoryLimit() == 0 || !ok {
		s.sayInTurn(f)
		return
	}
	if known.at.IsZero() {
		// The message was sent at about the same time as the last proven line, or later.
		known.at = kept.Spoke.Add(-provenWithin)
	}
	since := f.Created
	if known.at.After(since) {
		since = known.at
	}
	s.lookUp(f, via, conn, since.Add(-clockSkew))
}

// lingerPatience is how long a server may continue to send the lines of our earlier
// connection. In a test with 40 lines, it took 18 s.
const lingerPatience = 20 * time.Second

// lingers reports whether a message that may have been sent must wait, because the nick
// of an earlier connection is still present and the history is therefore incomplete. The
// members of a channel are known once the link has caught up with the channel.
func (l *link) lingers(channel string) bool {
	conn, ok := l.main.client.Conn()
	if !ok || !conn.State().Since.Equal(l.main.state.Since) {
		return true // the event about another connection has not arrived yet
	}
	return time.Since(l.main.since) < lingerPatience && conn.HistoryLimit() > 0 && l.earlier(conn, channel)
}

// earlier reports whether a channel contains a nick that we had earlier but do not have
// now.
func (l *link) earlier(conn *irc.Conn, channel string) bool {
	members, _, _ := conn.Members(channel)
	return slices.ContainsFunc(members, func(nick string) bool { return l.Ours(nick) && !l.now(nick) })
}

// A lookup is a request for a history, together with the messages that are waiting for
// the answer. These are messages that may have been partly sent, and the messages queued
// after them.
type lookup struct {
	since   time.Time
	flights []*saying
}

// lookUp requests the history of a message's target since the given time. If a request for
// that target that goes back at least as far is already in progress, the message waits for
// it.
func (s *speech) lookUp(f *saying, via *connection, conn *irc.Conn, since time.Time) {
	target, client := f.Target, via.client
	if q := s.lookups[target]; q != nil && !since.Before(q.since) {
		q.flights = append(q.flights, f)
		return
	}
	q := &lookup{since: since, flights: []*saying{f}}
	s.lookups[target] = q // an earlier request for a shorter period continues separately
	s.l.host.Do(func() func() {
		texts, err := client.History(s.l.stop, target, irc.Mark{Time: since})
		return func() {
			if s.lookups[target] == q {
				delete(s.lookups, target)
			}
			// If the connection ended before the answer arrived, the message is not sent
			// now. If the request failed for another reason, the message is sent again,
			// with a mark.
			known := true
			if err != nil {
				s.l.o.Log.Info("history could not be fetched", keyChannel, target, keyErr, err)
				select {
				case <-conn.Done():
					known = false
					via.doubt()
				default:
				}
			}
			kept := err == nil && len(texts) > 0 // in this case the server has a history
			for _, f := range q.flights {
				if !known || !s.l.main.usable() || s.l.host.Stopping() {
					s.release(f)
					continue
				}
				if f.said < f.unsure {
					var absent bool
					texts, absent = s.recognize(f, texts)
					if kept && absent && !s.l.earlier(conn, target) {
						f.unsure = f.said // the history shows that the remainder was not sent
					}
				}
				s.say(f)
			}
		}
	})
}

// sayInTurn sends a message after those for the same target that are waiting for a
// history.
func (s *speech) sayInTurn(f *saying) {
	if q := s.lookups[f.Target]; q != nil {
		q.flights = append(q.flights, f)
		return
	}
	s.say(f)
}

// recognize finds the parts of a message that are in the history, and records them as
// sent. It returns the other lines of the history. absent reports whether none of these
// lines looks like a piece of the part that was not found.
func (s *speech) recognize(f *saying, texts []irc.Text) (rest []irc.Text, absent bool) {
	via, prefix, as := s.voice(f)
	conn, ok := via.client.Conn()
	if _, kept := s.l.host.Kept(f.Target, f.ID); !kept || !ok {
		return texts, false
	}
	cut := s.cutterOf(f, conn, prefix, as)
	text := cut.short(f.Text)
	own := func(t irc.Text) bool { return (t.Own || s.l.Ours(t.Nick)) && !s.l.host.HasSaid(f.Target, t.MsgID) }
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
		s.l.host.Keep(f.Line(t.Time, bare, t.MsgID, f.said))
	}
	// A later piece may have arrived although an earlier one was refused.
	starts := []int{f.said}
	for _, p := range cut.pieces(text, f.said, 0) {
		starts = append(starts, p.upto)
	}
	absent = !slices.ContainsFunc(texts, func(t irc.Text) bool {
		return (own(t) || slices.Contains(f.msgids, t.MsgID)) &&
			slices.ContainsFunc(starts, func(at int) bool { return cut.alike(text[at:], t.Body) })
	})
	return texts, absent
}
