package bridge

import (
	"context"
	"time"
)

// Names is how a network reads names and texts.
type Names interface {
	// Fold returns the form under which a name is kept in a map. It keeps the length.
	Fold(name string) string
	// Same says whether two names are one.
	Same(a, b string) bool
	// FindMention returns where a text first speaks to a name, with the signs around it, in
	// bytes; -1 where it does not.
	FindMention(text, name string) (start, end int)
	// Plain makes any text fit to be said: what the network would take for a command or a
	// format is replaced.
	Plain(text string) string
	// IsChannel says whether a target is a channel, and not a person.
	IsChannel(target string) bool
}

// A Link carries texts to one network and back, and keeps the connection up. The goroutine
// of the bridge alone calls it, and none of its methods blocks: what takes time goes on
// beside, by [Host.Do]. It knows channels and people, and no mailbox.
type Link interface {
	Names

	// Open begins to connect. When stop is done nothing new is begun; when kill is done the
	// connections end. joined are channels to be in beside those of the link's
	// configuration. The error is one of the configuration.
	Open(stop, kill context.Context, h Host, joined []string) error
	// Sweep does what is due now and then.
	Sweep(now time.Time)
	// Stop ends what waits to get into a channel: the bridge is about to end.
	Stop()
	// Describe fills in the part of the state that is about the network.
	Describe(s *State)

	// Usable says whether something can be said now.
	Usable() bool
	// Connection counts the connections, from 1; 0 is none so far. since is when the last
	// one began.
	Connection() (n int, since time.Time)
	// Sound says whether the connection has proven good. Until then nothing is said that
	// the network may not bear.
	Sound() bool
	// LookAgain is after how long something may be said that waits, without any other
	// event; 0 is never. suspects says that some of it may not be borne.
	LookAgain(suspects bool) time.Duration

	// Self is the bridge's own name there at this moment.
	Self() string
	// Selves are names by which people speak to the bridge.
	Selves() []string
	// Ours says whether a name is, or was, one of our own.
	Ours(name string) bool
	// Called are the names of an agent there, beside its own.
	Called(agent string) []string
	// NowCalled is the name that somebody has now who had another one.
	NowCalled(name string) string
	// Network names the network, in keys of messages.
	Network() string
	// Server is the address of the server, in receipts.
	Server() string
	// Vouched is the address by which permits are judged; "" where the server's address
	// says nothing of who can reach it.
	Vouched() string

	// Say says a text, or what is left of it, and reports with [Host.Landed].
	Say(s *Saying)
	// Tell says a few lines to people at once. Nothing is tried again. answers is the id of
	// the text that they answer, "" for none.
	Tell(target, text, answers string) Told
	// Fit cuts a text into lines that fit in an answer to a person, at target or privately.
	Fit(text, target, person string) []string

	// Remedy says what would help against a reason for which something was not said. It is
	// asked also after a crash, when nothing but the reason is left.
	Remedy(reason string) Remedy

	// Rooms is what the link does about channels.
	Rooms() Rooms
}

// Rooms is what a [Link] does about channels.
type Rooms interface {
	// CannotBe says why a name cannot be a channel's; "" when it can.
	CannotBe(name string) string
	// Channel tells how things stand with a channel; ok is false for one that nobody wants
	// to be in.
	Channel(name string) (c Standing, ok bool)
	// Joined are the channels that the link wants to be in.
	Joined() []Standing
	// MaySay says whether a text for a channel may go now, and sees to it
	// that the link gets into it. begun says that a part of it may have been said before.
	MaySay(channel string, begun bool) bool
	// Shut says why nothing can be said in a channel for now; "" when it can, or when
	// nobody knows yet.
	Shut(channel string) string
	// Join gets into a channel, and calls then as soon as it is known what came of it. now
	// tries one again at once that shut us out.
	Join(name string, now bool, then func(Entry))
	// Leave leaves a channel for good.
	Leave(name string)
	// SetTopic sets the topic of a channel to one line of text. then gets nil, a
	// [*RefusedError], an [*ImpossibleError], or another error when the connection has ended.
	SetTopic(channel, text string, then func(error))
}

// A Host is the bridge as a [Link] sees it. Its methods are called by the goroutine of the
// bridge, but for Event and Do.
type Host interface {
	// Event hands in something that happened, in order. It blocks until the bridge takes
	// it; ok is false when the bridge ends and wants no more.
	Event(f func()) (ok bool)
	// Do runs f beside the bridge, which waits for it at its end; what f returns is run by
	// the goroutine of the bridge.
	Do(f func() func())
	// Later is Event for work that began with Do. It returns when f has run.
	Later(f func())

	// Heard deals with a text that somebody said.
	Heard(t Text)
	// Landed says what became of a text. It waits again, or it is done with.
	Landed(s *Saying, l Landing) (waits bool)
	// Changed says that the state is to be written.
	Changed()
	// LookAgain says that something may be said that waits.
	LookAgain()
	// Noted keeps the channels that were asked for, for the next bridge.
	Noted(channels []string)
	// Trouble notes an error that a person should see.
	Trouble(what string, err error)
	// Mask takes secrets out of a text.
	Mask(text string) string

	// Keep puts a line into the buffer of its channel.
	Keep(l Line)
	// Kept is what the buffer of a channel knows of a message of ours; ok is false when
	// there is no buffer.
	Kept(channel, id string) (k Kept, ok bool)
	// HasSaid says whether the buffer of a channel holds a line of ours under that id.
	HasSaid(channel, msgid string) bool

	// Agents are the names of the agents as they are now.
	Agents() []string
	// MayControl says whether a person may order the bridge about.
	MayControl(p Person) bool
	// Stopping says that the bridge is about to end.
	Stopping() bool
}

// A Text is something that was said.
type Text struct {
	Time    time.Time // the server's, or ours where it has none
	Target  string    // the channel; our name in a private message
	Source  string    // who said it, as the network writes it
	Nick    string
	Account string // as the server tells it; "" is nobody who is logged in
	MsgID   string // "" where the server gives none
	Body    string // without formatting

	Who Person // who said it, as far as the network vouches for it
	Via string // the agent whose connection heard it; "" is the bridge's own

	Private bool
	Notice  bool // never to be answered
	Emote   bool
	Own     bool // under our own name, though not what this connection sent
	Bot     bool // the sender says that it is one
	Relayed bool // under a name that proves nothing
	History bool // from the history: old news, which never commands
}

// Peer is where an answer goes: the channel, or the other side of a private talk.
func (t Text) Peer() string {
	if t.Private && !t.Own {
		return t.Nick
	}
	return t.Target
}

// A Priority says what goes first when several texts wait.
type Priority int

// The words of agents wait for answers to people, and those for alerts.
const (
	Output Priority = iota
	Answer
	Urgent
)

// A Saying is a message as a [Link] is to say it.
type Saying struct {
	ID       string // of the message
	Speaker  string // the mailbox whose words they are
	Agent    bool   // they are an agent's, which may speak under its own name
	Name     string // what people call its owner
	Target   string // a channel or a person
	Text     string // all that is to be said, without secrets
	ReadID   string // by which people read the rest
	Answers  string // the server's id of the text that it answers; "" for none
	Priority Priority
	Copy     bool      // it shows a message that is safe elsewhere
	Begun    int       // how often it was begun, this time included
	Created  time.Time // when it was left
}

// Line is a piece of the saying as the buffer keeps it: upto is how many bytes of its text
// are said with the piece.
func (s *Saying) Line(at time.Time, text, msgid string, upto int) Line {
	return Line{At: at, Channel: s.Target, Nick: s.Speaker, Text: text, MsgID: msgid, Own: s.Copy, Drop: s.ID, Upto: upto}
}

// A Fate is what became of a [Saying].
type Fate int

// The fates.
const (
	Arrived    Fate = iota // all of it was said, and that is proven
	NeverAgain             // it cannot be said: Landing.Why
	Put                    // nothing of it was said: it waits again
	PutInPart              // a part may have been said: it waits again
	HungUpOn               // likewise, and the other side may have hung up on it
)

// A Landing is how a [Saying] ended.
type Landing struct {
	Fate   Fate
	Why    string // of NeverAgain
	HungUp Hangup // of HungUpOn
	Shown  Shown
}

// A Hangup is what the other side did when it ended the connection.
type Hangup struct {
	Spoken bool // it said that it hangs up, and not that it goes itself
	Err    error
}

// Shown is how much of a message people saw, for its receipt.
type Shown struct {
	Lines  int
	MsgIDs []string
	Again  bool // a part of it was said again, marked
}

// Kept is what the buffer of a channel knows of a message of ours.
type Kept struct {
	Upto   int       // how many bytes are said
	MsgIDs []string  // of its lines
	Spoke  time.Time // when the last line of ours was said there
}

// Told follows what was told to people.
type Told interface {
	// Done is closed when it was said, or never will be.
	Done() <-chan struct{}
	// MsgID is the server's id of the last line, after Done; "" where it tells none.
	MsgID() string
}

// A Standing is how things stand with a channel.
type Standing struct {
	Name   string
	Fixed  bool // of the configuration: it is not left
	Wanted bool // the link wants to be in it
	In     bool // the link is in it
	Topic  string
}

// An Entry is what came of joining a channel.
type Entry struct {
	In      bool   // the link is in
	Dropped bool   // the connection or the bridge ended: nobody knows
	Why     string // why not
	Advice  string // for people: why not, and what to do about it
	Name    string // of the channel, as the link writes it
}

// A RefusedError is a refusal of the network.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// An ImpossibleError is an error that no second try can help.
type ImpossibleError struct{ Err error }

func (e *ImpossibleError) Error() string { return e.Err.Error() }
func (e *ImpossibleError) Unwrap() error { return e.Err }

// A Remedy is what would help against a reason for which something was not said.
type Remedy int

// The remedies. A [Link] reads them out of a reason.
const (
	AnyRemedy          Remedy = iota // the reason says what is to be done
	OtherWords                       // as it stands it can never be said
	OtherChannel                     // there can be no such channel
	TheirComing                      // the person is not there
	FewerChannels                    // the bridge is in too many channels
	BeingOperator                    // the bridge lacks the rank of an operator
	BeingLetIn                       // the channel does not let the bridge in
	BeingThere                       // the bridge is not in the channel
	BeingAllowedToTalk               // the bridge may not speak there
)
