package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

// A Chat is what a door knows of IRC. All of it goes by files, so it works without the
// bridge, and while the network is away.
type Chat struct {
	Project string              // the channel for what names no other
	Alerts  string              // where people are told that somebody waits for them; "" is nowhere
	Buffer  int                 // lines of a channel that are kept
	Known   []string            // the channels of the configuration
	Own     map[string][]string // the channels of agents that have some, by name
}

// ErrNoIRC says that the configuration has no IRC.
var ErrNoIRC = errors.New("IRC is not configured")

// chatOf is what the configuration says of IRC; nil where it has none.
func chatOf(file *config.File) *Chat {
	i := file.IRC
	if !i.On() {
		return nil
	}
	c := &Chat{Project: i.Channel(i.Channels.Project), Alerts: i.Channel(i.Channels.Alerts), Buffer: i.BufferSize, Own: i.Own}
	for _, t := range append([]string{i.Channels.Project, i.Channels.Standup, i.Channels.Alerts, i.Channels.Errors}, i.Join...) {
		if t != "" {
			c.Known = append(c.Known, i.Channel(t))
		}
	}
	for _, own := range i.Own {
		c.Known = append(c.Known, own...)
	}
	for _, rule := range i.Map {
		if rule.Channel != "" {
			c.Known = append(c.Known, i.Channel(rule.Channel))
		}
	}
	return c
}

// project is the channel of an agent for what names no other.
func (c *Chat) project(agent string) string {
	if own := c.Own[agent]; len(own) > 0 {
		return own[0]
	}
	return c.Project
}

// isChannel tells a channel from a nick.
func isChannel(name string) bool { return name != "" && strings.ContainsRune("#&+!", rune(name[0])) }

// Channel is the whole name of a channel: "" is the project's, and a # may be left
// out.
func (c *Client) Channel(name string) (string, error) {
	switch name = strings.TrimSpace(name); {
	case c.Chat == nil:
		return "", ErrNoIRC
	case name == "":
		return c.Chat.project(c.Me.Name), nil
	case !isChannel(name):
		name = "#" + name
	}
	return name, checkTarget(name)
}

// target is a channel, or the nick of a person. A channel of the configuration, or one
// that the bridge is in, may be written without its #.
func (c *Client) target(name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" || isChannel(name) || c.Chat == nil {
		return c.Channel(name)
	}
	st, err := ircbridge.ReadState(c.Home.Dir())
	if err != nil {
		return "", err
	}
	known := slices.Clone(c.Chat.Known)
	for _, ch := range st.Channels {
		known = append(known, ch.Name)
	}
	if slices.ContainsFunc(known, func(ch string) bool { return strings.EqualFold(ch, "#"+name) }) {
		name = "#" + name
	}
	return name, checkTarget(name)
}

func checkTarget(name string) error {
	if !isChannel(name) && strings.ContainsAny(name, "!@$*?%") || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == ',' || r == ':' || r == 0x7f }) || name == "#" {
		return &TargetError{name}
	}
	return nil
}

// A TargetError says that a name can be neither a channel nor a person.
type TargetError struct{ Name string }

func (e *TargetError) Error() string {
	return fmt.Sprintf("%q can be neither a channel nor a nick: those have no spaces, commas and colons, a nick none of ! @ $ * ? %% either, and 64 bytes at most", e.Name)
}

// A StaysError says that the bridge is not to leave a channel: nobody would be heard there.
type StaysError struct{ Channel string }

func (e *StaysError) Error() string {
	return e.Channel + " is a channel of the configuration, and the bridge stays there"
}

// Say leaves text for a channel, or for a person privately; "" is the project's
// channel. It is durable when the error is nil, and said when the bridge can. Where the
// lead gives a task with it, the task is sent before; what the policy refuses is not said.
func (c *Client) Say(to, text string) (s Saying, err error) {
	if s.At, err = c.target(to); err != nil {
		return s, err
	}
	if s.Tasks, s.Note, err = c.give(s.At, text); err != nil {
		return s, err
	}
	s.Delivery, s.At, err = c.post(dropbox.Note, ircbridge.Origin{}, s.At, text)
	return s, err
}

// Inquire is Say for a question that somebody on IRC is to answer. People are told of
// it where they look for what needs them.
func (c *Client) Inquire(to, text string) (dropbox.Delivery, string, error) {
	sent, at, err := c.post(dropbox.Question, ircbridge.Origin{}, to, text)
	if err == nil && at != c.Chat.Alerts {
		err = c.alert("question", sent.ID, at, fmt.Sprintf("[QUESTION] %s needs input: %q", c.Called(c.Me.Name), strings.TrimSpace(text)))
	}
	return sent, at, err
}

// NotAnswered tells people that somebody waited in vain.
func (c *Client) NotAnswered(sent dropbox.Delivery, at string, waited time.Duration) error {
	return c.alert("timeout", sent.ID, at, fmt.Sprintf("[TIMEOUT] %s got no answer to %s in %s within %s.", c.Called(c.Me.Name), sent.ID, at, waited))
}

// alert is said where people look for what needs them. It is not the question itself,
// and nobody answers it.
func (c *Client) alert(what, id, at, text string) error {
	if c.Chat.Alerts == "" {
		return nil
	}
	note := ircbridge.Origin{Channel: c.Chat.Alerts, About: id, Announces: ircbridge.Alert}
	m := &dropbox.Message{To: []string{dropbox.IRC}, Type: dropbox.Note, Key: "irc-" + what + "-" + id, Body: []byte(text + " (" + at + ")\n"), Extra: note.Extra()}
	_, err := c.Send(m)
	return err
}

// Tell asks the bridge for something: to join or leave a channel, or to set its topic,
// which is the text.
func (c *Client) Tell(do ircbridge.Do, channel, text string) (sent dropbox.Delivery, at string, err error) {
	name, err := c.Channel(channel)
	if err != nil {
		return sent, "", err
	}
	if do == ircbridge.DoPart && slices.ContainsFunc(c.Chat.Known, func(ch string) bool { return strings.EqualFold(ch, name) }) {
		return sent, "", &StaysError{name}
	}
	if text == "" {
		text = string(do) + " " + name
	}
	return c.post(dropbox.Note, ircbridge.Origin{Do: do}, name, text)
}

// post delivers a message for the bridge.
func (c *Client) post(t dropbox.Type, note ircbridge.Origin, to, text string) (sent dropbox.Delivery, at string, err error) {
	if note.Channel, err = c.target(to); err != nil {
		return sent, "", err
	}
	if strings.TrimSpace(text) == "" {
		return sent, "", errors.New("the text is empty")
	}
	body := strings.TrimRight(text, "\n")
	if len(body) < c.Rules.BodyLimit() { // else there is no room for it, and no need
		body += "\n"
	}
	m := &dropbox.Message{To: []string{dropbox.IRC}, Type: t, Body: []byte(body), Extra: note.Extra()}
	all, err := c.Send(m)
	if len(all) > 0 {
		sent = all[0]
	}
	return sent, note.Channel, err
}

// reader is the one who asks, in front of what the bridge keeps.
func (c *Client) reader() ircbridge.Reader {
	return ircbridge.Reader{Home: c.Home.Dir(), Name: c.Me.Name, Size: c.Chat.Buffer, Own: c.Chat.Own[c.Me.Name]}
}

// Unread returns up to limit lines of a channel that the one who asks has not read yet,
// and marks them as read.
func (c *Client) Unread(channel string, limit int) (ircbridge.Reading, string, error) {
	name, err := c.target(channel)
	if err != nil {
		return ircbridge.Reading{}, "", err
	}
	got, err := c.reader().New(name, limit)
	return got, name, err
}

// Recent returns the newest lines of a channel, the newest first, whoever has read
// them.
func (c *Client) Recent(channel string, since time.Time, limit int) ([]ircbridge.Line, string, error) {
	name, err := c.target(channel)
	if err != nil {
		return nil, "", err
	}
	lines, err := c.reader().Recent(name, since, limit)
	return lines, name, err
}

// UnreadCounts says how many lines the one who asks has not read, by channel.
func (c *Client) UnreadCounts() (map[string]int, error) {
	if c.Chat == nil {
		return nil, ErrNoIRC
	}
	return c.reader().Unread()
}

// CheckIn advises the agent that asks to look at its channels, when it has not for long
// and something waits there; "" is nothing to say. It has the tools for IRC.
func (c *Client) CheckIn() (string, error) {
	if c.Chat == nil || c.Me.Name == dropbox.Lead {
		return "", nil
	}
	return c.reader().CheckIn(time.Now(), c.Chat.project(c.Me.Name), true)
}

// Bridge says how things stand with IRC.
func (c *Client) Bridge() (ircbridge.State, error) {
	if c.Chat == nil {
		return ircbridge.State{}, ErrNoIRC
	}
	return ircbridge.ReadState(c.Home.Dir())
}

// InChannel is what the bridge knows of a channel. The error says so when it is not
// there.
func (c *Client) InChannel(channel string) (ircbridge.Channel, error) {
	name, err := c.Channel(channel)
	if err != nil {
		return ircbridge.Channel{}, err
	}
	st, err := c.Bridge()
	if err != nil {
		return ircbridge.Channel{}, err
	}
	i := slices.IndexFunc(st.Channels, func(ch ircbridge.Channel) bool { return strings.EqualFold(ch.Name, name) })
	if i < 0 || !st.Channels[i].Joined {
		return ircbridge.Channel{}, &NotThereError{Channel: name, Why: whyNotIn(st, i)}
	}
	return st.Channels[i], nil
}

func whyNotIn(st ircbridge.State, i int) string {
	switch {
	case !st.Running:
		return "no bridge runs"
	case !st.Connected:
		return "it is not connected: " + st.Why
	case i >= 0:
		return st.Channels[i].Why
	}
	return ""
}

// A NotThereError says that the bridge is not in a channel.
type NotThereError struct{ Channel, Why string }

func (e *NotThereError) Error() string {
	s := "the bridge is not in " + e.Channel
	if e.Why != "" {
		s += ": " + e.Why
	}
	return s
}

// AwaitPeople waits for the answer to an inquiry, and files it. It is nil when none
// comes in time, of which people are told.
func (c *Client) AwaitPeople(ctx context.Context, sent dropbox.Delivery, at string, patience time.Duration) (*dropbox.Message, error) {
	wait, err := c.Wait([]dropbox.Delivery{sent})
	if err != nil {
		return nil, err
	}
	defer wait.Close()
	defer c.Me.Asks(sent.ID, at, patience)()
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	switch got, err := wait.Next(limited); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return nil, c.NotAnswered(sent, at, patience)
	case err != nil:
		return nil, err
	case got.None != nil:
		return nil, got.None
	default:
		return got.Answer.Message, got.Answer.File()
	}
}
