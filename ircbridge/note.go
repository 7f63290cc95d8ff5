package ircbridge

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A Note is what a message says of IRC, in the key "irc" of its front matter, in
// one line:
//
//	irc: {channel: "#project-x", about: k7f3q9m2xd, moment: begun}
//
// In a message to irc/ it says where and how the text is to be shown; without one
// it is said in the project's channel. In a message from irc/ it says where the
// text was said, and by whom.
type Note struct {
	Do      Do     `yaml:"do,omitempty"`      // a request to the bridge; "" says the text
	Channel string `yaml:"channel,omitempty"` // or the nick of a person, who is told privately
	About   string `yaml:"about,omitempty"`   // id of the message that this shows a copy of
	To      string `yaml:"to,omitempty"`      // whose mailbox that message lies in
	Moment  Moment `yaml:"moment,omitempty"`  // what happened to it
	Nick    string `yaml:"nick,omitempty"`    // who said it
	Account string `yaml:"account,omitempty"` // the account that the server vouches for; "" is none
	MsgID   string `yaml:"msgid,omitempty"`   // the server's id of the line
}

// Do is a request to the bridge itself.
type Do string

// What may be asked for. The body of a message that sets a topic is the topic; that of
// the others is not looked at.
const (
	DoJoin  Do = "join"
	DoPart  Do = "part"
	DoTopic Do = "topic"
)

// A Moment says what happened to the message that a copy is about, and so how it is
// shown.
type Moment string

// The moments. In the lines below, FIRST is the first line of the text.
const (
	Said   Moment = ""       // it was sent: [from] text; with To: [from] to coder: text
	Begun  Moment = "begun"  // its turn began: [to] begins: FIRST (from lead, swarm: read ID)
	Ended  Moment = "ended"  // its turn ended well: [from] done: FIRST (swarm: read ID)
	Failed Moment = "failed" // its turn failed: [to] failed: FIRST (swarm: read ID)
	Alert  Moment = "alert"  // somebody should look: [from] text
	Buried Moment = "dead"   // it was given up: [to] gave up ID: FIRST
)

// noteKey is the key of the front matter.
const noteKey = "irc"

// NoteOf reads what a message says of IRC. ok is false when it says nothing that can
// be read.
func NoteOf(m *dropbox.Message) (n Note, ok bool) {
	if m == nil || !strings.Contains(m.Extra, noteKey+":") {
		return Note{}, false
	}
	var front struct {
		IRC *Note `yaml:"irc"`
	}
	if err := yaml.Unmarshal([]byte(m.Extra), &front); err != nil || front.IRC == nil {
		return Note{}, false
	}
	return *front.IRC, true
}

// Extra is the note as a line of front matter, for [dropbox.Message.Extra].
func (n Note) Extra() string {
	front := struct {
		IRC Note `yaml:"irc,flow"`
	}{n.printable()}
	var node yaml.Node
	err := node.Encode(front)
	quoteMerge(&node)
	line, marshalErr := yaml.Marshal(&node)
	if err = errors.Join(err, marshalErr); err != nil {
		panic(fmt.Sprintf("ircbridge: a note that is not YAML: %v", err)) // strings alone always are
	}
	return string(line)
}

// quoteMerge puts quotes around the one text that the encoder takes for a sign of YAML
// and leaves bare.
func quoteMerge(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Value == "<<" {
		n.Tag, n.Style = "!!str", yaml.DoubleQuotedStyle
	}
	for _, child := range n.Content {
		quoteMerge(child)
	}
}

// printable is the note without what front matter cannot hold: a server may send any
// bytes for a nick.
func (n Note) printable() Note {
	for _, s := range []*string{(*string)(&n.Do), &n.Channel, &n.About, &n.To, (*string)(&n.Moment), &n.Nick, &n.Account, &n.MsgID} {
		*s = strings.Map(func(r rune) rune {
			if r < ' ' || 0x7f <= r && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff {
				return '\uFFFD'
			}
			return r
		}, strings.ToValidUTF8(*s, "\uFFFD"))
	}
	return n
}
