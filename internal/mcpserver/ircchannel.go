package mcpserver

import (
	"cmp"
	"context"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// This file contains the tools that manage the channels.

type channelArguments struct {
	Channel string `json:"channel" jsonschema:"#channel"`
}

func (c chat) join(_ context.Context, in channelArguments) (*saidOnIRC, error) {
	return c.tell(bridge.DoJoin, in.Channel, "")
}

func (c chat) part(_ context.Context, in channelArguments) (*saidOnIRC, error) {
	return c.tell(bridge.DoPart, in.Channel, "")
}

// tell sends a command to the bridge.
func (c chat) tell(do bridge.Do, channel, text string) (*saidOnIRC, error) {
	sent, at, err := c.irc.Tell(do, channel, text)
	if err != nil {
		return nil, withNext(err)
	}
	note, err := c.ircNote("")
	return &saidOnIRC{ID: sent.ID, Channel: at, Note: note}, err
}

type ircTopicArguments struct {
	Channel string `json:"channel" jsonschema:"#channel"`
	Text    string `json:"text,omitempty" jsonschema:"the new topic, to change it"`
}

// A channelTopic is the result of irc_topic.
type channelTopic struct {
	Channel string `json:"channel"`
	Topic   string `json:"topic"`
	Note    string `json:"note,omitempty"`
}

func (c chat) topic(_ context.Context, in ircTopicArguments) (*channelTopic, error) {
	if in.Text != "" {
		text := strings.Join(strings.Fields(in.Text), " ")
		if err := checkBody([]byte(text), c.Rules.BodyLimit(), "a topic is one short line"); err != nil {
			return nil, err
		}
		s, err := c.tell(bridge.DoTopic, in.Channel, text)
		if err != nil {
			return nil, err
		}
		return &channelTopic{Channel: s.Channel, Topic: text, Note: strings.TrimSpace("The bridge sets it when it can, if the channel allows it. " + s.Note)}, nil
	}
	ch, err := c.irc.InChannel(in.Channel)
	if err != nil {
		return nil, err
	}
	return &channelTopic{Channel: ch.Name, Topic: ch.Topic}, nil
}

func (t *channelTopic) readable() string {
	var b text
	b.line("%s: %s", t.Channel, cmp.Or(t.Topic, "no topic"))
	b.remark(t.Note)
	return b.String()
}

// A channelList is the result of irc_channels.
type channelList struct {
	Channels []channelView `json:"channels"`
	Note     string        `json:"note,omitempty"`
}

type channelView struct {
	Name    string `json:"name"`
	Members int    `json:"members" jsonschema:"how many are there"`
	Unread  int    `json:"unread" jsonschema:"lines that you have not read"`
	Topic   string `json:"topic,omitempty"`
}

func (c chat) channels(context.Context, noArguments) (*channelList, error) {
	st, err := c.irc.Bridge()
	if err != nil {
		return nil, err
	}
	unread, err := c.irc.UnreadCounts()
	if err != nil {
		return nil, err
	}
	list := &channelList{Channels: []channelView{}, Note: c.whySilent(nil)}
	for _, ch := range st.Channels {
		if ch.Joined {
			list.Channels = append(list.Channels, channelView{ch.Name, len(ch.Members) + ch.More, unread[ch.Name], ch.Topic})
		}
	}
	return list, nil
}

func (l *channelList) readable() string {
	var t text
	if len(l.Channels) == 0 {
		t.line("No channels.")
	}
	for _, ch := range l.Channels {
		t.line("%s: %s", ch.Name, screen.Several(ch.Members, "member", "members"))
		if ch.Unread > 0 {
			t.add(", %d unread", ch.Unread)
		}
		if ch.Topic != "" {
			t.add("; %s", ch.Topic)
		}
	}
	t.remark(l.Note)
	return t.String()
}

type ircWhoArguments struct {
	Channel string `json:"channel,omitempty" jsonschema:"default: the project's channel"`
}

// A memberList is the result of irc_who.
type memberList struct {
	Channel string   `json:"channel"`
	Members []member `json:"members"`
	More    int      `json:"more,omitempty" jsonschema:"how many are not listed"`
}

type member struct {
	Nick  string `json:"nick"`
	Modes string `json:"modes,omitempty" jsonschema:"@ is an operator, + has a voice"`
}

func (c chat) who(_ context.Context, in ircWhoArguments) (*memberList, error) {
	ch, err := c.irc.InChannel(in.Channel)
	if err != nil {
		return nil, err
	}
	a := &memberList{Channel: ch.Name, Members: []member{}, More: ch.More}
	for _, m := range ch.Members {
		a.Members = append(a.Members, member{m.Nick, m.Modes})
	}
	return a, nil
}

func (a *memberList) readable() string {
	var names []string
	for _, m := range a.Members {
		names = append(names, m.Modes+m.Nick)
	}
	var t text
	t.line("In %s: %s.", a.Channel, cmp.Or(strings.Join(names, ", "), "nobody"))
	if a.More > 0 {
		t.line("And %d more.", a.More)
	}
	return t.String()
}
