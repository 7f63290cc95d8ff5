package irc

import (
	"strings"
	"time"
)

// eventSource is the source under which ergo 2.20 writes events, such as a JOIN, into the
// history of clients without draft/event-playback. On ergo, the nick in it is reserved.
// On another server, a person could have that nick. Messages that this person sent
// without a login would then be missing from the history.
const eventSource = "HistServ!HistServ@localhost"

// newText makes a Text from a PRIVMSG or NOTICE. ok is false for any other message, for a
// CTCP other than ACTION, and for an event that appears in the history as a message.
func newText(m Message, st *State, now time.Time) (t Text, ok bool) {
	if (m.Command != "PRIVMSG" && m.Command != "NOTICE") || len(m.Params) < 2 {
		return Text{}, false
	}
	if m.Source == eventSource && isHistory(m.Tags["batch"]) && m.Tags["account"] == "" {
		return Text{}, false
	}
	fold := st.CaseMapping()
	target := m.Param(0)
	if signs := st.ISupport["STATUSMSG"]; signs != "" {
		if bare := strings.TrimLeft(target, signs); st.ISupport.IsChannel(bare) {
			target = bare
		}
	}
	t = Text{
		Time: messageTime(m, now), Target: target, Source: m.Source, Nick: m.Nick(),
		Account: m.Tags["account"], MsgID: m.Tags["msgid"], Body: m.Last(), Tags: m.Tags,
		Private: !st.ISupport.IsChannel(target), Notice: m.Command == "NOTICE",
		History: isHistory(m.Tags["batch"]),
	}
	_, t.Bot = m.Tags["bot"]
	if _, drafted := m.Tags["draft/bot"]; drafted {
		t.Bot = true
	}
	relayedBy, relayed := m.Tags["draft/relaymsg"]
	t.Relayed = relayed
	t.Own = fold.Same(t.Nick, st.Nick) || relayed && fold.Same(relayedBy, st.Nick)
	if command, args, ctcp := CTCP(t.Body); ctcp {
		if command != "ACTION" {
			return Text{}, false
		}
		t.Emote, t.Body = true, args
	}
	t.Body = StripFormat(t.Body)
	return t, true
}

// isHistory reports whether batches of the given type contain old messages, from a
// requested history or from a bouncer's playback.
func isHistory(batch string) bool {
	return strings.HasSuffix(batch, "chathistory") || strings.HasSuffix(batch, "/playback")
}
