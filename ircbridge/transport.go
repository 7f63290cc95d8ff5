package ircbridge

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A Transport is a chat as programs use it, whatever network it is. Its methods may be
// called from several goroutines.
type Transport interface {
	// Send says text in a channel, in the name of sender. When it returns nil the
	// text is durable; it is said when the network can be reached.
	Send(ctx context.Context, channel, text, sender string) error
	// Read returns what was said in a channel after since, the oldest first.
	Read(ctx context.Context, channel string, since time.Time) ([]Line, error)
	// CreateChannel makes a channel, or joins it where it is.
	CreateChannel(ctx context.Context, name string) error
	// ListChannels names the channels that we are in.
	ListChannels(ctx context.Context) ([]string, error)
	// Members names who is in a channel.
	Members(ctx context.Context, channel string) ([]string, error)
}

// A Desk is the Transport by files: it leaves messages for the bridge and reads what
// the bridge keeps, so it works in any process, and also while IRC is down.
type Desk struct {
	Store *dropbox.Store
	Home  string
	Size  int // lines that are kept of a channel; 0 means 500

	// Deliver, if set, takes the way of a message to irc/ in place of the store's,
	// so that a door can ask its gate and sign.
	Deliver func(ctx context.Context, m *dropbox.Message) (dropbox.Delivery, error)
}

var _ Transport = Desk{}

// Post leaves a message for the bridge. from "" is the lead.
func (d Desk) Post(ctx context.Context, n Note, from, text string) (dropbox.Delivery, error) {
	m := &dropbox.Message{From: from, To: []string{dropbox.IRC}, Type: dropbox.Note, Body: []byte(text), Extra: n.Extra()}
	if d.Deliver != nil {
		return d.Deliver(ctx, m)
	}
	return d.Store.Deliver(dropbox.IRC, m)
}

// Send implements [Transport].
func (d Desk) Send(ctx context.Context, channel, text, sender string) error {
	_, err := d.Post(ctx, Note{Channel: channel}, sender, text)
	return err
}

// Read implements [Transport].
func (d Desk) Read(_ context.Context, channel string, since time.Time) ([]Line, error) {
	lines, err := Reader{Home: d.Home, Size: d.Size}.Recent(channel, since, 0)
	if err != nil {
		return nil, err
	}
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return lines, nil
}

// CreateChannel implements [Transport].
func (d Desk) CreateChannel(ctx context.Context, name string) error {
	_, err := d.Post(ctx, Note{Do: DoJoin, Channel: name}, "", "join "+name+"\n")
	return err
}

// ListChannels implements [Transport].
func (d Desk) ListChannels(context.Context) ([]string, error) {
	st, err := ReadState(d.Home)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range st.Channels {
		if c.Joined {
			names = append(names, c.Name)
		}
	}
	return names, nil
}

// Members implements [Transport]. The error says so when the bridge is not in that
// channel.
func (d Desk) Members(_ context.Context, channel string) ([]string, error) {
	st, err := ReadState(d.Home)
	if err != nil {
		return nil, err
	}
	for _, c := range st.Channels {
		if !strings.EqualFold(c.Name, channel) || !c.Joined {
			continue
		}
		nicks := make([]string, 0, len(c.Members))
		for _, m := range c.Members {
			nicks = append(nicks, m.Nick)
		}
		return nicks, nil
	}
	return nil, fmt.Errorf("the bridge is not in %s", channel)
}
