package bridge

import (
	"context"
	"time"
)

// Names interprets names and text by the rules of a network.
type Names interface {
	// Fold returns the normalized form of a name, for use as a map key. The normalized
	// form is as long as the name.
	Fold(name string) string
	// Same reports whether two names denote the same person or channel.
	Same(a, b string) bool
	// FindMention returns the byte range in which text first addresses name; start is -1
	// if it does not address name. The range includes the punctuation around name.
	FindMention(text, name string) (start, end int)
	// Plain makes any text safe to send. It replaces everything that the network would
	// interpret as a command or as formatting.
	Plain(text string) string
	// IsChannel reports whether a target is a channel rather than a person.
	IsChannel(target string) bool
}

// A Link carries messages to and from one network, and keeps the connection up. Only the
// bridge's goroutine calls it. None of its methods blocks, because slow work runs in
// parallel, through [Host.Do]. It handles channels and people, but not mailboxes.
type Link interface {
	Names

	// Open starts connecting. When stop is done, the link starts no new work. When kill
	// is done, it ends its connections. joined lists channels to join in addition to
	// those in the link's configuration. Open fails only if the configuration is wrong.
	Open(stop, kill context.Context, h Host, joined []string) error
	// Sweep does the link's periodic work.
	Sweep(now time.Time)
	// Stop ends the attempts to join channels, because the bridge is about to stop.
	Stop()
	// Describe fills in the part of the state that describes the network.
	Describe(s *State)

	// Usable reports whether the link can send now.
	Usable() bool
	// Connection returns the number of connections so far, and the time when the last one
	// began.
	Connection() (n int, since time.Time)
	// Sound reports whether the connection has proved reliable. Until then the bridge sends
	// no message that might make the network hang up.
	Sound() bool
	// LookAgain returns how long the bridge should wait, without an event, before it
	// checks again whether a waiting message may be sent; 0 means that it need not check
	// before the next event. suspects reports whether some of the waiting messages might
	// make the network hang up.
	LookAgain(suspects bool) time.Duration

	// Self returns the bridge's current name on the network.
	Self() string
	// Selves returns the names by which people address the bridge.
	Selves() []string
	// Ours reports whether a name is, or was, one of ours.
	Ours(name string) bool
	// Called returns the names of an agent on the network, other than the name of its
	// mailbox.
	Called(agent string) []string
	// NowCalled returns the current name of the person who used to have the given name.
	NowCalled(name string) string
	// Network returns the network's name, as used in message keys.
	Network() string
	// Server returns the server's address, as written in receipts.
	Server() string
	// Vouched returns the server's address for [Permit.Check], or "" if the address does
	// not reveal who can reach the server.
	Vouched() string

	// Say sends a message, or the part of it that has not been sent yet, and reports its
	// fate with [Host.Landed].
	Say(s *Saying)
	// Tell sends a few lines to people immediately, and never retries. answers is the id
	// of the message that the lines answer, or "" if they do not answer a message.
	Tell(target, text, answers string) Told
	// Fit cuts text into lines that fit in an answer to a person, whether the answer goes
	// to target or to the person privately.
	Fit(text, target, person string) []string

	// Remedy returns the remedy for a refusal with the given reason. It must also work
	// after a crash, when only the reason is known.
	Remedy(reason string) Remedy

	// Rooms returns the link's methods for channels.
	Rooms() Rooms
}

// Rooms are the methods of a [Link] for channels.
type Rooms interface {
	// CannotBe returns the reason why no channel can have the given name, or "" if the
	// name is valid.
	CannotBe(name string) string
	// Channel returns the state of a channel; ok is false if the link does not know the
	// channel.
	Channel(name string) (c ChannelState, ok bool)
	// Joined returns the channels that the link is supposed to be in.
	Joined() []ChannelState
	// MaySay reports whether a message for a channel may be sent now, and makes the link
	// join the channel if necessary. begun reports whether part of the message may have
	// been sent before.
	MaySay(channel string, begun bool) bool
	// Shut returns the reason why the link currently cannot speak in a channel, or "" if
	// it can or if this is not known yet.
	Shut(channel string) string
	// Join joins a channel, and calls then() as soon as the outcome is known. If now is
	// true, Join retries immediately even if the channel refused an earlier attempt.
	Join(name string, now bool, then func(Entry))
	// Leave leaves a channel for good.
	Leave(name string)
	// SetTopic sets the topic of a channel to one line of text. It calls then() with nil
	// on success, and otherwise with a [*RefusedError] or an [*ImpossibleError], or with
	// another error if the connection has ended.
	SetTopic(channel, text string, then func(error))
}

// A Host is the interface through which a [Link] uses the bridge. Only the bridge's
// goroutine calls its methods, except Event, Do and Later.
type Host interface {
	// Event passes f to the bridge's goroutine, which runs events in the order in which
	// they arrive. It blocks until the bridge accepts f; ok is false if the bridge is
	// stopping and accepts no more events.
	Event(f func()) (ok bool)
	// Do runs f in parallel with the bridge. The bridge's goroutine then runs the
	// function that f returned. The bridge does not end before f has returned.
	Do(f func() func())
	// Later is like Event, but for work that was started with Do. It returns after f has
	// run.
	Later(f func())

	// Heard handles a message that arrived from the network.
	Heard(t Text)
	// Landed reports the fate of a message. waits is true if the message is waiting
	// again, and false if it is finished.
	Landed(s *Saying, l Landing) (waits bool)
	// Missed handles a span of time of which no history tells what was said in a channel. since
	// is from, or the time when the bridge first was there, if that is later. spoken is false if
	// no person has spoken there so far, so that nothing is missed.
	Missed(channel string, from, to time.Time) (since time.Time, spoken bool)
	// Changed marks the state as changed, so that it is written.
	Changed()
	// LookAgain tells the bridge that a waiting message may be sent now.
	LookAgain()
	// Noted stores the channels that people asked for, so that the bridge also joins them
	// after a restart.
	Noted(channels []string)
	// Trouble records an error that a person should see.
	Trouble(what string, err error)
	// Mask removes secrets from a string.
	Mask(text string) string

	// Keep adds a line to its channel's buffer.
	Keep(l Line)
	// Kept returns the data in a channel's buffer about one of our messages; ok is false
	// if there is no buffer.
	Kept(channel, id string) (k Kept, ok bool)
	// HasSaid reports whether a channel's buffer contains one of our lines with the given
	// id.
	HasSaid(channel, msgid string) bool

	// Agents returns the current names of the agents.
	Agents() []string
	// MayControl reports whether a person may control the bridge.
	MayControl(p Person) bool
	// Stopping reports whether the bridge is about to stop.
	Stopping() bool
}

// A Text is one message on the network.
type Text struct {
	Time    time.Time // the server's time, or our time if the server sends none
	Target  string    // the channel; our name in a private message
	Source  string    // the sender, in the network's notation
	Nick    string
	Account string // as the server reports it; "" means not logged in
	MsgID   string // "" if the server sends no id
	Body    string // without formatting

	Who Person // the speaker, as the network identifies them
	Via string // the agent whose connection received it; "" means the bridge's own connection

	Private bool
	Notice  bool // a notice, which must never be answered
	Emote   bool
	Own     bool // sent under our own name, but not by this connection
	Bot     bool // the sender declares that it is a bot
	Relayed bool // sent through a relay, so the name is not proof of identity
	History bool // from the server's history
}

// Peer returns the target for an answer: the channel, or the other party in a private
// conversation.
func (t Text) Peer() string {
	if t.Private && !t.Own {
		return t.Nick
	}
	return t.Target
}

// A Priority decides which of several waiting messages is sent first.
type Priority int

// Alerts are sent first, then answers to people, then agents' messages.
const (
	Output Priority = iota
	Answer
	Urgent
)

// A Saying is a message for a [Link] to send.
type Saying struct {
	ID       string // the message's id
	Speaker  string // the speaker's mailbox
	Agent    bool   // the speaker is an agent, which may speak under its own name
	Name     string // the speaker's name as shown to people
	Target   string // a channel or a person
	Text     string // the whole text, without secrets
	ReadID   string // the id with which people can read the whole message
	Answers  string // the server's id of the message that it answers; "" if it answers no message
	Priority Priority
	Copy     bool      // it is a copy of a message that is stored elsewhere
	Begun    int       // how many attempts to send it have begun, including this one
	Created  time.Time // when it was delivered to the mailbox
}

// Line converts a piece of the saying to a line for the buffer. upto is how many bytes
// from the start of the saying's text are known to have arrived.
func (s *Saying) Line(at time.Time, text, msgid string, upto int) Line {
	return Line{At: at, Channel: s.Target, Nick: s.Speaker, Text: text, MsgID: msgid, Own: s.Copy, Drop: s.ID, Upto: upto}
}

// A Fate is the outcome of a [Saying].
type Fate int

// The fates.
const (
	Arrived    Fate = iota // all of it is known to have been sent
	NeverAgain             // it cannot be sent; Landing.Why is the reason
	Put                    // none of it was sent, so it is waiting again
	PutInPart              // part of it may have been sent, so it is waiting again
	HungUpOn               // like PutInPart, but the connection may have ended because of the message
)

// A Landing is the outcome of an attempt to send a [Saying].
type Landing struct {
	Fate   Fate
	Why    string // for NeverAgain: the reason
	HungUp Hangup // for HungUpOn
	Shown  Shown
}

// A Hangup describes how a connection ended.
type Hangup struct {
	Spoken bool // the other side announced that it would hang up, for a reason other than a shutdown
	Ours   bool // it ended because of an internal error of the link
	Err    error
}

// Shown describes how much of a message people saw, for the receipt.
type Shown struct {
	Lines  int
	MsgIDs []string
	Again  bool // part of it was sent again, with a mark
}

// Kept contains the data in a channel's buffer about one of our messages.
type Kept struct {
	Upto   int       // how many bytes from its start are known to have arrived
	MsgIDs []string  // the ids of its lines
	Spoke  time.Time // when we last sent a line there
}

// Told tracks lines that the bridge sent to people.
type Told interface {
	// Done returns a channel that is closed once the lines have been sent, or can no
	// longer be sent.
	Done() <-chan struct{}
	// MsgID returns the server's id of the last line, or "" if the server sends no ids.
	// It is valid once the channel from Done is closed.
	MsgID() string
}

// A ChannelState is the state of a channel.
type ChannelState struct {
	Name   string
	Fixed  bool // named in the configuration, so the link never leaves it
	Wanted bool // the link is supposed to be in it
	In     bool // the link is in it
	Topic  string
}

// An Entry is the outcome of joining a channel.
type Entry struct {
	In      bool   // the link is in the channel
	Dropped bool   // the connection or the bridge has ended, so the outcome is unknown
	Why     string // why the link is not in the channel
	Advice  string // for people: why the link is not in the channel, and what to do about it
	Name    string // the channel's name, as the link writes it
}

// A RefusedError is a refusal by the network.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// An ImpossibleError is an error that no retry can fix.
type ImpossibleError struct{ Err error }

func (e *ImpossibleError) Error() string { return e.Err.Error() }
func (e *ImpossibleError) Unwrap() error { return e.Err }

// A Remedy is the change that would resolve a refusal.
type Remedy int

// The remedies. A [Link] derives a remedy from a reason.
const (
	AnyRemedy          Remedy = iota // the reason itself shows what to fix
	OtherWords                       // this text can never be sent
	OtherChannel                     // no such channel can exist
	TheirComing                      // the person is not on the network
	FewerChannels                    // the bridge is in too many channels
	BeingOperator                    // the bridge is not a channel operator
	BeingLetIn                       // the channel does not let the bridge in
	BeingThere                       // the bridge is not in the channel
	BeingAllowedToTalk               // the bridge may not speak there
)
