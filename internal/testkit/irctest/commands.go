package irctest

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

func (u *user) login(word string) {
	if word == "PLAIN" {
		u.send("s", "AUTHENTICATE", "+")
		return
	}
	secret, err := base64.StdEncoding.DecodeString(word)
	parts := strings.Split(string(secret), "\x00")
	if err != nil || len(parts) != 3 || u.s.f.Password != "" && parts[2] != u.s.f.Password {
		u.send("s", "904", "*", "SASL authentication failed")
		return
	}
	u.account = parts[1]
	u.send("s", "900", "*", "*", u.account, "You are now logged in")
	u.send("s", "903", "*", "SASL authentication successful")
}

func (u *user) command(m irc.Message) {
	fail := func(code string, params ...string) {
		u.send("s", code, append([]string{u.nick}, params...)...)
	}
	switch m.Command {
	case "JOIN":
		for room := range strings.SplitSeq(m.Param(0), ",") {
			if !strings.HasPrefix(room, "#") {
				fail("403", room, "No such channel")
				continue
			}
			u.rooms[strings.ToLower(room)] = room
			join := irc.Message{Source: u.source(), Command: "JOIN", Params: []string{room}}
			u.write(join)
			u.s.keepEvent(room, join)
			names := u.nick
			for _, other := range u.s.users {
				if _, in := other.rooms[strings.ToLower(room)]; in && other != u {
					other.raw(join)
					names += " " + other.nick
				}
			}
			u.raw(irc.Message{Source: "s", Command: "353", Params: []string{u.nick, "=", room, names}})
			u.raw(irc.Message{Source: "s", Command: "366", Params: []string{u.nick, room, "End of NAMES"}})
		}
	case "PART":
		if _, in := u.rooms[strings.ToLower(m.Param(0))]; !in {
			fail("442", m.Param(0), "You are not on that channel")
			return
		}
		part := irc.Message{Source: u.source(), Command: "PART", Params: []string{m.Param(0)}}
		u.write(part)
		delete(u.rooms, strings.ToLower(m.Param(0)))
		u.s.toRoom(m.Param(0), part)
	case "BATCH":
		u.takeBatch(m)
	case "PRIVMSG", "NOTICE":
		if u.batch != nil {
			_, concat := m.Tags["draft/multiline-concat"]
			u.batch.lines = append(u.batch.lines, irc.Line{Text: m.Last(), Concat: concat})
			u.answered = true
			return
		}
		u.say(m.Command, Said{Source: u.source(), Target: m.Param(0), Text: m.Param(1), Tags: clientTags(m)})
	case "RELAYMSG":
		if !strings.Contains(m.Param(1), "/") {
			u.send("s", "FAIL", "RELAYMSG", "INVALID_NICK", m.Param(1), "The nick must hold a /")
			return
		}
		if slices.ContainsFunc(u.s.f.NoRelay, func(c string) bool { return strings.EqualFold(c, m.Param(0)) }) {
			u.send("s", "FAIL", "RELAYMSG", "PRIVS_NEEDED", m.Param(0), "You cannot relay messages to this channel")
			return
		}
		u.say("PRIVMSG", Said{Source: m.Param(1) + "!relay@relay", RelayedBy: u.nick, Target: m.Param(0), Text: m.Param(2), Tags: clientTags(m)})
	case "CHATHISTORY":
		u.history(m)
	default:
		fail("421", m.Command, "Unknown command")
	}
}

func (u *user) takeBatch(m irc.Message) {
	ref := m.Param(0)
	if strings.HasPrefix(ref, "+") {
		u.batch = &openBatch{ref: ref[1:], target: m.Param(2), label: u.label, tags: clientTags(m)}
		u.answered = true
		return
	}
	b := u.batch
	u.batch = nil
	if b == nil || b.ref != ref[1:] {
		return
	}
	u.label, u.answered = b.label, false
	b.lines[0].Concat = false
	text := irc.Join(b.lines)
	switch {
	case len(text) > u.s.f.MaxBytes:
		u.send("s", "FAIL", "BATCH", "MULTILINE_MAX_BYTES", strconv.Itoa(u.s.f.MaxBytes), "Too many bytes")
	case len(b.lines) > u.s.f.MaxLines:
		u.send("s", "FAIL", "BATCH", "MULTILINE_MAX_LINES", strconv.Itoa(u.s.f.MaxLines), "Too many lines")
	default:
		u.say("PRIVMSG", Said{Source: u.source(), Target: b.target, Text: text, Tags: b.tags, lines: b.lines})
	}
}

// say checks a message from a user and passes it on.
func (u *user) say(command string, m Said) {
	m.Account = u.account
	if m.RelayedBy != "" {
		m.Account = ""
	}
	switch {
	case m.Text == "":
		u.send("s", "412", u.nick, "No text to send")
		return
	case strings.HasPrefix(m.Target, "#"):
		if _, in := u.rooms[strings.ToLower(m.Target)]; !in {
			u.send("s", "404", u.nick, m.Target, "Cannot send to channel")
			return
		}
	case u.s.users[strings.ToLower(m.Target)] == nil:
		u.send("s", "401", u.nick, m.Target, "No such nick")
		return
	}
	ruling := Accept
	if u.s.f.Rule != nil && strings.HasPrefix(m.Target, "#") {
		ruling = u.s.f.Rule(m.Text)
	}
	if ruling == Refuse {
		u.send("s", "404", u.nick, m.Target, "Cannot send to channel")
		return
	}
	m = u.s.say(u, m, command)
	if ruling == Kick {
		u.s.toRoom(m.Target, irc.Message{Source: "op!u@elsewhere", Command: "KICK", Params: []string{m.Target, u.nick, "out"}})
		delete(u.rooms, strings.ToLower(m.Target))
	}
	if u.caps["echo-message"] {
		u.deliver(m, command, true)
	}
}

// say stores a message and sends it to all its recipients except the user from.
func (s *Server) say(from *user, m Said, command string) Said {
	s.serial++
	m.ID, m.Time = fmt.Sprintf("id%d", s.serial), time.Now().UTC()
	s.said = append(s.said, m)
	for _, u := range s.users {
		_, in := u.rooms[strings.ToLower(m.Target)]
		if u != from && (in || strings.EqualFold(u.nick, m.Target)) {
			u.deliver(m, command, false)
		}
	}
	return m
}

// clientTags returns those tags in a client's message that a server passes on.
func clientTags(m irc.Message) map[string]string {
	tags := maps.Clone(m.Tags)
	maps.DeleteFunc(tags, func(key, _ string) bool { return !strings.HasPrefix(key, "+") })
	return tags
}

func (m Said) tags() map[string]string {
	tags := map[string]string{"msgid": m.ID, "time": m.Time.Format("2006-01-02T15:04:05.000Z")}
	maps.Copy(tags, m.Tags)
	if m.Account != "" {
		tags["account"] = m.Account
	}
	if m.RelayedBy != "" {
		tags["draft/relaymsg"] = m.RelayedBy
	}
	return tags
}

// deliver writes a message to the user. If it answers a command, it carries the command's
// label.
func (u *user) deliver(m Said, command string, answer bool) {
	write := u.raw
	if answer {
		write = u.write
	}
	if len(m.lines) > 0 && u.caps["draft/multiline"] && u.caps["batch"] {
		ref := "b" + m.ID
		write(irc.Message{Tags: m.tags(), Source: m.Source, Command: "BATCH", Params: []string{"+" + ref, "draft/multiline", m.Target}})
		for _, l := range m.lines {
			tags := map[string]string{"batch": ref}
			if l.Concat {
				tags["draft/multiline-concat"] = ""
			}
			u.raw(irc.Message{Tags: tags, Source: m.Source, Command: command, Params: []string{m.Target, l.Text}})
		}
		u.raw(irc.Msg("BATCH", "-"+ref))
		return
	}
	lines := m.lines
	if len(lines) == 0 {
		lines = []irc.Line{{Text: m.Text}}
	}
	for _, l := range lines {
		write(irc.Message{Tags: m.tags(), Source: m.Source, Command: command, Params: []string{m.Target, l.Text}})
	}
}

// targets lists the channels and the private senders with new messages for the user, in
// the order of their newest messages.
func (u *user) targets(ref string, after, before time.Time, limit int) {
	if u.s.f.NoTargets {
		u.send("s", "FAIL", "CHATHISTORY", "INVALID_PARAMS", "TARGETS", "Unknown subcommand")
		return
	}
	u.send("s", "BATCH", "+"+ref, "draft/chathistory-targets")
	var newest []Said // the newest message of each target, oldest first
	for _, said := range slices.Backward(u.s.said) {
		if _, in := u.rooms[strings.ToLower(said.Target)]; said.event != nil || !in && !strings.EqualFold(said.Target, u.nick) {
			continue
		}
		if !slices.ContainsFunc(newest, func(other Said) bool { return other.peer() == said.peer() }) {
			newest = slices.Insert(newest, 0, said)
		}
	}
	for _, said := range newest {
		if said.Time.After(after) && said.Time.Before(before) && limit > 0 {
			limit--
			u.raw(irc.Message{Tags: map[string]string{"batch": ref}, Source: "s", Command: "CHATHISTORY", Params: []string{"TARGETS", said.peer(), said.tags()["time"]}})
		}
	}
	u.raw(irc.Msg("BATCH", "-"+ref))
}

// peer returns the channel of a message, or the sender if the message is private.
func (m Said) peer() string {
	if strings.HasPrefix(m.Target, "#") {
		return m.Target
	}
	nick, _, _ := strings.Cut(m.Source, "!")
	return nick
}

// history answers CHATHISTORY AFTER and TARGETS.
func (u *user) history(m irc.Message) {
	limit, _ := strconv.Atoi(m.Last())
	limit = min(limit, u.s.f.Page)
	ref := fmt.Sprintf("h%d", u.s.serial)
	if m.Param(0) == "TARGETS" {
		u.targets(ref, reference(m.Param(1)), reference(m.Param(2)), limit)
		return
	}
	target, after := m.Param(1), m.Param(2)
	var kept []Said
	for _, said := range u.s.said[u.s.forgot:] {
		nick, _, _ := strings.Cut(said.Source, "!")
		if strings.EqualFold(said.Target, target) || strings.EqualFold(nick, target) && strings.EqualFold(said.Target, u.nick) {
			kept = append(kept, said)
		}
	}
	if u.s.f.Ring > 0 {
		kept = kept[max(0, len(kept)-u.s.f.Ring):]
	}
	first := len(kept) // for an unknown id, no message is returned
	if id, ok := strings.CutPrefix(after, "msgid="); ok {
		if i := slices.IndexFunc(kept, func(said Said) bool { return said.ID == id }); i >= 0 {
			first = i + 1
		} else if u.s.f.StrictIDs {
			u.send("s", "FAIL", "CHATHISTORY", "INVALID_MSGREFTYPE", target, "No such message")
			return
		}
	} else if i := slices.IndexFunc(kept, func(said Said) bool { return said.Time.After(reference(after)) }); i >= 0 {
		first = i
	}
	page := kept[first:]
	page = page[:min(limit, len(page))]
	u.send("s", "BATCH", "+"+ref, "chathistory", target)
	for _, said := range page {
		tags := said.tags()
		tags["batch"] = ref
		if said.event != nil {
			u.raw(u.played(said, tags))
			continue
		}
		if len(said.lines) == 0 {
			u.raw(irc.Message{Tags: tags, Source: said.Source, Command: "PRIVMSG", Params: []string{said.Target, said.Text}})
			continue
		}
		u.raw(irc.Message{Tags: tags, Source: said.Source, Command: "BATCH", Params: []string{"+i" + said.ID, "draft/multiline", said.Target}})
		for _, l := range said.lines {
			inner := map[string]string{"batch": "i" + said.ID}
			if l.Concat {
				inner["draft/multiline-concat"] = ""
			}
			u.raw(irc.Message{Tags: inner, Source: said.Source, Command: "PRIVMSG", Params: []string{said.Target, l.Text}})
		}
		u.raw(irc.Msg("BATCH", "-i"+said.ID))
	}
	u.raw(irc.Msg("BATCH", "-"+ref))
}

// keepEvent adds a join or quit to the history.
func (s *Server) keepEvent(room string, m irc.Message) {
	if s.f.Events {
		s.serial++
		s.said = append(s.said, Said{ID: fmt.Sprintf("id%d", s.serial), Target: room, Source: m.Source, Time: time.Now().UTC(), event: &m})
	}
}

// played returns an event from the history. This is the event itself if the user
// requested events, and otherwise a message from a service in the format of ergo 2.20.
func (u *user) played(said Said, tags map[string]string) irc.Message {
	if u.caps["draft/event-playback"] {
		m := *said.event
		m.Tags = tags
		return m
	}
	nick, _, _ := strings.Cut(said.Source, "!")
	text := nick + " joined the channel"
	if said.event.Command != "JOIN" {
		text = nick + " quit (gone)"
	}
	return irc.Message{Tags: tags, Source: "HistServ!HistServ@localhost", Command: "PRIVMSG", Params: []string{said.Target, text}}
}

func reference(s string) time.Time {
	at, _ := time.Parse("2006-01-02T15:04:05.000Z", strings.TrimPrefix(s, "timestamp="))
	return at
}
