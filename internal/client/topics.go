package client

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Publish signs m and publishes it on its topic. A [*RefusedError] means that a rule
// refuses the message and nothing was published. Inside a turn the error may be a
// [*TurnError]. If Publish returns an error together with a publication that has an id or
// an offer, some subscribers were not told.
func (c *Client) Publish(m *dropbox.Message) (topic.Published, error) {
	if err := c.EnsureToken(); err != nil {
		return topic.Published{}, err
	}
	if err := c.Me.Envelope(m); err != nil {
		return topic.Published{}, &TurnError{err}
	}
	c.redact(m)
	c.Halted = ""
	if err := c.MayPass(m); err != nil {
		return topic.Published{}, err
	}
	sent, err := topic.Of(c.Store).Publish(m, c.Me.Sign)
	deliveries := sent.Offered // for a published status or note, these are all deliveries
	if sent.ID != "" {
		deliveries = []dropbox.Delivery{sent.Delivery}
	}
	if len(deliveries) > 0 {
		err = errors.Join(err, c.noteInTurn(deliveries, m))
	}
	return sent, err
}

// Subscribe subscribes an agent or the lead to the topics that match the patterns, and
// returns all of the subscriber's patterns. The error is a [*RefusedError] if a rule refuses
// a pattern.
func (c *Client) Subscribe(name string, patterns ...string) ([]string, error) {
	for _, pattern := range patterns {
		if v := c.Rules.Subscribe(name, pattern); !v.Pass {
			return nil, &RefusedError{Verdict: v, To: name}
		}
	}
	if _, err := c.Mailbox(name); err != nil { // creates the mailbox if no daemon has done so yet
		return nil, err
	}
	return topic.Of(c.Store).Subscribe(name, patterns...)
}

// Unsubscribe removes the given patterns, or all patterns if none are given, and returns
// the remaining ones.
func (c *Client) Unsubscribe(name string, patterns ...string) ([]string, error) {
	if _, err := c.Mailbox(name); err != nil {
		return nil, err
	}
	return topic.Of(c.Store).Unsubscribe(name, patterns...)
}

// Subscriptions returns the patterns of all subscribers, by subscriber name.
func (c *Client) Subscriptions() (map[string][]string, error) {
	all := map[string][]string{}
	for _, name := range append(slices.Clone(c.Agents), dropbox.Lead) {
		has, err := topic.Of(c.Store).Subscriptions(name)
		if err != nil {
			return nil, err
		}
		if len(has) > 0 {
			all[name] = has
		}
	}
	return all, nil
}

// Subscribes reports whether an agent or the lead subscribes to a topic.
func (c *Client) Subscribes(name, to string) (bool, error) {
	all, err := topic.Of(c.Store).Subscribers(to)
	return slices.Contains(all, name), err
}

// An OpenWork is an item of published work that is not done, in the form that the command
// line and the tools show.
type OpenWork struct {
	ID      string    `json:"id"`
	Topic   string    `json:"topic"`
	From    string    `json:"from"`
	Subject string    `json:"subject" jsonschema:"what it is about"`
	Since   time.Time `json:"since"`
	Claimed string    `json:"claimed" jsonschema:"by whom; empty when nobody has"`
}

// OpenWork lists the published work that is not done, in the order of
// [topic.Topics.Open].
func (c *Client) OpenWork() ([]OpenWork, error) {
	open, err := topic.Of(c.Store).Open()
	work := []OpenWork{}
	for _, o := range open {
		v := OpenWork{ID: o.ID, Topic: o.Message.Topic, From: o.Message.From, Subject: o.Message.Gist(), Since: o.Message.Created}
		if o.Grant != nil {
			v.Claimed = o.Grant.Agent
		}
		work = append(work, v)
	}
	return work, err
}

// ClaimedBy returns the agent that has claimed a publication, or "" if nobody has.
func (c *Client) ClaimedBy(publication string) (string, error) {
	g, err := topic.Of(c.Store).GrantOf(publication)
	if errors.Is(err, dropbox.ErrNotFound) {
		return "", nil
	}
	return g.Agent, err
}

// A NotPublishedError reports that a message was not published on a topic.
type NotPublishedError struct{ ID string }

func (e *NotPublishedError) Error() string { return e.ID + " was not published on a topic" }

// Published finds published work by part of its id, or by part of the id of one of its
// offers. The error is one that [Client.Message] returns, a [*NotPublishedError], or a
// [*topic.TakenError] if the work is closed.
func (c *Client) Published(id string) (topic.Publication, error) {
	_, m, err := c.Message(id)
	if err != nil {
		return topic.Publication{}, err
	}
	work := topic.Publication{ID: cmp.Or(m.Offer, m.ID), Message: m}
	open, err := topic.Of(c.Store).Find(work.ID)
	if errors.Is(err, dropbox.ErrNotFound) {
		return work, &NotPublishedError{m.ID}
	} else if err != nil {
		return work, err
	}
	return open, nil
}

// Claim claims published work for the caller. If several callers claim the same work, one
// gets it and the others get a [*topic.TakenError]. The error is a [*RefusedError] if the
// caller may not subscribe to the work's topic.
func (c *Client) Claim(work topic.Publication) (topic.Grant, error) {
	if v := c.Rules.Subscribe(c.Me.Name, work.Message.Topic); !v.Pass {
		return topic.Grant{}, &RefusedError{Verdict: v, To: c.Me.Name, Thread: work.Message.Thread}
	}
	return topic.Of(c.Store).Claim(work.ID, c.Me.Name, c.Me.Turn)
}

// ClaimFor claims published work for another agent, and delivers it to the agent as a task. The
// caller must be allowed to write to the agent.
func (c *Client) ClaimFor(work topic.Publication, agent string) (topic.Grant, error) {
	order := *work.Message
	order.From, order.To, order.CC, order.Topic = c.Me.Name, []string{agent}, nil, ""
	if err := c.MayPass(&order); err != nil {
		return topic.Grant{}, err
	}
	g, err := topic.Of(c.Store).Claim(work.ID, agent, "")
	if err != nil {
		return g, err
	}
	if _, err := c.Mailbox(agent); err != nil {
		return g, err
	}
	var sign func(*dropbox.Message, string) string
	if work.Message.From == c.Me.Name {
		sign = c.Me.Sign
	}
	return g, topic.Of(c.Store).Assign(work, agent, sign)
}

// Ack closes published work. It first claims the work if the caller has not done so. end
// is [topic.Completed] or [topic.Failed]. text is the result for the publisher; "" means
// no result. Ack also publishes end as a status, for example on task.completed if the
// work was published on task.created. Repeating Ack after an error is harmless.
func (c *Client) Ack(work topic.Publication, end, text string) error {
	if _, err := c.Claim(work); err != nil {
		return err
	}
	text = c.Home.Secrets().Redactor().Text(text)
	// The answer is sent first because it has a key, so repeating it is harmless.
	if err := c.answerPublished(work, text); err != nil {
		return err
	}
	r := journal.Receipt{ID: work.ID, Turn: c.Me.Turn, Agent: c.Me.Name, Outcome: end, Ended: time.Now().UTC(), Text: firstOf(text)}
	receipt, err := r.Encode()
	if err != nil {
		return err
	}
	if err := topic.Of(c.Store).Close(work.ID, c.Me.Name, receipt); err != nil {
		return err
	}
	if err := c.EnsureToken(); err != nil {
		return err
	}
	return topic.Of(c.Store).Announce(work.Message, c.Me.Name, end, firstOf(c.Me.Name+": "+strings.Join(strings.Fields(text), " ")), c.Me.Sign)
}

// answerPublished sends the result to the publisher of the work.
func (c *Client) answerPublished(work topic.Publication, text string) error {
	if text == "" || work.Message.From == c.Me.Name {
		return nil
	}
	_, err := c.Send(&dropbox.Message{
		To: []string{work.Message.From}, Type: dropbox.Result, ReplyTo: work.ID, Thread: work.Message.Thread, Trace: work.Message.Trace,
		Subject: AnswerSubject(work.Message.Subject), Key: "result:" + work.ID, Body: []byte(text + "\n"),
	})
	return err
}

// firstOf returns the beginning of text, up to the length that a receipt can contain.
func firstOf(text string) string {
	const most = 4096
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
