package bridge

import (
	"slices"
	"strings"
	"time"
)

// maxInChannel is the maximum length of an answer in a channel, in lines. A longer answer
// goes to the person privately.
const maxInChannel = 3

// replies answers people's lines. An answer is not a message in a mailbox. If the
// connection ends, the answer is lost, but the person can ask again.
type replies struct {
	link  Link
	loop  *loop
	rec   *record
	mores map[string]*more // by folded name
}

// tell sends a person one line, in the channel or private conversation where they spoke.
func (r *replies) tell(t Text, line string) { r.answer(t, []string{line}) }

// answer answers a person. A short answer goes to the channel, a long one to the person
// privately.
func (r *replies) answer(t Text, lines []string) {
	r.tellPage(t, r.fitting(t, lines), maxAnswer)
}

// tellLines sends lines that already fit the network's limit.
func (r *replies) tellLines(t Text, lines []string) Told {
	target := t.Peer()
	if len(lines) > maxInChannel && !t.Private {
		target = t.Nick
		r.tellOne(t, t.Target, t.Nick+": I will answer you privately.")
	} else if !t.Private {
		lines = slices.Clone(lines)
		lines[0] = t.Nick + ": " + lines[0]
	}
	return r.tellOne(t, target, strings.Join(lines, "\n"))
}

// tellOne sends text in answer to t.
func (r *replies) tellOne(t Text, target, text string) Told {
	answers := ""
	if target == t.Peer() {
		answers = t.MsgID
	}
	return r.send(target, text, answers)
}

// say sends a line to everybody in a channel.
func (r *replies) say(channel, line string) { r.send(channel, line, "") }

// send sends text to a target. answers is the network's id of the line that it answers, or "".
func (r *replies) send(target, text, answers string) Told {
	masked := r.rec.mask(withoutTabs(text))
	told := r.link.Tell(target, masked, answers)
	r.loop.do(func() func() {
		<-told.Done() // closed when the connection ends, at the latest
		msgid := told.MsgID()
		return func() {
			r.rec.keep(Line{At: time.Now(), Channel: target, Nick: r.link.Self(), Text: r.link.Plain(masked), MsgID: msgid, Own: true})
		}
	})
	return told
}

// tellThen sends a person a line, and calls then() once the line has been sent or the
// connection has ended.
func (r *replies) tellThen(t Text, line string, then func()) {
	d := r.tellLines(t, r.fitting(t, []string{line}))
	r.loop.do(func() func() {
		<-d.Done() // closed when the connection ends, at the latest
		return then
	})
}
