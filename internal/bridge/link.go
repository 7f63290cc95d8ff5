package bridge

import (
	"context"
	"time"
)

// Names interprets names and text in the same way as a network.
type Names interface {
	// Fold returns the form of a name to use as a map key. The form is as long as the
	// name.
	Fold(name string) string
	// Same reports whether two names mean the same person or channel.
	Same(a, b string) bool
	// FindMention returns the byte offsets of the place where a text first addresses a
	// name; start is -1 if the text does not address it. The range includes the
	// punctuation around the name.
	FindMention(text, name string) (start, end int)
	// Plain makes any text safe to send: it replaces everything that the network would read
	// as a command or a format.
	Plain(text string) string
	// IsChannel reports whether a target is a channel, and not a person.
	IsChannel(target string) bool
}

// A Link carries messages to one network and back, and keeps the connection up. Only the
// goroutine of the bridge calls it, and none of its methods blocks: slow work runs in
// parallel, through [Host.Do]. It handles channels and people, but not mailboxes.
type Link interface {
	Names

	// Open begins to connect. When the context stop is done, the link starts nothing new.
	// When kill is done, it ends its connections. joined lists channels to join in
	// addition to those in the link's configuration. Open fails only if the configuration
	// is wrong.
	Open(stop, kill context.Context, h Host, joined []string) error
	// Sweep does the periodic work.
	Sweep(now time.Time)
	// Stop ends the attempts to get into channels: the bridge is about to end.
	Stop()
	// Describe fills in the part of the state that is about the network.
	Describe(s *State)

	// Usable reports whether the link can send now.
	Usable() bool
	// Connection returns the number of connections so far, and the time when the last one
	// began.
	Connection() (n int, since time.Time)
	// Sound reports whether the connection has proved reliable. Until then the bridge sends
	// no message that may make the network hang up.
	Sound() bool
	// LookAgain returns how long the bridge should wait before it checks again whether a
	// waiting message may be sent, even if no event occurs in the meantime; 0 means that
	// only an event can change this. suspects tells the link that the network may hang up
	// on some of the waiting messages.
	LookAgain(suspects bool) time.Duration

	// Self returns the bridge's current name on the network.
	Self() string
	// Selves returns the names by which people address the bridge.
	Selves() []string
	// Ours reports whether a name is, or was, one of ours.
	Ours(name string) bool
	// Called returns the names of an agent on the network, besides its mailbox's name.
	Called(agent string) []string
	// NowCalled returns the current name of the person who used to have the given name.
	NowCalled(name string) string
	// Network returns the network's name, as used in message keys.
	Network() string
	// Server returns the server's address, as written in receipts.
	Server() string
	// Vouched returns the server's address for [Permit.Check], or "" if the address does
	// not show who can reach the server.
	Vouched() string

	// Say sends a message, or the part of it that has not been sent yet, and reports its
	// fate with [Host.Landed].
	Say(s *Saying)
	// Tell sends a few lines to people immediately, and never retries. answers is the id
	// of the text that the lines answer, or "" if they answer no text.
	Tell(target, text, answers string) Told
	// Fit cuts a text into lines that fit in an answer to a person, whether the answer
	// goes to target or to the person privately.
	Fit(text, target, person string) []string

	// Remedy returns what would resolve a refusal with the given reason. It must also
	// work after a crash, when only the reason is known.
	Remedy(reason string) Remedy

	// Rooms returns the link's methods for channels.
	Rooms() Rooms
}

// Rooms are the methods of a [Link] for channels.
type Rooms interface {
	// CannotBe returns the reason why no channel can have the given name, or "" if a
	// channel can.
	CannotBe(name string) string
	// Channel returns the state of a channel; ok is false if the link does not know the
	// channel.
	Channel(name string) (c ChannelState, ok bool)
	// Joined returns the channels that the link wants to be in.
	Joined() []ChannelState
	// MaySay reports whether a message for a channel may be sent now, and makes the link
	// join the channel if necessary. begun reports whether part of the message may have
	// been sent before.
	MaySay(channel string, begun bool) bool
	// Shut returns the reason why the link cannot speak in a channel for now, or "" if it
	// can or if that is not known yet.
	Shut(channel string) string
	// Join joins a channel, and calls then() with the outcome as soon as the outcome is
	// known. If now is true, a channel that shut us out is retried at once.
	Join(name string, now bool, then func(Entry))
	// Leave leaves a channel for good.
	Leave(name string)
	// SetTopic sets the topic of a channel to one line of text. It calls then() with nil
	// on success, a [*RefusedError], an [*ImpossibleError], or another error if the
	// connection has ended.
	SetTopic(channel, text string, then func(error))
}

// A Host is the bridge as a [Link] sees it. Only the goroutine of the bridge calls its
// methods, except Event, Do and Later.
type Host interface {
	// Event passes f to the goroutine of the bridge, which runs events in the order in
	// which they arrive. It blocks until the bridge accepts f; ok is false if the bridge
	// is ending and accepts no more events.
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
	// Changed marks the state as changed, so that it is written.
	Changed()
	// LookAgain tells the bridge that a waiting message may be sent now.
	LookAgain()
	// Noted stores the channels that people asked for, so that the next bridge joins them
	// too.
	Noted(channels []string)
	// Trouble records an error that a person should see.
	Trouble(what string, err error)
	// Mask removes secrets from a text.
	Mask(text string) string

	// Keep puts a line into the buffer of its channel.
	Keep(l Line)
	// Kept returns what the buffer of a channel contains about one of our messages; ok is
	// false if there is no buffer.
	Kept(channel, id string) (k Kept, ok bool)
	// HasSaid reports whether the buffer of a channel contains one of our lines under that
	// id.
	HasSaid(channel, msgid string) bool

	// Agents returns the current names of the agents.
	Agents() []string
	// MayControl reports whether a person may control the bridge.
	MayControl(p Person) bool
	// Stopping reports whether the bridge is about to end.
	Stopping() bool
}

// A Text is one message on the network.
type Text struct {
	Time    time.Time // the server's time, or ours if it sends none
	Target  string    // the channel; our name in a private message
	Source  string    // the sender, as the network writes it
	Nick    string
	Account string // as the server reports it; "" means not logged in
	MsgID   string // "" if the server gives none
	Body    string // without formatting

	Who Person // the speaker, as the network identifies them
	Via string // the agent whose connection heard it; "" means the bridge's own

	Private bool
	Notice  bool // never to be answered
	Emote   bool
	Own     bool // under our own name, but not sent by this connection
	Bot     bool // the sender declares that it is a bot
	Relayed bool // sent through a relay, so the name proves nothing
	History bool // from the server's history: it is never obeyed
}

// Peer returns the target for an answer: the channel, or the other side of a private
// conversation.
func (t Text) Peer() string {
	if t.Private && !t.Own {
		return t.Nick
	}
	return t.Target
}

// A Priority decides which of several waiting messages goes first.
type Priority int

// Alerts go first, then answers to people, then the words of agents.
const (
	Output Priority = iota
	Answer
	Urgent
)

// A Saying is a message for a [Link] to send.
type Saying struct {
	ID       string // of the message
	Speaker  string // the mailbox of the speaker
	Agent    bool   // the speaker is an agent, which may speak under its own name
	Name     string // the name of the speaker for people
	Target   string // a channel or a person
	Text     string // the whole text, without secrets
	ReadID   string // the id with which people can read the rest
	Answers  string // the server's id of the text that it answers; "" if it answers no text
	Priority Priority
	Copy     bool      // it shows a copy of a message that is stored elsewhere
	Begun    int       // how many attempts to send it have begun, including this one
	Created  time.Time // when it was put into the mailbox
}

// Line returns the buffer's line for a piece of the saying. upto is how many bytes of the
// saying's text have been sent, including this piece.
func (s *Saying) Line(at time.Time, text, msgid string, upto int) Line {
	return Line{At: at, Channel: s.Target, Nick: s.Speaker, Text: text, MsgID: msgid, Own: s.Copy, Drop: s.ID, Upto: upto}
}

// A Fate is the outcome of a [Saying].
type Fate int

// The fates.
const (
	Arrived    Fate = iota // all of it was sent, and that is proven
	NeverAgain             // it cannot be sent; Landing.Why is the reason
	Put                    // none of it was sent, so it is waiting again
	PutInPart              // part of it may have been sent, so it is waiting again
	HungUpOn               // likewise, and the other side may have hung up because of it
)

// A Landing is the outcome of an attempt to send a [Saying].
type Landing struct {
	Fate   Fate
	Why    string // for NeverAgain: the reason
	HungUp Hangup // for HungUpOn
	Shown  Shown
}

// A Hangup describes how the other side ended the connection.
type Hangup struct {
	Spoken bool // it announced that it would hang up, for a reason other than a shutdown
	Err    error
}

// Shown is how much of a message people saw, for its receipt.
type Shown struct {
	Lines  int
	MsgIDs []string
	Again  bool // part of it was sent again, with a mark
}

// Kept contains what the buffer of a channel shows about one of our messages.
type Kept struct {
	Upto   int       // how many bytes were sent
	MsgIDs []string  // of its lines
	Spoke  time.Time // when we last sent a line there
}

// Told tracks lines that the bridge sent to people.
type Told interface {
	// Done returns a channel that is closed once the lines have been sent, or can no
	// longer be sent.
	Done() <-chan struct{}
	// MsgID returns the server's id of the last line, once Done is closed, or "" if the
	// server sends no ids.
	MsgID() string
}

// A ChannelState is the state of a channel.
type ChannelState struct {
	Name   string
	Fixed  bool // named in the configuration: the link never leaves it
	Wanted bool // the link wants to be in it
	In     bool // the link is in it
	Topic  string
}

// An Entry is the outcome of joining a channel.
type Entry struct {
	In      bool   // the link is in
	Dropped bool   // the connection or the bridge has ended, so the outcome is unknown
	Why     string // why the link is not in the channel
	Advice  string // for people: why the link is not in, and what to do about it
	Name    string // of the channel, as the link writes it
}

// A RefusedError is a refusal by the network.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// An ImpossibleError is an error that no retry can fix.
type ImpossibleError struct{ Err error }

func (e *ImpossibleError) Error() string { return e.Err.Error() }
func (e *ImpossibleError) Unwrap() error { return e.Err }

// A Remedy is what would resolve a refusal.
type Remedy int

// The remedies. A [Link] derives them from a reason.
const (
	AnyRemedy          Remedy = iota // the reason already says what to do
	OtherWords                       // this text can never be sent
	OtherChannel                     // there can be no such channel
	TheirComing                      // the person is not on the network
	FewerChannels                    // the bridge is in too many channels
	BeingOperator                    // the bridge is not a channel operator
	BeingLetIn                       // the channel does not let the bridge in
	BeingThere                       // the bridge is not in the channel
	BeingAllowedToTalk               // the bridge may not speak there
)
