package bridge

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// staleAfter is the maximum age of a line that the bridge obeys. The limit is needed
// because a bouncer plays back old lines as if they were new. The age is the difference
// between the server's timestamp of the line and our clock.
const staleAfter = 2 * time.Minute

// A listener handles people's lines. The loop owns it.
type listener struct {
	link      Link
	rec       *record
	rep       *replies
	orders    *orders
	questions *questions
	notices   *notices
	arrivals  *arrivals
	mail      *mail
	permits   permits
	callees   *callees
	channels  Channels
	called    func(mailbox string) string
	agents    func() []string
	tags      func() map[string][]string // may be nil
	lines     int                        // how many delivered lines had no id from the server
}

// names returns the names by which people can currently address the agents.
func (r *listener) names(agents []string) []name {
	var all []name
	for _, agent := range agents {
		all = append(all, name{agent, agent})
		for _, nick := range r.link.Called(agent) {
			all = append(all, name{nick, agent})
		}
	}
	if r.tags != nil {
		all = append(all, tagNames(r.tags(), agents)...)
	}
	return all
}

// hear handles a line. It obeys the line if that is allowed, and then adds it to the
// buffer.
func (r *listener) hear(t Text) {
	now := time.Now()
	if t.Via != "" && (!t.Private || r.link.Ours(t.Nick)) {
		return // the bridge's own connection receives this line too
	}
	own := t.Own || r.link.Ours(t.Nick)
	if own && t.History && t.MsgID == "" {
		return // our own line, played back by a bouncer; it was added to the buffer when it was sent
	}
	r.rec.state.Received++
	a := arrival{line: lineOf(t, r.link)}
	if !own {
		r.callees.heard(t.Who)
		r.obey(t, now, &a)
	}
	r.arrivals.finish(a)
}

// lineOf converts a Text to a line for the buffer.
func lineOf(t Text, c Names) Line {
	text := c.Plain(t.Body)
	if t.Emote {
		text = "* " + t.Nick + " " + text
	}
	return Line{At: t.Time, Channel: t.Peer(), Nick: t.Nick, Account: t.Account, Text: text, MsgID: t.MsgID, Replay: t.History, Notice: t.Notice}
}

// obey carries out the request in a line if the person has the right to make it. It adds
// the messages that the line requests to the arrival a.
func (r *listener) obey(t Text, now time.Time, a *arrival) {
	agents := r.agents()
	var selves []string
	if t.Via == "" {
		selves = r.link.Selves()
	}
	m, ok := r.answersLead(t)
	if !ok {
		m, ok = meant(t.Body, t.Private, t.Via, r.names(agents), selves, r.link)
	}
	if !ok {
		m, ok = r.hinted(t)
	}
	if !ok {
		r.notices.tellTorn(t, now)
		return
	}
	if r.questions.isForDaemon(m.order) {
		m.need = Control
	}
	if t.Notice && t.Who.Host == "" {
		return // a message from the server, for example about its TLS settings, is not an order
	}
	if r.isJustMissed(t, m.need, now) {
		if r.mailed(t, m.agents) {
			return
		}
		r.rec.log.Info("obeyed, although it was said while we were away", keyNick, t.Nick, "account", t.Account, keyChannel, t.Peer(), "said", t.Time.UTC())
		t.History = false
	}
	if why := r.notListened(t, m.need, now); why != "" {
		if news := t; t.History {
			news.History, news.Time = false, now
			if r.notListened(news, m.need, now) == "" {
				if !r.mailed(t, m.agents) {
					r.notices.noteMissed(t)
				}
				return
			}
		}
		r.rec.state.Denied++
		r.rec.log.Warn("denied", keyWhy, why, "right", string(m.need), keyNick, t.Nick, "source", t.Source, "account", t.Account,
			keyChannel, t.Peer(), "text", clip(r.rec.mask(r.link.Plain(t.Body)), 200))
		if has := r.permits.of(t.Who); why == notPermitted && len(has) > 0 {
			r.notices.lacks(t, m.need, has, now)
		}
		return
	}
	switch {
	case len(m.agents) == 0:
		r.orders.command(t, m, agents)
	default:
		for _, agent := range m.agents {
			r.pass(t, agent, m.need, now, a)
		}
		r.notices.noteSpoken(t, m.agents, now)
	}
}

// missedShortly is the maximum age of a line that the bridge obeys although it was said while
// the bridge was away. People do not notice so short an absence.
const missedShortly = time.Minute

// isJustMissed reports whether a line from the history is so recent that it still applies, and
// comes from an account with the right that it needs. A playback by a bouncer has no ids, or
// the bridge cannot tell it from the history of the server, so the bridge obeys neither.
func (r *listener) isJustMissed(t Text, need Right, now time.Time) bool {
	return t.History && t.MsgID != "" && now.Sub(t.Time) < missedShortly && t.Who.Account != "" && r.link.Vouched() != "" && r.permits.may(Person{Account: t.Who.Account}, need)
}

// notPermitted is the reason for not obeying a line that could be an order.
const notPermitted = "nothing permits it"

// notListened returns the reason for not obeying a line, or "" if the line may be obeyed.
func (r *listener) notListened(t Text, need Right, now time.Time) string {
	switch {
	case t.History:
		return "it is from the history"
	case now.Sub(t.Time) > staleAfter:
		return "it is old"
	case t.Notice:
		return "it is a notice"
	case t.Relayed:
		return "it was relayed"
	case t.Bot:
		return "a bot said it"
	case t.Emote:
		return "it is not speech"
	case t.Target == "" || t.Private && !r.link.Ours(t.Target):
		return "it was not addressed to us"
	case !r.permits.may(t.Who, need):
		return notPermitted
	}
	return ""
}

// mailed reports whether a line from the history has already reached its agents. That can
// happen if an earlier bridge was killed after it delivered the line but before it added
// the line to the buffer.
func (r *listener) mailed(t Text, agents []string) bool {
	if t.MsgID == "" || len(agents) == 0 {
		return false
	}
	key := r.keyOf(t)
	for _, agent := range agents {
		switch _, ok, err := r.mail.store.Delivered(agent, key); {
		case err != nil:
			r.rec.trouble("it is unknown whether a line was delivered", err)
			return false
		case !ok:
			return false
		}
	}
	return true
}

// pass delivers a line to an agent, as the answer to the agent's question or as a new
// message.
func (r *listener) pass(t Text, agent string, need Right, now time.Time, a *arrival) {
	where := "@mention in " + t.Target
	if t.Private {
		where = "private message"
	}
	body := fmt.Sprintf("[%s %s] <%s> %s", r.mail.title, where, t.Nick, r.link.Plain(t.Body))
	o := Origin{Channel: t.Peer(), Nick: t.Nick, Account: t.Account, MsgID: t.MsgID}
	if need == Talk {
		channel := t.Target
		if t.Private {
			channel = ""
		}
		if q, ok := r.questions.of(agent, channel); ok {
			r.orders.bring(t, q, o, body)
			return
		}
	}
	if !t.Private && !r.channels.Hears(agent, t.Target) {
		r.notices.tellWrongChannel(t, agent, now)
		return
	}
	if !r.notices.wake(t, agent, now) {
		return
	}
	m := &dropbox.Message{From: r.mail.name, To: []string{agent}, Type: dropbox.Question, Key: r.keyOf(t), Extra: o.Extra(r.mail.name), Body: []byte(body)}
	if need == Tasks {
		m.Type = dropbox.Task
	}
	a.add(r.mail.draft(agent, m), func(out dropbox.Outcome) {
		switch {
		case out.Err != nil:
			r.undelivered(t, agent, out.Err)
		case need == Tasks && !out.Duplicate:
			r.notices.tellTaken(t, agent, out.ID)
		}
	})
	r.notices.tellHeld(t, agent)
}

// keyOf returns the delivery key of a line. With this key, a line that has an id from the
// server is delivered only once, even if it arrives several times.
func (r *listener) keyOf(t Text) string {
	if t.MsgID != "" && len(t.MsgID) <= 200 && r.link.Plain(t.MsgID) == t.MsgID {
		return r.mail.name + "-" + r.link.Network() + "-" + t.MsgID
	}
	r.lines++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%s\x00%d", t.Target, t.Source, t.Time.UnixNano(), t.Body, r.lines))
	return r.mail.name + "-" + r.link.Network() + "-" + hex.EncodeToString(sum[:16])
}

// undelivered tells a person that their line was not delivered to the agent.
func (r *listener) undelivered(t Text, agent string, err error) {
	if errors.Is(err, dropbox.ErrFull) {
		r.rep.tell(t, agent+" already has too much mail. Say it again later.")
		return
	}
	r.rec.trouble("message was not delivered", err)
	why := err.Error()
	if errors.Is(err, syscall.ENOSPC) {
		why = "the disk is full. Say it again when there is room."
	} else if errno, ok := errors.AsType[syscall.Errno](err); ok {
		why = errno.Error() // the bare error contains no paths
	}
	r.rep.tell(t, agent+" did not get that: "+why)
}

// hinted parses an order that the bridge suggested and that a person typed in a channel
// without the bridge's name in front. The order is either a reply to a question or an
// order to read a message, and it contains the id of a message of this project. hinted
// performs no lookup for a person who lacks the "talk" right.
func (r *listener) hinted(t Text) (meaning, bool) {
	words := strings.Fields(t.Body)
	if len(words) < 2 || t.Private || !r.permits.may(t.Who, Talk) {
		return meaning{}, false
	}
	known := false
	switch id := bareID(words[1]); {
	case strings.EqualFold(words[0], "reply"):
		known = len(words) > 2 && (len(r.questions.asked(id)) > 0 || r.mail.isHere(id))
	case strings.EqualFold(words[0], "read") && len(words) == 2:
		known = r.mail.isHere(id)
	}
	return meaning{need: Talk, order: t.Body}, known
}

// answersLead parses a line that is addressed to the lead, as in "lead: yes", if a
// question from the lead is waiting for an answer. If no such question is waiting, a line
// that begins with "lead" is treated as talk between people.
func (r *listener) answersLead(t Text) (meaning, bool) {
	channel := t.Target
	if t.Private {
		channel = ""
	}
	if _, ok := r.questions.of(dropbox.Lead, channel); !ok || t.Via != "" {
		return meaning{}, false
	}
	line := strings.TrimSpace(t.Body)
	for _, called := range []string{dropbox.Lead, r.called(dropbox.Lead)} {
		start, end := r.link.FindMention(line, called)
		if start == 0 && (line[0] == '@' || strings.ContainsRune(":,", rune(line[end-1]))) {
			return meaning{need: Talk, agents: []string{dropbox.Lead}}, true
		}
	}
	return meaning{}, false
}
