package bridge

import (
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A destination describes where to send a message, to whom, and how urgent it is.
type destination struct {
	request   Do
	target    string // a channel or a nick
	person    string // the person addressed in a channel; "" means everybody
	priority  Priority
	announces Announcement
	passing   bool // nobody is waiting for it; see passing below
	copied    bool // it is a copy of a message that is stored elsewhere
	alone     bool // the text is for a person, so the target is not a channel
	about     conversation
	answers   string // the server's id of the line that the message answers; "" if it is unknown
}

// private reports whether the message is a private reply to the person whose line it
// answers.
func (p destination) private() bool { return p.target == p.person }

// destinationOf decides where a message goes. n is the message's own origin. origin is
// the origin of the message that m answers, or zero if that message did not come from the
// network. bridge is the bridge's name.
func destinationOf(m *dropbox.Message, n, origin Origin, c Channels, bridge string) destination {
	p := destination{request: n.Do, target: n.Channel, announces: n.Announces, about: conversationOf(m), passing: passing(m, n, bridge), copied: n.About != "" && n.Do == ""}
	switch {
	case p.target != "":
	case origin.Channel != "":
		p.target, p.person, p.answers = origin.Channel, origin.Nick, origin.MsgID
	default:
		p.target = c.homeOf(m.From)
	}
	switch {
	case n.Announces == Alert || c.Alerts != "" && strings.EqualFold(p.target, c.Alerts):
		p.priority = Urgent
	case p.person != "" || m.Type == dropbox.Question || n.Do != "":
		p.priority = Answer
	}
	return p
}

// passing reports whether a message is a copy that nobody is waiting for, such as a
// report that a turn began. A copy of the result of a person's task is not passing,
// because that person is waiting for the result.
func passing(m *dropbox.Message, n Origin, bridge string) bool {
	if n.About == "" || n.Do != "" || m.Priority != dropbox.Low || m.Type == dropbox.Question {
		return false
	}
	switch n.Announces {
	case Said, Begun, Failed:
		return true
	case Ended:
		return n.To != dropbox.Lead && n.To != bridge
	}
	return false
}
