package main

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// ircMirror says in which channel people see what the swarm does. The configuration
// may be read again while it is asked.
type ircMirror struct{ section atomic.Pointer[config.IRC] }

func newIRCMirror(i config.IRC) *ircMirror {
	m := &ircMirror{}
	m.set(i)
	return m
}

func (m *ircMirror) set(i config.IRC) { m.section.Store(&i) }

// A showing is one line in one channel.
type showing struct {
	channel string
	moment  ircbridge.Moment
}

// Copies implements [swarm.Mirror].
func (m *ircMirror) Copies(mo swarm.Moment) []swarm.Copy {
	i := m.section.Load()
	if !i.On() {
		return nil
	}
	var copies []swarm.Copy
	add := func(what string, n ircbridge.Note) {
		copies = append(copies, swarm.Copy{Where: what + n.Channel, Extra: n.Extra()})
	}
	work := workChannel(i, mo)
	if work != "" && mo.Kind == swarm.MomentBegun && first(mo.Of) {
		add("join ", ircbridge.Note{Do: ircbridge.DoJoin, Channel: work})
	}
	shown := showings(i, mo)
	if work != "" && !slices.ContainsFunc(shown, func(s showing) bool { return s.channel == work }) {
		shown = append(shown, showing{work, momentOf(mo)})
	}
	for _, s := range shown {
		add("", ircbridge.Note{Channel: s.channel, About: mo.About, To: shownTo(mo, s), Moment: s.moment})
		if mo.Kind == swarm.MomentAlert {
			copies[len(copies)-1].Text = tagOf(mo.Message.Key) + " " + string(mo.Message.Body)
		}
	}
	if work != "" && (mo.Kind == swarm.MomentResult || mo.Kind == swarm.MomentDead) && first(mo.Of) {
		add("part ", ircbridge.Note{Do: ircbridge.DoPart, Channel: work})
	}
	return copies
}

// tagOf is the word in brackets that an alert begins with, by what its key says it is
// about.
func tagOf(key string) string {
	what, _, _ := strings.Cut(key, ":")
	switch what {
	case "stopped":
		return "[ERROR]"
	case "limited":
		return "[LIMIT]"
	case "halted":
		return "[HALTED]"
	case "refused":
		return "[REFUSED]"
	case "unclaimed":
		return "[UNCLAIMED]"
	}
	return "[ALERT]"
}

// first tells whether a message began its conversation.
func first(m *dropbox.Message) bool {
	return m != nil && m.Type == dropbox.Task && (m.Thread == m.ID || m.Thread == "")
}

// workChannel is the channel of the task that a moment is about; "" where tasks have
// none.
func workChannel(i *config.IRC, mo swarm.Moment) string {
	if !i.WorkChannels || i.Channels.Work == "" || mo.Message.Thread == "" || mo.Kind == swarm.MomentAlert {
		return ""
	}
	return ircbridge.Channels{Work: i.Channel(i.Channels.Work)}.WorkOf(mo.Message.Thread)
}

// shownTo is the name that the line speaks of beside that of the speaker: the agent,
// where a turn begins or ends badly.
func shownTo(mo swarm.Moment, s showing) string {
	if s.moment != ircbridge.Said && s.moment != ircbridge.Ended && mo.Agent != "" {
		return mo.Agent
	}
	return mo.To
}

// momentOf is how a moment is shown.
func momentOf(mo swarm.Moment) ircbridge.Moment {
	switch mo.Kind {
	case swarm.MomentBegun:
		return ircbridge.Begun
	case swarm.MomentResult:
		return ircbridge.Ended
	case swarm.MomentFailed:
		return ircbridge.Failed
	case swarm.MomentAlert:
		return ircbridge.Alert
	case swarm.MomentDead:
		return ircbridge.Buried
	}
	return ircbridge.Said
}

// showings says where a moment is shown: by the first rule of the configuration that
// fits, else as is usual.
func showings(i *config.IRC, mo swarm.Moment) []showing {
	var shown []showing
	add := func(channel string, how ircbridge.Moment) {
		if channel = i.Channel(channel); channel == "" || mo.Of != nil && saidIn(mo.Of, channel) && how == ircbridge.Ended {
			return // nowhere, or the bridge says it there, as the answer
		}
		if !slices.ContainsFunc(shown, func(s showing) bool { return strings.EqualFold(s.channel, channel) }) {
			shown = append(shown, showing{channel, how})
		}
	}
	for _, r := range i.Map {
		if fits(r, mo) {
			add(r.Channel, momentOf(mo))
			return shown
		}
	}
	work := mo.Of != nil && (mo.Of.Type == dropbox.Task || mo.Of.Type == dropbox.Handoff)
	switch mo.Kind {
	case swarm.MomentBegun:
		if work && mo.Message.From != dropbox.Swarm {
			add(i.Channels.Standup, ircbridge.Begun)
		}
		if mo.Message.From == dropbox.Lead {
			add(i.Channels.Project, ircbridge.Said)
		}
	case swarm.MomentResult, swarm.MomentFailed:
		if work && mo.Of.From != dropbox.Swarm {
			add(i.Channels.Standup, momentOf(mo))
		}
	case swarm.MomentMail:
		if from := mo.Message.From; from != dropbox.IRC && from != dropbox.Lead {
			add(i.Channels.Project, ircbridge.Said)
		}
	case swarm.MomentAlert:
		add(i.Channels.Alerts, ircbridge.Alert)
	case swarm.MomentDead:
		add(i.Channels.Errors, ircbridge.Buried)
	}
	return shown
}

// saidIn tells whether somebody on IRC said a message in that channel.
func saidIn(m *dropbox.Message, channel string) bool {
	n, ok := ircbridge.NoteOf(m)
	return ok && m.From == dropbox.IRC && strings.EqualFold(n.Channel, channel)
}

// fits tells whether a rule is about a moment. Its type is that of the message on
// which the turn works, or that arrived.
func fits(r config.IRCRule, mo swarm.Moment) bool {
	about := mo.Message
	if mo.Of != nil {
		about = mo.Of
	}
	return (r.Moment == "" || r.Moment == string(mo.Kind)) &&
		(r.Type == "" || r.Type == string(about.Type)) &&
		(r.From == "" || r.From == mo.Message.From) &&
		(r.To == "" || r.To == mo.To)
}
