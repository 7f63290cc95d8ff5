package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// ircAnnouncer says in which channel people see what the swarm does. The configuration
// may be read again while it is asked.
type ircAnnouncer struct{ section atomic.Pointer[config.IRC] }

func newIRCAnnouncer(i config.IRC) *ircAnnouncer {
	m := &ircAnnouncer{}
	m.set(i)
	return m
}

func (m *ircAnnouncer) set(i config.IRC) { m.section.Store(&i) }

// A shownLine is the text for one channel.
type shownLine struct {
	channel string
	how     bridge.Announcement
	text    string // instead of that of the message; "" is that
}

// Bridge implements [mail.Announcer].
func (*ircAnnouncer) Bridge() string { return ircbridge.Name }

// Copies implements [mail.Announcer].
func (m *ircAnnouncer) Copies(mo mail.Announcement) []mail.Copy {
	i := m.section.Load()
	if !i.On() {
		return nil
	}
	var copies []mail.Copy
	add := func(what string, n bridge.Origin) {
		copies = append(copies, mail.Copy{Where: what + n.Channel, Extra: n.Extra(ircbridge.Name)})
	}
	work := workChannel(i, mo)
	if work != "" && mo.Kind == journal.Begun && first(mo.Of) {
		add("join ", bridge.Origin{Do: bridge.DoJoin, Channel: work})
	}
	shown := announced(i, mo)
	if work != "" && !slices.ContainsFunc(shown, func(s shownLine) bool { return s.channel == work }) {
		shown = append(shown, shownLine{work, howShown(mo), ""})
	}
	for _, s := range shown {
		add("", bridge.Origin{Channel: s.channel, About: mo.About, To: shownTo(mo, s), Announces: s.how})
		copies[len(copies)-1].Text = s.text
	}
	return copies
}

// gist returns a message in one line, without the channel, speaker and addressee of a text
// from IRC, because the channel shows them.
func gist(m *dropbox.Message) string {
	text := m.Subject
	if text == "" {
		text = string(m.Body)
	}
	if m.From == ircbridge.Name {
		if _, said, ok := strings.Cut(text, "> "); ok {
			text = ircbridge.WithoutHead(said, m.To)
		}
	}
	return screen.Cut(screen.OneLine(text), 100)
}

// tagged returns an alert with a word in brackets at its beginning; the key of the alert
// decides the word.
func tagged(m *dropbox.Message) string {
	what, _, _ := strings.Cut(m.Key, ":")
	tag := "[ALERT]"
	switch what {
	case "stopped":
		tag = "[ERROR]"
	case "limited", "halted", "refused", "unclaimed":
		tag = "[" + strings.ToUpper(what) + "]"
	}
	return tag + " " + string(m.Body)
}

// first reports whether a message began its conversation.
func first(m *dropbox.Message) bool {
	return m != nil && m.Type == dropbox.Task && (m.Thread == m.ID || m.Thread == "")
}

// workChannel returns the channel of the task that an announcement is about, or "" if tasks
// have none. The bridge leaves it when nothing in the conversation is open.
func workChannel(i *config.IRC, mo mail.Announcement) string {
	if !i.WorkChannels || i.Channels.Work == "" || mo.Message.Thread == "" || howShown(mo) == bridge.Alert || mo.Of == nil && mo.Message.From == dropbox.Swarm {
		return ""
	}
	if mo.Of != nil && mo.Of.ID == mo.Message.Thread && mo.Of.Type != dropbox.Task {
		return "" // it began with no task
	}
	return bridge.Channels{Work: i.Channel(i.Channels.Work)}.WorkOf(mo.Message.Thread)
}

// shownTo returns the second name in the line, after the speaker: the agent, if a turn
// begins or fails.
func shownTo(mo mail.Announcement, s shownLine) string {
	if s.how == bridge.Said && s.text != "" {
		return "" // it is said to all
	}
	if s.how != bridge.Said && s.how != bridge.Ended && mo.Agent != "" {
		return mo.Agent
	}
	return mo.To
}

// howShown returns how an announcement is shown.
func howShown(mo mail.Announcement) bridge.Announcement {
	switch mo.Kind {
	case journal.Begun:
		return bridge.Begun
	case journal.Result:
		return bridge.Ended
	case journal.Failed:
		return bridge.Failed
	case journal.Alert, journal.Noticed:
		return bridge.Alert
	case journal.Dead:
		return bridge.GivenUp
	}
	return bridge.Said
}

// announced returns the lines for an announcement with their channels: by the first matching
// rule of the configuration, otherwise by default.
func announced(i *config.IRC, mo mail.Announcement) []shownLine {
	var shown []shownLine
	add := func(channel string, how bridge.Announcement, text ...string) {
		if channel = i.Channel(channel); channel == "" || mo.Of != nil && saidIn(mo.Of, channel) && how == bridge.Ended {
			return // nowhere, or the bridge says it there, as the answer
		}
		if !slices.ContainsFunc(shown, func(s shownLine) bool { return strings.EqualFold(s.channel, channel) }) {
			shown = append(shown, shownLine{channel, how, strings.Join(text, "")})
		}
	}
	for _, r := range i.Map {
		if fits(r, mo) {
			text := ""
			switch {
			case mo.Notice != nil && (mo.Kind == journal.Alert || mo.Kind == journal.Noticed):
				text = mo.Notice.Text()
			case mo.Kind == journal.Alert:
				text = tagged(mo.Message)
			}
			add(r.Channel, howShown(mo), text)
			return shown
		}
	}
	work := mo.Of != nil && (mo.Of.Type == dropbox.Task || mo.Of.Type == dropbox.Handoff)
	switch mo.Kind {
	case journal.Begun:
		if work && mo.Message.From != dropbox.Swarm {
			add(i.Channels.Standup, bridge.Begun)
		}
		if mo.Message.From == dropbox.Lead {
			add(i.ProjectOf(mo.Agent), bridge.Said)
		}
	case journal.Result, journal.Failed:
		if work && mo.Of.From != dropbox.Swarm {
			add(i.Channels.Standup, howShown(mo))
		}
		if mo.Task != nil { // a person gave it, and wants to know
			where := resultsIn(i, mo.Task)
			text := fmt.Sprintf("[COMPLETE] %s finished task \"%s\".", cmp.Or(strings.Join(mo.Task.To, ", "), mo.Agent), gist(mo.Task)) // not %q, which takes an emoji apart
			if mo.Task.ID != mo.Of.ID {                                                                                                 // it was delegated: these are the last words about it, which are not an answer
				text = strings.TrimSuffix(text, ".") + ": " + screen.Cut(screen.OneLine(string(mo.Message.Body)), 200)
				add(where, bridge.Said, string(mo.Message.Body))
			}
			if where != "" {
				text += " Results in " + where + "."
			}
			add(i.Channels.Alerts, bridge.Alert, text)
		}
	case journal.Mail:
		from := mo.Message.From
		if from == ircbridge.Name || from == dropbox.Lead {
			break
		}
		if from == dropbox.Swarm && strings.HasPrefix(mo.Message.Key, swarm.StuckQuestions) {
			break // its notice says it
		}
		if from == dropbox.Swarm { // the daemon asks a person: the line names the words that answer it
			add(i.Channels.Alerts, bridge.Said)
			break
		}
		add(i.ProjectOf(from), bridge.Said)
		if mo.Message.Type == dropbox.Question {
			add(i.Channels.Alerts, bridge.Alert, fmt.Sprintf("[QUESTION] %s needs input: \"%s\"", from, gist(mo.Message)))
		}
	case journal.Alert, journal.Noticed:
		text := ""
		if mo.Notice != nil {
			text = mo.Notice.Text()
		} else {
			text = tagged(mo.Message)
		}
		add(i.Channels.Alerts, bridge.Alert, text)
	case journal.Dead:
		add(i.Channels.Errors, bridge.GivenUp)
	case journal.Permission:
		add(i.ProjectOf(mo.Agent), bridge.Said, "[PERMISSION] "+strings.TrimSpace(string(mo.Message.Body)))
	}
	return shown
}

// resultsIn returns the channel with the result of a person's task, or "".
func resultsIn(i *config.IRC, task *dropbox.Message) string {
	if n, ok := bridge.OriginOf(task, ircbridge.Name); ok && task.From == ircbridge.Name {
		if !strings.HasPrefix(n.Channel, "#") {
			return "" // it was given privately, and so is the answer
		}
		return n.Channel
	}
	if i.Channels.Standup == "" {
		return i.ProjectOf(strings.Join(task.To, ""))
	}
	return i.Channel(i.Channels.Standup)
}

// saidIn reports whether a person on IRC said a message in that channel.
func saidIn(m *dropbox.Message, channel string) bool {
	n, ok := bridge.OriginOf(m, ircbridge.Name)
	return ok && m.From == ircbridge.Name && strings.EqualFold(n.Channel, channel)
}

// fits reports whether a rule is about an announcement. Its moment is the kind of the event,
// or the word of its notice. Its type is that of the message on
// which the turn works, or that arrived.
func fits(r config.IRCRule, mo mail.Announcement) bool {
	about := mo.Message
	if mo.Of != nil {
		about = mo.Of
	}
	word := journal.Word("")
	if mo.Notice != nil {
		word = mo.Notice.Word
	}
	return (r.Moment == "" || r.Moment == string(mo.Kind) || r.Moment == string(word)) &&
		(r.Type == "" || r.Type == string(about.Type)) &&
		(r.From == "" || r.From == mo.Message.From) &&
		(r.To == "" || r.To == mo.To)
}
