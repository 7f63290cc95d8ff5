package irc

import (
	"context"
	"time"
)

// An Event is an event from a [Client]: [Up], [Down], [Joined], [Left], [Renamed],
// [TopicChanged], [ModesChanged], [Text], [Invited], [CaughtUp], [Gap] or [Failed].
type Event interface{ event() }

// Up reports that a connection is registered. A message that failed with [ErrNotSent] can
// now be sent again. A message that failed with [ErrUnproven] may be in the history, which
// is known after [CaughtUp].
type Up struct{ State State }

// Down reports that there is no connection, because the last one has ended or an attempt
// to connect has failed.
type Down struct {
	Err   error
	Retry time.Duration // the time until the next attempt; 0 if there will be no further attempt
	Was   bool          // a connection has ended; false after a failed attempt
}

// Joined reports that a nick has joined a channel. Own reports whether it is this
// client's nick.
type Joined struct {
	Channel, Nick, Account string
	Own                    bool
}

// Left reports that a nick has left a channel by PART or KICK, or has left the server. In
// the latter case, Channel is "". Own reports whether it is this client's nick; the
// client then rejoins the channel if it can.
type Left struct {
	Channel, Nick, Reason string
	By                    string // the nick that sent the KICK; "" if there was no KICK
	Own                   bool
}

// Renamed reports that a nick has changed.
type Renamed struct {
	From, To string
	Own      bool
}

// TopicChanged reports that a nick has set the topic of a channel.
type TopicChanged struct{ Channel, Nick, Topic string }

// ModesChanged reports that a nick has changed the modes of a channel, or the rank of a
// member.
type ModesChanged struct{ Channel, Nick string }

// A Text is a channel message or a private message.
type Text struct {
	Time    time.Time // the server's time, or this machine's if the server sends none
	Target  string    // the channel; this client's nick in a private message
	Source  string    // nick!user@host
	Nick    string
	Account string            // the account as confirmed by the server; "" without a login
	MsgID   string            // "" if the server sends no id
	Body    string            // without formatting codes; several lines after a multiline batch
	Tags    map[string]string // as received

	Private bool
	Notice  bool // a notice, which must never be answered
	Emote   bool
	Own     bool // under this client's nick, but not sent by this connection
	Bot     bool // the sender declares that it is a bot
	Relayed bool // sent by RELAYMSG, so the nick and host are not proof of identity
	History bool // an old message from the history, which is never a command
}

// Peer returns the target for an answer: the channel, or the other party in a private
// conversation.
func (t Text) Peer() string {
	if t.Private && !t.Own {
		return t.Nick
	}
	return t.Target
}

// Mark returns the message's position in the history of its [Text.Peer].
func (t Text) Mark() Mark {
	m := Mark{ID: t.MsgID, Time: t.Time}
	if m.ID == "" {
		m.Sum = Sum(t.Nick, PlainText(t.Body))
	}
	return m
}

// CaughtUp reports that the client has emitted the messages of Target that it had missed.
// It follows each [Joined] of this client. After each [Up], there is also a CaughtUp for
// every nick that wrote privately, and then one with Target "" for all private messages.
type CaughtUp struct{ Target string }

// Gap reports that the messages of Target between two times are unknown.
type Gap struct {
	Target   string // "" means private messages from nicks that the server does not list
	From, To time.Time
	Err      error // why the history could not be fetched; nil if the server has no history, or no longer has the messages
}

// Failed reports that a channel has refused this client several times, and is emitted
// again for each later refusal. The client retries after Retry, immediately after
// [Client.Join], or on the next connection.
type Failed struct {
	Channel string
	Err     error
	Retry   time.Duration
}

// Invited reports that a nick has invited this client to a channel. The client does not
// act on the invitation.
type Invited struct {
	Channel, Nick string
	Source        string // nick!user@host
	Account       string // the account as confirmed by the server; "" without a login
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

// maxEvents is the maximum number of events that can wait for a receiver. At this limit,
// the client stops reading from the connection, and the server must wait.
const maxEvents = 1024

// events is a client's event stream.
type events chan Event

// emit sends an event, and blocks until there is room for it.
func (q events) emit(ctx context.Context, e Event) {
	select {
	case q <- e:
	case <-ctx.Done():
	}
}
