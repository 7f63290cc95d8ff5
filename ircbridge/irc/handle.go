package irc

import (
	"slices"
	"strings"
	"time"
)

// handle processes one received message, and returns the messages for the consumer. An
// error ends the connection.
func (p *protocol) handle(m Message, open *batches, reg *registration) ([]Message, error) {
	now := time.Now()
	p.timers.hear(now)
	if m.Tags["batch"] == "" { // the messages of a batch may be old
		p.st.heard = messageTime(m, now)
	}
	p.wake()
	switch m.Command {
	case "PING":
		p.urgent(Msg("PONG", m.Last()))
		return nil, nil
	case "ERROR":
		if p.st.refused == nil {
			p.st.refused = &Refused{Code: "ERROR", Text: m.Last()}
		}
		return nil, p.st.refused
	}
	done, alone, dropped := open.add(m)
	switch {
	case dropped:
		p.st.dropped++
		return nil, nil
	case alone:
		return p.one(m, reg)
	case done == nil:
		return nil, nil
	case done.kind == "labeled-response":
		return p.answer(done, reg)
	case strings.HasSuffix(done.kind, "chathistory") || strings.HasSuffix(done.kind, "chathistory-targets"):
		return p.historyBatch(done), nil
	}
	if label := done.label(); label != "" && done.kind != "draft/multiline" {
		return p.answer(done, reg)
	}
	return p.each(done.flat(), reg)
}

func (p *protocol) each(all []Message, reg *registration) (seen []Message, err error) {
	for _, m := range all {
		some, err := p.one(m, reg)
		seen = append(seen, some...)
		if err != nil {
			return seen, err
		}
	}
	return seen, nil
}

// answer handles a batch that contains the whole answer to one labeled command.
func (p *protocol) answer(b *batch, reg *registration) ([]Message, error) {
	e := p.out.labels[b.label()]
	members := b.flat()
	if e != nil {
		var failure *Rejected
		msgid := ""
		for _, m := range members {
			if failure == nil {
				failure = rejected(m)
			}
			if m.Tags["msgid"] != "" && p.own(m) {
				msgid = m.Tags["msgid"]
			}
		}
		p.settle(e, members, failure, msgid)
	}
	seen := members[:0:0]
	for _, m := range members {
		if e != nil && e.delivery != nil && p.own(m) {
			continue // the echo
		}
		if strings.HasSuffix(m.Tags["batch"], "chathistory") {
			continue // a history goes only to the call that requested it
		}
		some, err := p.one(m, reg)
		seen = append(seen, some...)
		if err != nil {
			return seen, err
		}
	}
	return seen, nil
}

// settle settles an entry with its answer.
func (p *protocol) settle(e *entry, answer []Message, failure *Rejected, msgid string) {
	if e.call != nil {
		e.call.answer = append(e.call.answer, answer...)
	}
	if failure != nil {
		p.out.reject(e, failure)
		if e.call != nil {
			e.call.finish(failure)
		}
		return
	}
	p.out.prove(e, msgid)
	if e.call != nil {
		e.call.finish(nil)
	}
}

// historyBatch passes a history to the call that requested it. If there is no such call,
// it returns the messages for the consumer.
func (p *protocol) historyBatch(b *batch) []Message {
	members := b.flat()
	if e := p.out.labels[b.label()]; e != nil {
		p.settle(e, members, nil, "")
		return nil
	}
	e := p.out.find(func(e *entry) bool { return e.call != nil && e.command == "CHATHISTORY" })
	if e != nil {
		e.call.answer = append(e.call.answer, members...)
		return nil
	}
	return members
}

// own reports whether a message was sent by this client's nick. It checks the source, or
// the tag that the server adds to a RELAYMSG under another nick.
func (p *protocol) own(m Message) bool {
	switch m.Command {
	case "PRIVMSG", "NOTICE", "TAGMSG", "RELAYMSG":
		return p.st.me(m.Nick()) || m.Tags["draft/relaymsg"] != "" && p.st.me(m.Tags["draft/relaymsg"])
	}
	return false
}

// one handles one message, which arrived alone or in a batch that is now complete.
func (p *protocol) one(m Message, reg *registration) ([]Message, error) {
	label := m.Tags["label"]
	if e := p.out.labels[label]; label != "" && e != nil {
		var answer []Message
		if m.Command != "ACK" {
			answer = []Message{m}
		}
		p.settle(e, answer, rejected(m), m.Tags["msgid"])
		if m.Command == "ACK" || p.own(m) && e.delivery != nil {
			return nil, nil
		}
	} else if p.unlabeled(m) {
		return nil, nil
	}
	switch m.Command {
	case "ACK":
		return nil, nil
	case "PONG":
		now := time.Now()
		if lag, ok := p.out.pong(m.Last(), now); ok && lag > 0 {
			p.st.lag = lag
		} else if m.Last() == alive {
			p.st.lag = now.Sub(p.timers.asked)
		}
		return nil, nil
	}
	if done, err := reg.handle(p, m); done || err != nil {
		return nil, err
	}
	if p.st.track(m) {
		p.nickFree()
	}
	if p.st.phase == Registering && (m.Command[0] <= '9' || m.Command == "NOTICE") {
		return nil, nil // the server's greeting
	}
	return []Message{m}, nil
}

// unlabeled settles the entry that an answer without a known label belongs to, or adds
// the answer to a waiting call. It reports whether the message was only an echo.
func (p *protocol) unlabeled(m Message) bool {
	if p.own(m) && p.st.has("echo-message") {
		target, text := p.st.fold.Fold(m.Param(0)), m.Last()
		e := p.out.find(func(e *entry) bool {
			return e.delivery != nil && e.label == "" && e.target == target && e.text == text
		})
		if e != nil {
			p.settle(e, nil, nil, m.Tags["msgid"])
		}
		return e != nil
	}
	if failure := rejected(m); failure != nil {
		if e := p.refused(m, failure); e != nil {
			p.settle(e, nil, failure, "")
			return false
		}
	}
	if m.Command[0] <= '9' || m.Command == "FAIL" {
		e := p.out.find(func(e *entry) bool { return e.call != nil && e.label == "" })
		if e != nil && len(e.call.answer) < maxAnswer {
			e.call.answer = append(e.call.answer, m)
		}
	}
	return false
}

// textRefusals are the numerics that refuse a PRIVMSG or NOTICE but no other command that
// this package sends.
var textRefusals = []string{"401", "402", "404", "406", "407", "411", "412", "413", "414", "415", "417", "481", "486", "492", "531", "716"}

// refused returns the unproven message that a failure without a label belongs to, or nil
// if that message is unknown.
func (p *protocol) refused(m Message, failure *Rejected) *entry {
	text := func(e *entry) bool { return e.delivery != nil && e.label == "" }
	if m.Command == "FAIL" {
		return p.out.find(func(e *entry) bool {
			return text(e) && (m.Param(0) == e.command || m.Param(0) == "*" || m.Param(0) == "BATCH" && strings.HasPrefix(string(e.data), "BATCH"))
		})
	}
	switch failure.Code {
	case "407", "411", "412", "417": // these codes refuse the message, not its target
		return p.out.find(text)
	}
	target := p.st.fold.Fold(failure.Target)
	if e := p.out.find(func(e *entry) bool { return text(e) && target != "" && e.target == target }); e != nil {
		return e
	}
	if !slices.Contains(textRefusals, failure.Code) {
		return nil
	}
	// The failure contains the target in a different form, for example cut to the length
	// of a nick, or does not contain it. If messages for several targets are in flight,
	// it may then be unknown which message was refused.
	if e := p.out.find(func(e *entry) bool { return text(e) && target != "" && strings.HasPrefix(e.target, target) }); e != nil {
		return e
	}
	first := p.out.find(text)
	if first == nil || p.out.find(func(e *entry) bool { return text(e) && e.target != first.target }) != nil {
		return nil
	}
	return first
}
