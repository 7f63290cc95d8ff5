package irc

import (
	"context"
	"time"
)

// An Event is an event of a [Client]: [Up], [Down], [Joined], [Left],
// [Renamed], [TopicChanged], [ModesChanged], [Text], [Invited], [CaughtUp], [Gap] or [Failed].
type Event interface{ event() }

// Up says that a connection is registered. A text that failed with [ErrNotSent] can be sent
// again now; one that failed with [ErrUnproven] may be in the history, which is known after
// [CaughtUp].
type Up struct{ State State }

// Down says that there is no connection: the last one has ended, or an attempt to connect
// has failed.
type Down struct {
	Err   error
	Retry time.Duration // until the next attempt; 0 if there will be none
	Was   bool          // a connection has ended; false after a failed attempt
}

// Joined says that a nick has joined a channel. Own says that it is this client.
type Joined struct {
	Channel, Nick, Account string
	Own                    bool
}

// Left says that a nick has left a channel by PART or KICK, or has left the server; in
// the second case Channel is "". Own says that it is this client, which joins the channel
// again if it can.
type Left struct {
	Channel, Nick, Reason string
	By                    string // the nick that kicked; "" if nobody did
	Own                   bool
}

// Renamed says that a nick has changed.
type Renamed struct {
	From, To string
	Own      bool
}

// TopicChanged says that a nick has set the topic of a channel.
type TopicChanged struct{ Channel, Nick, Topic string }

// ModesChanged says that a nick has changed the modes of a channel, or the rank of a member.
type ModesChanged struct{ Channel, Nick string }

// A Text is a text in a channel or in private talk.
type Text struct {
	Time    time.Time // the server's time, or this machine's if the server sends none
	Target  string    // the channel; this client's nick in a private message
	Source  string    // nick!user@host
	Nick    string
	Account string            // the account that the server vouches for; "" without a login
	MsgID   string            // "" if the server gives none
	Body    string            // without formatting codes; several lines after a multiline batch
	Tags    map[string]string // as received

	Private bool
	Notice  bool // must never be answered
	Emote   bool
	Own     bool // under the nick of this client, but not sent by this connection
	Bot     bool // the sender says that it is a bot
	Relayed bool // by RELAYMSG: the nick and host prove nothing
	History bool // from the history: an old text, which is never a command
}

// Peer returns the target for an answer: the channel, or the other side of private talk.
func (t Text) Peer() string {
	if t.Private && !t.Own {
		return t.Nick
	}
	return t.Target
}

// Mark returns the text's place in the history of its [Text.Peer].
func (t Text) Mark() Mark {
	m := Mark{ID: t.MsgID, Time: t.Time}
	if m.ID == "" {
		m.Sum = Sum(t.Nick, PlainText(t.Body))
	}
	return m
}

// CaughtUp says that the texts of Target that this client has missed have been emitted.
// It comes after each [Joined] of this client. After each [Up] it also comes for every
// nick that wrote privately, and then, with Target "", for all private talk.
type CaughtUp struct{ Target string }

// Gap says that the texts of Target between two times are unknown.
type Gap struct {
	Target   string // "" means private talk with nicks that the server does not name
	From, To time.Time
	Err      error // why the history could not be fetched; nil if the server has none, or has forgotten the texts
}

// Failed says that a channel has refused this client several times, and is emitted again
// for each later refusal. The next try comes after Retry, at once after [Client.Join], or
// with the next connection.
type Failed struct {
	Channel string
	Err     error
	Retry   time.Duration
}

// Invited says that a nick has invited this client into a channel. The client does not
// act on the invitation.
type Invited struct {
	Channel, Nick string
	Source        string // nick!user@host
	Account       string // the account that the server vouches for; "" without a login
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

// maxEvents is the maximum number of events that wait for a receiver. When that many
// wait, the connection is not read, and the server must wait.
const maxEvents = 1024

// events is the stream of events of a client.
type events chan Event

// emit sends an event, and waits until there is room for it.
func (q events) emit(ctx context.Context, e Event) {
	select {
	case q <- e:
	case <-ctx.Done():
	}
}
