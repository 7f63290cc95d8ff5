package client

import (
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

// reader returns a reader of the bridge's buffers for the caller.
func (c Chat) reader() bridge.Reader {
	return bridge.Reader{Dir: ircbridge.Folder(c.client.Home.Dir()), Name: c.client.Me.Name, Size: c.channels.Buffer, Own: c.channels.Own[c.client.Me.Name]}
}

// Unread returns up to limit lines of a channel that the caller has not read yet, and marks
// them as read.
func (c Chat) Unread(channel string, limit int) (bridge.Reading, string, error) {
	name, err := c.target(channel)
	if err != nil {
		return bridge.Reading{}, "", err
	}
	got, err := c.reader().New(name, limit)
	return got, name, err
}

// Recent returns the newest lines of a channel, newest first, whether or not the caller
// has read them.
func (c Chat) Recent(channel string, since time.Time, limit int) ([]bridge.Line, string, error) {
	name, err := c.target(channel)
	if err != nil {
		return nil, "", err
	}
	lines, err := c.reader().Recent(name, since, limit)
	return lines, name, err
}

// UnreadCounts returns, for each channel, how many lines the caller has not read.
func (c Chat) UnreadCounts() (map[string]int, error) {
	if c.channels == nil {
		return nil, ErrNoIRC
	}
	return c.reader().Unread()
}

// CheckIn returns a reminder for an agent that has the IRC tools, but has not read its
// channels for a long time even though they contain new lines. It returns "" if no
// reminder is needed.
func (c Chat) CheckIn() (string, error) {
	if c.channels == nil || c.client.Me.Name == dropbox.Lead {
		return "", nil
	}
	return c.reader().CheckIn(time.Now(), c.channels.projectOf(c.client.Me.Name), true)
}

// Bridge returns the state of the bridge.
func (c Chat) Bridge() (bridge.State, error) {
	if c.channels == nil {
		return bridge.State{}, ErrNoIRC
	}
	return bridge.ReadState(ircbridge.Folder(c.client.Home.Dir()))
}

// InChannel returns the state that the bridge has recorded for a channel. The error is a
// [*NotThereError] if the bridge is not in the channel.
func (c Chat) InChannel(channel string) (bridge.Channel, error) {
	name, err := c.Channel(channel)
	if err != nil {
		return bridge.Channel{}, err
	}
	st, err := c.Bridge()
	if err != nil {
		return bridge.Channel{}, err
	}
	i := slices.IndexFunc(st.Channels, func(ch bridge.Channel) bool { return strings.EqualFold(ch.Name, name) })
	if i < 0 || !st.Channels[i].Joined {
		return bridge.Channel{}, &NotThereError{Channel: name, Why: whyNotIn(st, i)}
	}
	return st.Channels[i], nil
}

func whyNotIn(st bridge.State, i int) string {
	switch {
	case !st.Running:
		return "no bridge is running"
	case !st.Connected:
		return "it is not connected: " + st.Why
	case i >= 0:
		return st.Channels[i].Why
	}
	return ""
}

// A NotThereError reports that the bridge is not in a channel.
type NotThereError struct{ Channel, Why string }

func (e *NotThereError) Error() string {
	s := "the bridge is not in " + e.Channel
	if e.Why != "" {
		s += ": " + e.Why
	}
	return s
}
