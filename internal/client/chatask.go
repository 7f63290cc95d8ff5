package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

// Inquire is Say for a question to people on IRC. The channel for alerts shows the question
// too.
func (c Chat) Inquire(to, text string) (dropbox.Delivery, string, error) {
	sent, at, err := c.post(dropbox.Question, bridge.Origin{}, to, text)
	if err == nil && at != c.channels.Alerts {
		err = c.alert("question", sent.ID, at, fmt.Sprintf("[QUESTION] %s needs input: %q", c.client.Called(c.client.Me.Name), strings.TrimSpace(text)))
	}
	return sent, at, err
}

// NotAnswered tells people that a question had no answer in time.
func (c Chat) NotAnswered(sent dropbox.Delivery, at string, waited time.Duration) error {
	return c.alert("timeout", sent.ID, at, fmt.Sprintf("[TIMEOUT] %s got no answer to %s in %s within %s.", c.client.Called(c.client.Me.Name), sent.ID, at, waited))
}

// alert leaves a line for the channel for alerts. The line is not the question, and gets no
// answer.
func (c Chat) alert(what, id, at, text string) error {
	if c.channels.Alerts == "" {
		return nil
	}
	note := bridge.Origin{Channel: c.channels.Alerts, About: id, Announces: bridge.Alert}
	m := &dropbox.Message{To: []string{ircbridge.Name}, Type: dropbox.Note, Key: "irc-" + what + "-" + id, Body: []byte(text + " (" + at + ")\n"), Extra: note.Extra(ircbridge.Name)}
	_, err := c.client.Send(m)
	return err
}

// AwaitPeople waits for the answer to an inquiry, and files it. It returns nil when no
// answer comes in time, and tells people so.
func (c Chat) AwaitPeople(ctx context.Context, sent dropbox.Delivery, at string, patience time.Duration) (*dropbox.Message, error) {
	wait, err := c.client.Wait([]dropbox.Delivery{sent})
	if err != nil {
		return nil, err
	}
	defer wait.Close()
	wait.Proven = true
	defer c.client.Me.Asks(sent.ID, at, patience)("")
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
