package bridge

import (
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A destination says where to send a message, to whom, and how urgent it is.
type destination struct {
	request   Do
	target    string // a channel or a nick
	person    string // who is addressed in a channel; "" means everybody
	priority  Priority
	announces Announcement
	passing   bool   // see the function of that name
	copied    bool   // it shows a message that is safe elsewhere
	alone     bool   // it is for a person alone, judging by the server's prefixes for channels
	answers   string // the server's id of the line that is answered there; "" if it is unknown
}

// private reports whether a destination is a person and not a channel.
func (p destination) private() bool { return p.target == p.person }

// destinationOf decides where a message goes. origin is the origin of the message that it
// answers, zero if that did not come from the network. bridge is the bridge's name.
func destinationOf(m *dropbox.Message, n, origin Origin, c Channels, bridge string) destination {
	p := destination{request: n.Do, target: n.Channel, announces: n.Announces, passing: passing(m, n, bridge), copied: n.About != "" && n.Do == ""}
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

// passing reports whether a copy only says that a turn began or ended, and no person waits
// for it. People wait for the result of a task that they gave.
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
