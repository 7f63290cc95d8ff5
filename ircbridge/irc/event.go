package irc

import (
	"context"
	"time"
)

// An Event is what a [Client] has to tell: [Up], [Down], [Joined], [Left],
// [Renamed], [TopicChanged], [ModesChanged], [Text], [Invited], [CaughtUp], [Gap] or [Failed].
type Event interface{ event() }

// Up says that a connection is registered. What failed with [ErrNotSent] can
// be sent again now; what failed with [ErrUnproven] is best looked for in the
// history after [CaughtUp].
type Up struct{ State State }

// Down says that there is no connection, because it ended or could not be made.
type Down struct {
	Err   error
	Retry time.Duration // until the next try; 0 if there will be none
	Was   bool          // there was one; false after a try that failed
}

// Joined says that somebody came into a channel. Own is ourselves.
type Joined struct {
	Channel, Nick, Account string
	Own                    bool
}

// Left says that somebody went: by PART, by KICK, or from the server, and then
// Channel is "". Own is ourselves, whom [Client] brings back if it can.
type Left struct {
	Channel, Nick, Reason string
	By                    string // who kicked; "" else
	Own                   bool
}

// Renamed says that somebody has another nick.
type Renamed struct {
	From, To string
	Own      bool
}

// TopicChanged says that somebody set the topic of a channel.
type TopicChanged struct{ Channel, Nick, Topic string }

// ModesChanged says that somebody changed the modes of a channel, or somebody's rank in it.
type ModesChanged struct{ Channel, Nick string }

// A Text is something that was said.
type Text struct {
	Time    time.Time // the server's, or ours where it has none
	Target  string    // the channel; our nick in a private message
	Source  string    // nick!user@host
	Nick    string
	Account string            // as the server vouches for; "" is nobody who is logged in
	MsgID   string            // "" where the server gives none
	Body    string            // without formatting codes; several lines after a multiline batch
	Tags    map[string]string // as received

	Private bool
	Notice  bool // never to be answered
	Emote   bool
	Own     bool // under our own nick, though not what this connection sent
	Bot     bool // the sender says that it is one
	Relayed bool // by RELAYMSG: the nick and host prove nothing
	History bool // from the history: old news, which never commands
}

// Peer is where an answer goes: the channel, or the other side of a private talk.
func (t Text) Peer() string {
	if t.Private && !t.Own {
		return t.Nick
	}
	return t.Target
}

// Mark is the place of the text in the history of its Peer.
func (t Text) Mark() Mark {
	m := Mark{ID: t.MsgID, Time: t.Time}
	if m.ID == "" {
		m.Sum = Sum(t.Nick, PlainText(t.Body))
	}
	return m
}

// CaughtUp says that everything that was said in Target while we were away has
// been told. It comes after each [Joined] of our own, and after each [Up] for
// every nick that wrote privately and then for all private talk, with Target "".
type CaughtUp struct{ Target string }

// Gap says that nobody can tell what was said in Target between two times.
type Gap struct {
	Target   string // "" is private talk of which the server does not tell
	From, To time.Time
	Err      error // why the history did not help; nil where the server has none
}

// Failed says that a channel has not let us in several times, each time that it does not.
// It is tried again after Retry, at once after [Client.Join], and by the next connection.
type Failed struct {
	Channel string
	Err     error
	Retry   time.Duration
}

// Invited says that somebody invites us into a channel. Nothing comes of it by itself.
type Invited struct {
	Channel, Nick string
	Source        string // nick!user@host
	Account       string // as the server vouches for; "" is nobody who is logged in
}

func (Up) event()           {}
func (Down) event()         {}
func (Joined) event()       {}
func (Left) event()         {}
func (Renamed) event()      {}
func (TopicChanged) event() {}
func (ModesChanged) event() {}
func (Text) event()         {}
func (CaughtUp) event()     {}
func (Gap) event()          {}
func (Failed) event()       {}
func (Invited) event()      {}

// maxEvents is how many events wait for a receiver. When they are that many, the connection is
// not read, and the server waits.
const maxEvents = 1024

// events is the stream of events of a client.
type events chan Event

// emit waits until there is room.
func (q events) emit(ctx context.Context, e Event) {
	select {
	case q <- e:
	case <-ctx.Done():
	}
}
