package bridge

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// A stubLink is a link to a network without servers. It interprets names and text as IRC
// does. Its fields hold the other results that a test needs.
type stubLink struct {
	Link // nil, so an unexpected call panics
	addr string

	usable, sound bool
	rooms         map[string]*ChannelState
	told          []string // target: text
	said          []*Saying
	joins         map[string]func(Entry)
}

func newStub() *stubLink {
	return &stubLink{usable: true, sound: true, rooms: map[string]*ChannelState{}, joins: map[string]func(Entry){}}
}

func (*stubLink) Fold(name string) string { return irc.ASCII.Fold(name) }
func (*stubLink) Same(a, b string) bool   { return irc.ASCII.Same(a, b) }
func (*stubLink) Plain(text string) string {
	return irc.PlainText(text)
}
func (*stubLink) FindMention(text, name string) (start, end int) {
	return irc.FindMention(text, name, irc.ASCII)
}
func (*stubLink) IsChannel(target string) bool { return strings.HasPrefix(target, "#") }

func (*stubLink) Open(context.Context, context.Context, Host, []string) error { return nil }
func (*stubLink) Sweep(time.Time)                                             {}
func (*stubLink) Describe(*State)                                             {}
func (l *stubLink) Usable() bool                                              { return l.usable }
func (l *stubLink) Sound() bool                                               { return l.sound }
func (*stubLink) Connection() (int, time.Time)                                { return 1, time.Time{} }
func (*stubLink) Self() string                                                { return "swarm" }
func (*stubLink) Selves() []string                                            { return []string{"swarm"} }
func (*stubLink) Called(string) []string                                      { return nil }
func (*stubLink) NowCalled(name string) string                                { return name }
func (*stubLink) Network() string                                             { return "stub" }
func (*stubLink) Server() string                                              { return "stub.example" }
func (l *stubLink) Vouched() string                                           { return l.addr }
func (*stubLink) Shut(string) string                                          { return "" }
func (*stubLink) Remedy(string) Remedy                                        { return AnyRemedy }

// stubRooms implements the channel methods of a stubLink.
type stubRooms struct{ *stubLink }

func (stubRooms) Shut(string) string                  { return "" }
func (stubRooms) MaySay(string, bool) bool            { return true }
func (stubRooms) SetTopic(_, _ string, _ func(error)) {}

// Ours reports whether a name belongs to the bridge or to the agent coder, both of which
// are connected.
func (*stubLink) Ours(name string) bool {
	return slices.ContainsFunc([]string{"swarm", "coder"}, func(n string) bool { return irc.ASCII.Same(n, name) })
}

func (*stubLink) Fit(text, _, _ string) []string { return strings.Split(text, "\n") }

func (l *stubLink) Tell(target, text, _ string) Told {
	l.told = append(l.told, target+": "+text)
	return told{}
}

func (l *stubLink) Say(s *Saying) { l.said = append(l.said, s) }

type told struct{}

func (told) MsgID() string { return "" }
func (told) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

func (l *stubLink) Rooms() Rooms { return stubRooms{l} }

func (l stubRooms) CannotBe(name string) string {
	if !l.IsChannel(name) || strings.Contains(name, " ") {
		return name + " cannot be"
	}
	return ""
}

func (l stubRooms) Channel(name string) (ChannelState, bool) {
	ch := l.rooms[l.Fold(name)]
	if ch == nil {
		return ChannelState{}, false
	}
	return *ch, true
}

func (l stubRooms) Joined() (all []ChannelState) {
	for _, ch := range l.rooms {
		all = append(all, *ch)
	}
	return all
}

func (l stubRooms) Leave(name string) { delete(l.rooms, l.Fold(name)) }

func (l stubRooms) Join(name string, _ bool, then func(Entry)) { l.joins[l.Fold(name)] = then }

// onNetwork converts an IRC line to the form in which the link passes it to the bridge.
func onNetwork(t irc.Text) Text {
	who := Person{Nick: t.Nick, Account: t.Account}
	if _, userhost, ok := strings.Cut(t.Source, "!"); ok {
		who.User, who.Host, _ = strings.Cut(userhost, "@")
	}
	return Text{
		Time: t.Time, Target: t.Target, Source: t.Source, Nick: t.Nick, Account: t.Account, MsgID: t.MsgID, Body: t.Body, Who: who,
		Private: t.Private, Notice: t.Notice, Emote: t.Emote, Own: t.Own, Bot: t.Bot, Relayed: t.Relayed, History: t.History,
	}
}
