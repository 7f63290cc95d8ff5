package main

import (
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
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// An ircAnnouncer selects the channels that show the swarm's announcements. It is safe
// for concurrent use, because set can replace the configuration while other methods run.
type ircAnnouncer struct {
	section atomic.Pointer[config.IRC]
	// silent is set in a daemon that was started with --no-irc. It hears the events without
	// showing them, so that nobody shows them later.
	silent bool
}

func newIRCAnnouncer(i config.IRC) *ircAnnouncer {
	m := &ircAnnouncer{}
	m.set(i)
	return m
}

func (m *ircAnnouncer) set(i config.IRC) { m.section.Store(&i) }

// A shownLine is the line that one channel shows for an announcement.
type shownLine struct {
	channel string
	how     bridge.Announcement
	text    string // replaces the text of the message, unless it is ""
}

// Bridge implements [notice.Announcer].
func (*ircAnnouncer) Bridge() string { return ircbridge.Name }

// On implements [notice.Announcer].
func (m *ircAnnouncer) On() bool { return m.silent || m.section.Load().On() }

// Copies implements [notice.Announcer].
func (m *ircAnnouncer) Copies(mo notice.Announcement) []notice.Copy {
	i := m.section.Load()
	if !i.On() {
		return nil
	}
	if len(mo.Talk) > 0 {
		return talkCopies(i, mo)
	}
	var copies []notice.Copy
	add := func(what string, n bridge.Origin) {
		copies = append(copies, notice.Copy{Where: what + n.Channel, Extra: n.Extra(ircbridge.Name)})
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
		add("", bridge.Origin{Channel: s.channel, About: mo.About, To: shownTo(mo, s), Announces: s.how, Calls: s.how == bridge.Alert && callsPeople(mo)})
		copies[len(copies)-1].Text = s.text
	}
	return copies
}

// talkCopies returns the copies for the people who talk to the agent, one for each person.
func talkCopies(i *config.IRC, mo notice.Announcement) (copies []notice.Copy) {
	told := map[string]bool{}
	for _, line := range mo.Talk {
		o, ok := bridge.OriginOf(line, ircbridge.Name)
		if !ok || o.Nick == "" || told[o.Nick] {
			continue
		}
		told[o.Nick] = true
		text := noticeLine(i, mo)
		if o.Channel != o.Nick {
			text = o.Nick + ": " + text
		}
		copies = append(copies, notice.Copy{
			Where: "talk " + o.Channel + " " + o.Nick, Text: text,
			Extra: bridge.Origin{Channel: o.Channel, About: mo.About, To: mo.Agent, Announces: bridge.Alert}.Extra(ircbridge.Name),
		})
	}
	return copies
}

// gist shortens a message to one line. For a message from IRC, it omits the channel, the
// speaker and the addressee, because the channel already shows them.
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

// tagged returns the text of an alert with a tag in brackets before it. The alert's key
// determines the tag.
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

// first reports whether a message is a task that started its conversation.
func first(m *dropbox.Message) bool {
	return m != nil && m.Type == dropbox.Task && (m.Thread == m.ID || m.Thread == "")
}

// workChannel returns the work channel of the task that an announcement is about, or "" if the
// task has no such channel. The bridge leaves that channel when the conversation has no open
// tasks or questions.
func workChannel(i *config.IRC, mo notice.Announcement) string {
	if !i.WorkChannels || i.Channels.Work == "" || mo.Message.Thread == "" || howShown(mo) == bridge.Alert || mo.Of == nil && mo.Message.From == dropbox.Swarm {
		return ""
	}
	if mo.Of != nil && mo.Of.ID == mo.Message.Thread && mo.Of.Type != dropbox.Task {
		return "" // the conversation did not start with a task
	}
	return bridge.Channels{Work: i.Channel(i.Channels.Work)}.WorkOf(mo.Message.Thread)
}

// shownTo returns the addressee that the line shows after the speaker, or "" for none. For
// example, if a turn begins or fails, the addressee is the agent.
func shownTo(mo notice.Announcement, s shownLine) string {
	if s.how == bridge.Said && s.text != "" {
		return "" // the line is for everyone in the channel
	}
	if s.how != bridge.Said && s.how != bridge.Ended && mo.Agent != "" {
		return mo.Agent
	}
	return mo.To
}

// howShown returns the kind of line that shows an announcement.
func howShown(mo notice.Announcement) bridge.Announcement {
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
		if mo.Notice != nil {
			return bridge.Alert
		}
		return bridge.GivenUp
	}
	return bridge.Said
}

// announced returns the lines for an announcement, with their channels. The first matching
// rule in the configuration applies. If no rule matches, the defaults apply. A rule for a
// notice's word changes only the line for that notice.
func announced(i *config.IRC, mo notice.Announcement) []shownLine {
	for _, r := range i.Map {
		if !fits(r, mo) {
			continue
		}
		var l lines
		if journal.Word(r.Moment).Known() {
			l.usual(i, mo)
			l.add(i, mo, r.Channel, bridge.Alert, noticeLine(i, mo))
			return l
		}
		text := ""
		if howShown(mo) == bridge.Alert {
			text = noticeLine(i, mo)
		}
		l.add(i, mo, r.Channel, howShown(mo), text)
		return l
	}
	var l lines
	l.usual(i, mo)
	l.notice(i, mo)
	return l
}

// lines are the lines for one announcement, at most one for each channel.
type lines []shownLine

func (l *lines) add(i *config.IRC, mo notice.Announcement, channel string, how bridge.Announcement, text string) {
	if channel = i.Channel(channel); channel == "" || mo.Of != nil && saidIn(mo.Of, channel) && how == bridge.Ended ||
		mo.Notice != nil && how == bridge.Alert && strings.EqualFold(mo.Notice.Place, channel) {
		return // no channel is set, or the bridge itself posts the answer or the question there
	}
	if !slices.ContainsFunc(*l, func(s shownLine) bool { return strings.EqualFold(s.channel, channel) }) {
		*l = append(*l, shownLine{channel, how, text})
	}
}

// usual adds all default lines except the line for the notice.
func (l *lines) usual(i *config.IRC, mo notice.Announcement) {
	work := mo.Of != nil && (mo.Of.Type == dropbox.Task || mo.Of.Type == dropbox.Handoff)
	switch mo.Kind {
	case journal.Begun:
		if work && mo.Message.From != dropbox.Swarm {
			l.add(i, mo, i.Channels.Standup, bridge.Begun, "")
		}
		if mo.Message.From == dropbox.Lead {
			l.add(i, mo, i.ProjectOf(mo.Agent), bridge.Said, "")
		}
	case journal.Result, journal.Failed:
		if work && mo.Of.From != dropbox.Swarm {
			l.add(i, mo, i.Channels.Standup, howShown(mo), "")
		}
		if mo.Task != nil && mo.Task.ID != mo.Of.ID && mo.Task.ID != mo.Of.Offer { // the task was delegated, and this message is the final text about it but not an answer to it
			l.add(i, mo, resultsIn(i, mo.Task, mo.Notice), bridge.Said, string(mo.Message.Body))
		}
	case journal.Mail:
		switch from := mo.Message.From; {
		case from == ircbridge.Name, from == dropbox.Lead:
		case from != dropbox.Swarm:
			l.add(i, mo, i.ProjectOf(from), bridge.Said, "")
		case mo.Notice == nil && !strings.HasPrefix(mo.Message.Key, swarm.StuckQuestions):
			// This is a question from the daemon to a person. The line lists the words
			// that answer the question.
			l.add(i, mo, i.Channels.Alerts, bridge.Said, "")
		}
	case journal.TaskCreated, journal.TaskCompleted:
		l.add(i, mo, i.Channels.Standup, bridge.Said, listLine(mo.Kind, mo.Message.Subject))
	case journal.Permission:
		l.add(i, mo, i.ProjectOf(mo.Agent), bridge.Said, "[PERMISSION] "+strings.TrimSpace(string(mo.Message.Body)))
	}
}

// listLine returns the line for a task on a client's own list.
func listLine(kind journal.Kind, task string) string {
	return "[TASK] " + strings.TrimPrefix(string(kind), "task_") + " " + task
}

// notice adds the default line for the notice.
func (l *lines) notice(i *config.IRC, mo notice.Announcement) {
	switch {
	case mo.Kind == journal.Dead && i.Channels.Errors != "":
		l.add(i, mo, i.Channels.Errors, howShown(mo), noticeLine(i, mo))
	case mo.Notice != nil && mo.Notice.Word == journal.Unpaused && strings.Contains(mo.Notice.By, " on IRC"):
		// No line is needed, because the bridge has already answered the person who
		// unpaused the agent.
	case mo.Notice != nil, mo.Kind == journal.Alert:
		l.add(i, mo, i.Channels.Alerts, bridge.Alert, noticeLine(i, mo))
	}
}

// callsPeople reports whether somebody has to act on an announcement, so that the alert calls
// people by name.
func callsPeople(mo notice.Announcement) bool {
	if mo.Notice != nil {
		return mo.Notice.Held || mo.Notice.Word == journal.AgentQuestion
	}
	return mo.Kind == journal.Alert && strings.HasPrefix(mo.Message.Key, "stopped:")
}

// noticeLine returns the text of the line for a notice or an alert, or "" to show the text of
// the message.
func noticeLine(i *config.IRC, mo notice.Announcement) string {
	switch {
	case mo.Notice != nil:
		text := noticeIn(i, *mo.Notice, mo.Message, mo.Of, mo.Task).Text()
		if mo.Notice.Word == journal.AgentQuestion && mo.About != "" {
			text += " To answer: reply " + mo.About + " …"
		}
		return text
	case mo.Kind == journal.Alert:
		return tagged(mo.Message)
	}
	return ""
}

// noticeOf returns the notice of an event for webhooks and the events verb. It omits the
// channel, speaker and addressee of a message from IRC, and adds the channel in which the
// result is shown.
func noticeOf(i *config.IRC, ev journal.Event) journal.Notice {
	return noticeIn(i, *ev.Notice, ev.Message.Mail(), ev.Of.Mail(), ev.Task.Mail())
}

func noticeIn(i *config.IRC, n journal.Notice, shown, of, task *dropbox.Message) journal.Notice {
	switch {
	case n.Word == journal.AgentQuestion && shown != nil && shown.Type == dropbox.Question:
		n.Why = gist(shown)
	case n.Word == journal.AgentComplete && task != nil:
		n.Task = gist(task)
		if i.On() {
			n.Results = resultsIn(i, task, &n)
		}
	case n.Task != "" && of != nil:
		n.Task = gist(of)
	}
	return n
}

// resultsIn returns the channel that shows the result of a task, or "" if no channel
// shows it. n is the notice about the end of the task, or nil.
func resultsIn(i *config.IRC, task *dropbox.Message, n *journal.Notice) string {
	if n, ok := bridge.OriginOf(task, ircbridge.Name); ok && task.From == ircbridge.Name {
		if !strings.HasPrefix(n.Channel, "#") {
			return "" // the task was given in a private message, so the answer is private too
		}
		return n.Channel
	}
	agent := strings.Join(task.To, "")
	if n != nil && n.Word == journal.AgentComplete {
		agent = n.Agent // of published work, the agent that did it
	}
	return i.Channel(i.ProjectOf(agent)) // where an agent's mail to the lead is shown
}

// saidIn reports whether the message was written by a person on IRC in the given channel.
func saidIn(m *dropbox.Message, channel string) bool {
	n, ok := bridge.OriginOf(m, ircbridge.Name)
	return ok && m.From == ircbridge.Name && strings.EqualFold(n.Channel, channel)
}

// fits reports whether a rule matches an announcement. It compares the rule's moment with the
// kind of the event and with the word of its notice. It compares the rule's type with the
// type of the message that the turn is working on or, outside a turn, of the message that
// arrived.
func fits(r config.IRCRule, mo notice.Announcement) bool {
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
