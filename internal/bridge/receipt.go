package bridge

import (
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Outcomes that a receipt can record.
const (
	outcomeSaid     = "said"
	outcomeJoined   = "joined"
	outcomeLeft     = "left"
	outcomeTopic    = "topic set"
	outcomeNotShown = "not shown" // a copy of a message that is stored elsewhere
	outcomeAnswered = "answered"
	outcomeNoAnswer = "not answered"
)

// A receipt records what happened to a message in the bridge's mailbox. It begins with
// the same fields as the receipt of a turn, so that one program can read both. The data
// about the network is stored under the bridge's name.
type receipt struct {
	V       int              `yaml:"v"`
	ID      string           `yaml:"id"`
	Agent   string           `yaml:"agent"`
	Via     string           `yaml:"via"`
	Outcome string           `yaml:"outcome"`
	Ended   time.Time        `yaml:"ended"`
	There   map[string]there `yaml:",inline"`
}

// The type there is the part of a receipt that describes the network.
type there struct {
	Server string   `yaml:"server"`
	Target string   `yaml:"target,omitempty"`
	Lines  int      `yaml:"lines,omitempty"`
	MsgIDs []string `yaml:"msgids,omitempty"`
	Again  bool     `yaml:"again,omitempty"` // part of the message was sent again, with a mark
	Why    string   `yaml:"why,omitempty"`
}

// settlement combines a message in a bridge's mailbox with its receipt.
func settlement(e dropbox.Entry, bridge, outcome string, t there) dropbox.Settlement {
	data, err := yaml.Marshal(receipt{
		V: 1, ID: e.ID, Agent: bridge, Via: "mailbox", Outcome: outcome, Ended: time.Now().UTC(), There: map[string]there{bridge: t},
	})
	if err != nil {
		panic(err) // cannot happen: the fields are strings, numbers and a time
	}
	return dropbox.Settlement{Entry: e, Receipt: data}
}

// Some of the bridge's own reasons for a refusal begin with these words. The words show
// whether a retry would help, even after a crash, when only the reason is known.
const (
	tooLate   = "it expired before it could be posted"
	hungUpOn  = "the server hung up"   // caused by the text
	endedOn   = "the connection ended" // because of an internal error that the text caused
	notJoined = "cannot join: "
)

// blamesText reports whether the reason for a refusal is that the text of the message ended
// the connection.
func blamesText(reason string) bool {
	return strings.HasPrefix(reason, hungUpOn) || strings.HasPrefix(reason, endedOn)
}

// staysIn is the reason for not leaving a channel.
const staysIn = "is a configured channel, and the bridge stays there"
