package client

import (
	"errors"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

// A Chat gives the caller access to IRC. It delivers messages to the bridge's mailbox, and
// reads the bridge's files. It therefore works even while the network is down or no bridge is
// running. If IRC is not configured, all methods except CheckIn return [ErrNoIRC].
type Chat struct {
	client   *Client
	channels *Channels // nil if IRC is not configured
}

// Chat returns the client's access to IRC.
func (c *Client) Chat() Chat { return Chat{c, c.IRC} }

// Channel returns the full name of a channel. "" means the default channel, and the # may
// be omitted.
func (c Chat) Channel(name string) (string, error) {
	switch name = strings.TrimSpace(name); {
	case c.channels == nil:
		return "", ErrNoIRC
	case name == "":
		return c.channels.projectOf(c.client.Me.Name), nil
	case !isChannel(name):
		name = "#" + name
	}
	return name, checkTarget(name)
}

// target returns a channel, or the nick of a person. The # of a channel may be omitted if
// the channel is configured, or if the bridge is in it.
func (c Chat) target(name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" || isChannel(name) || c.channels == nil {
		return c.Channel(name)
	}
	st, err := bridge.ReadState(ircbridge.Folder(c.client.Home.Dir()))
	if err != nil {
		return "", err
	}
	known := slices.Clone(c.channels.Known)
	for _, ch := range st.Channels {
		known = append(known, ch.Name)
	}
	if slices.ContainsFunc(known, func(ch string) bool { return strings.EqualFold(ch, "#"+name) }) {
		name = "#" + name
	}
	return name, checkTarget(name)
}

// A Said is the result of sending a message to IRC.
type Said struct {
	dropbox.Delivery                    // to the bridge
	At               string             // the channel, or the nick of a person
	Tasks            []dropbox.Delivery // the tasks that the message gave to agents
	Note             string             // why a message that looks like a task gave no task to any agent; "" otherwise
}

// Say sends text to a channel, or privately to a person; "" means the default channel. A
// nil error means that the text is durable, and that the bridge will post it as soon as
// it can. If the text is from the lead and gives a task, Say sends the task first. If the
// policy refuses the text, it is not posted.
func (c Chat) Say(to, text string) (s Said, err error) {
	if s.At, err = c.target(to); err != nil {
		return s, err
	}
	if s.Tasks, s.Note, err = c.client.sendTask(s.At, text); err != nil {
		return s, err
	}
	s.Delivery, s.At, err = c.post(dropbox.Note, bridge.Origin{}, s.At, text)
	return s, err
}

// Tell asks the bridge to join a channel, to leave it, or to set its topic to text.
func (c Chat) Tell(do bridge.Do, channel, text string) (sent dropbox.Delivery, at string, err error) {
	name, err := c.Channel(channel)
	if err != nil {
		return sent, "", err
	}
	if do == bridge.DoPart && slices.ContainsFunc(c.channels.Known, func(ch string) bool { return strings.EqualFold(ch, name) }) {
		return sent, "", &StaysError{name}
	}
	if text == "" {
		text = string(do) + " " + name
	}
	return c.post(dropbox.Note, bridge.Origin{Do: do}, name, text)
}

// post delivers a message to the bridge.
func (c Chat) post(t dropbox.Type, o bridge.Origin, to, text string) (sent dropbox.Delivery, at string, err error) {
	return c.postNoted(&dropbox.Message{Type: t}, o, to, text, func(string, string) {})
}

// postNoted is like post, but also calls note with the message's id and its channel or
// nick before the bridge can see the message. The caller may set the type and the key of
// m.
func (c Chat) postNoted(m *dropbox.Message, o bridge.Origin, to, text string, note func(id, at string)) (sent dropbox.Delivery, at string, err error) {
	if o.Channel, err = c.target(to); err != nil {
		return sent, "", err
	}
	if strings.TrimSpace(text) == "" {
		return sent, "", errors.New("the text is empty")
	}
	body := strings.TrimRight(text, "\n")
	if len(body) < c.client.Rules.BodyLimit() { // otherwise there is no room for the newline
		body += "\n"
	}
	m.To, m.Body, m.Extra = []string{ircbridge.Name}, []byte(body), o.Extra(ircbridge.Name)
	all, err := c.client.SendNoted(m, func(id, to string) {
		if to == ircbridge.Name {
			note(id, o.Channel)
		}
	})
	if len(all) > 0 {
		sent = all[0]
	}
	return sent, o.Channel, err
}
