package bridge

import (
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// An Origin contains a message's data for one network. In the front matter it is a single
// line, whose key is the bridge's name:
//
//	irc: {channel: "#project-x", about: k7f3q9m2xd, moment: begun}
//
// In a message to the bridge, it specifies where and how to show the text. Without an
// origin, the bridge posts the text in the project's channel. In a message from the
// bridge, it records where the text was written, and by whom.
type Origin struct {
	Do        Do           `yaml:"do,omitempty"`      // a request to the bridge; "" means that the bridge posts the text
	Channel   string       `yaml:"channel,omitempty"` // or the nick of a person, who receives the text privately
	About     string       `yaml:"about,omitempty"`   // id of the message that this one is a copy of
	To        string       `yaml:"to,omitempty"`      // the mailbox that contains that message
	Announces Announcement `yaml:"moment,omitempty"`  // the event that this message announces
	Calls     bool         `yaml:"calls,omitempty"`   // the line calls the people who should act by their nicks
	Nick      string       `yaml:"nick,omitempty"`    // the nick of the person who wrote the text
	Account   string       `yaml:"account,omitempty"` // that person's account, confirmed by the server; "" means no account
	MsgID     string       `yaml:"msgid,omitempty"`   // the server's id for the line
}

// Do is a request to the bridge itself.
type Do string

// The requests. The body of a message that sets a topic is the topic; the bridge ignores
// the body of every other request.
const (
	DoJoin  Do = "join"
	DoPart  Do = "part"
	DoTopic Do = "topic"
)

// An Announcement is the event that a copy of a message reports. It determines how the
// bridge shows the copy.
type Announcement string

// The announcements. In the lines below, FIRST is the first line of the text.
const (
	Said    Announcement = ""       // the message was sent: [from] text; with To: [from] to coder: text
	Begun   Announcement = "begun"  // its turn began: [to] begins: FIRST (from lead, swarm: read ID)
	Ended   Announcement = "ended"  // its turn succeeded: [from] done: FIRST (swarm: read ID)
	Failed  Announcement = "failed" // its turn failed: [to] failed: FIRST (swarm: read ID)
	Alert   Announcement = "alert"  // a person should look: [from] text
	GivenUp Announcement = "dead"   // the message was given up: [to] gave up "SUBJECT": FIRST
)

// OriginOf returns the origin in a message for the bridge with the given name. ok is
// false if there is no readable origin.
func OriginOf(m *dropbox.Message, bridge string) (o Origin, ok bool) {
	if m == nil || !strings.Contains(m.Extra, bridge+":") {
		return Origin{}, false
	}
	var front map[string]yaml.Node
	var read *Origin
	err := yaml.Unmarshal([]byte(m.Extra), &front)
	if node, found := front[bridge]; err == nil && found {
		err = node.Decode(&read)
	}
	if err != nil || read == nil {
		return Origin{}, false
	}
	return *read, true
}

// Extra returns the origin as a line of front matter, for [dropbox.Message.Extra].
func (o Origin) Extra(bridge string) string {
	var node, value yaml.Node
	err := value.Encode(o.printable())
	value.Style = yaml.FlowStyle
	if err == nil {
		err = node.Encode(map[string]*yaml.Node{bridge: &value})
	}
	quoteMerge(&node)
	line, marshalErr := yaml.Marshal(&node)
	if err = errors.Join(err, marshalErr); err != nil {
		panic(fmt.Sprintf("bridge: the origin is not YAML: %v", err)) // cannot happen: every field is a string
	}
	return string(line)
}

// quoteMerge puts quotes around "<<", which the encoder does not quote although it has a
// special meaning in YAML.
func quoteMerge(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Value == "<<" {
		n.Tag, n.Style = "!!str", yaml.DoubleQuotedStyle
	}
	for _, child := range n.Content {
		quoteMerge(child)
	}
}

// printable replaces characters in the origin that front matter cannot contain, because a
// server can send any bytes as a nick.
func (o Origin) printable() Origin {
	for _, s := range []*string{(*string)(&o.Do), &o.Channel, &o.About, &o.To, (*string)(&o.Announces), &o.Nick, &o.Account, &o.MsgID} {
		*s = strings.Map(func(r rune) rune {
			if r < ' ' || 0x7f <= r && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff {
				return '\uFFFD'
			}
			return r
		}, strings.ToValidUTF8(*s, "\uFFFD"))
	}
	return o
}
