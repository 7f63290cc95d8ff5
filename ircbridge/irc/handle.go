package irc

import (
	"slices"
	"strings"
	"time"
)

// take deals with one received message and returns what the consumer is to see
// of it. The error ends the connection.
func (c *Conn) take(m Message, open *batches, reg *registration) ([]Message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.timers.hear(now)
	if m.Tags["batch"] == "" { // what is in one may be old
		c.st.heard = messageTime(m, now)
	}
	c.ring()
	switch m.Command {
	case "PING":
		c.urgent(Msg("PONG", m.Last()))
		return nil, nil
	case "ERROR":
		if c.st.refused == nil {
			c.st.refused = &Refused{Code: "ERROR", Text: m.Last()}
		}
		return nil, c.st.refused
	}
	done, alone, dropped := open.take(m)
	switch {
	case dropped:
		c.st.dropped++
		return nil, nil
	case alone:
		return c.one(m, reg)
	case done == nil:
		return nil, nil
	case done.kind == "labeled-response":
		return c.answer(done, reg)
	case strings.HasSuffix(done.kind, "chathistory") || strings.HasSuffix(done.kind, "chathistory-targets"):
		return c.historyBatch(done), nil
	}
	if label := done.label(); label != "" && done.kind != "draft/multiline" {
		return c.answer(done, reg)
	}
	return c.each(done.flat(), reg)
}

func (c *Conn) each(all []Message, reg *registration) (seen []Message, err error) {
	for _, m := range all {
		some, err := c.one(m, reg)
		seen = append(seen, some...)
		if err != nil {
			return seen, err
		}
	}
	return seen, nil
}

// answer takes a batch that is the whole answer to one labelled command.
func (c *Conn) answer(b *batch, reg *registration) ([]Message, error) {
	e := c.out.labels[b.label()]
	members := b.flat()
	if e != nil {
		var failure *Rejected
		msgid := ""
		for _, m := range members {
			if failure == nil {
				failure = rejected(m)
			}
			if m.Tags["msgid"] != "" && c.own(m) {
				msgid = m.Tags["msgid"]
			}
		}
		c.settle(e, members, failure, msgid)
	}
	seen := members[:0:0]
	for _, m := range members {
		if e != nil && e.delivery != nil && c.own(m) {
			continue // our echo
		}
		if strings.HasSuffix(m.Tags["batch"], "chathistory") {
			continue // for the one who asked
		}
		some, err := c.one(m, reg)
		seen = append(seen, some...)
		if err != nil {
			return seen, err
		}
	}
	return seen, nil
}

// settle gives an entry its answer.
func (c *Conn) settle(e *entry, answer []Message, failure *Rejected, msgid string) {
	if e.call != nil {
		e.call.answer = append(e.call.answer, answer...)
	}
	if failure != nil {
		c.out.reject(e, failure)
		if e.call != nil {
			e.call.finish(failure)
		}
		return
	}
	c.out.prove(e, msgid)
	if e.call != nil {
		e.call.finish(nil)
	}
}

// historyBatch gives a history to the one who asked for it.
func (c *Conn) historyBatch(b *batch) []Message {
	members := b.flat()
	if e := c.out.labels[b.label()]; e != nil {
		c.settle(e, members, nil, "")
		return nil
	}
	e := c.out.find(func(e *entry) bool { return e.call != nil && e.command == "CHATHISTORY" })
	if e != nil {
		e.call.answer = append(e.call.answer, members...)
		return nil
	}
	return members
}

// own says whether a message is the echo of our own: by nick, or by the tag
// that the server puts on what we said under another by RELAYMSG.
func (c *Conn) own(m Message) bool {
	switch m.Command {
	case "PRIVMSG", "NOTICE", "TAGMSG", "RELAYMSG":
		return c.st.me(m.Nick()) || m.Tags["draft/relaymsg"] != "" && c.st.me(m.Tags["draft/relaymsg"])
	}
	return false
}

// one deals with a message that stands for itself.
func (c *Conn) one(m Message, reg *registration) ([]Message, error) {
	label := m.Tags["label"]
	if e := c.out.labels[label]; label != "" && e != nil {
		var answer []Message
		if m.Command != "ACK" {
			answer = []Message{m}
		}
		c.settle(e, answer, rejected(m), m.Tags["msgid"])
		if m.Command == "ACK" || c.own(m) && e.delivery != nil {
			return nil, nil
		}
	} else if c.unlabelled(m) {
		return nil, nil
	}
	switch m.Command {
	case "ACK":
		return nil, nil
	case "PONG":
		now := time.Now()
		if lag, ok := c.out.pong(m.Last(), now); ok && lag > 0 {
			c.st.lag = lag
		} else if m.Last() == alive {
			c.st.lag = now.Sub(c.timers.asked)
		}
		return nil, nil
	}
	if done, err := reg.take(c, m); done || err != nil {
		return nil, err
	}
	c.track(m)
	if c.st.phase == Registering && (m.Command[0] <= '9' || m.Command == "NOTICE") {
		return nil, nil // the server's greeting
	}
	return []Message{m}, nil
}

// unlabelled finds the entry that an answer without a label belongs to. It says
// whether the message was only that: our echo.
func (c *Conn) unlabelled(m Message) bool {
	if c.own(m) && c.st.has("echo-message") {
		target, text := c.st.fold.Fold(m.Param(0)), m.Last()
		e := c.out.find(func(e *entry) bool {
			return e.delivery != nil && e.label == "" && e.target == target && e.text == text
		})
		if e != nil {
			c.settle(e, nil, nil, m.Tags["msgid"])
		}
		return e != nil
	}
	if failure := rejected(m); failure != nil {
		if e := c.refused(m, failure); e != nil {
			c.settle(e, nil, failure, "")
			return false
		}
	}
	if m.Command[0] <= '9' || m.Command == "FAIL" {
		e := c.out.find(func(e *entry) bool { return e.call != nil && e.label == "" })
		if e != nil && len(e.call.answer) < maxAnswer {
			e.call.answer = append(e.call.answer, m)
		}
	}
	return false
}

// textRefusals are the numerics that refuse a text, and no other command that we send.
var textRefusals = []string{"401", "402", "404", "406", "407", "411", "412", "413", "414", "415", "417", "481", "486", "492", "531", "716"}

// refused finds the text on its way that a failure without a label belongs to; nil if that
// is not known.
func (c *Conn) refused(m Message, failure *Rejected) *entry {
	text := func(e *entry) bool { return e.delivery != nil && e.label == "" }
	if m.Command == "FAIL" {
		return c.out.find(func(e *entry) bool {
			return text(e) && (m.Param(0) == e.command || m.Param(0) == "*" || m.Param(0) == "BATCH" && strings.HasPrefix(string(e.data), "BATCH"))
		})
	}
	switch failure.Code {
	case "407", "411", "412", "417": // these are of the text, not of its target
		return c.out.find(text)
	}
	target := c.st.fold.Fold(failure.Target)
	if e := c.out.find(func(e *entry) bool { return text(e) && target != "" && e.target == target }); e != nil {
		return e
	}
	if !slices.Contains(textRefusals, failure.Code) {
		return nil
	}
	// It names the target in another way, such as cut to the length of a nick, or not at
	// all. Where texts for several are on their way, it is open whose it is.
	if e := c.out.find(func(e *entry) bool { return text(e) && target != "" && strings.HasPrefix(e.target, target) }); e != nil {
		return e
	}
	first := c.out.find(text)
	if first == nil || c.out.find(func(e *entry) bool { return text(e) && e.target != first.target }) != nil {
		return nil
	}
	return first
}
