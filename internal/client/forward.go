package client

import (
	"errors"
	"fmt"
	"slices"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A Forward records where one waiting message of a removed agent was sent.
type Forward struct {
	ID string `json:"id"`             // the id of the original message
	As string `json:"as,omitempty"`   // its id in the other agent's mailbox; "" for an offer, which is given back instead
	To string `json:"to,omitempty"`   // the owner of that mailbox
	By string `json:"from,omitempty"` // the sender, which does not change
}

// ErrUnsettled reports that one of the agent's turns is not settled.
var ErrUnsettled = errors.New("one of its turns has not been settled")

// Forward gives the waiting messages of a removed agent to another agent. Each message
// arrives only once, even if Forward is called several times. This works because the copy
// is made durable, under a key derived from the id, before the message is filed with a
// receipt that names its new mailbox. The sender, thread, subject and text do not change.
// A proven message gets a proof for the new recipient; an unproven message stays
// unproven. An offer of published work is not forwarded but given back. The error is
// [ErrUnsettled] if a turn of the agent is running, or was interrupted and is not
// settled. Forward skips messages that it cannot read, and names them in the error that
// it finally returns.
func (c *Client) Forward(agent, to string) ([]Forward, error) {
	box, err := c.Mailbox(agent)
	if err != nil {
		return nil, err
	}
	if claimed, err := box.Claimed(); err != nil {
		return nil, err
	} else if len(claimed) > 0 {
		return nil, ErrUnsettled
	}
	if left, err := box.Receipts(); err != nil {
		return nil, err
	} else if slices.ContainsFunc(left, func(e dropbox.Entry) bool { return !isRemoval(box, e) }) {
		return nil, ErrUnsettled // that turn's answer has not been sent yet
	}
	tokens, err := c.Home.Tokens()
	if err != nil {
		return nil, err
	}
	waiting, err := box.Peek()
	if err != nil {
		return nil, err
	}
	list := []Forward{}
	var bad error
	for _, e := range waiting {
		m, err := box.Read(e)
		if errors.Is(err, dropbox.ErrGone) {
			continue
		} else if err != nil {
			bad = errors.Join(bad, fmt.Errorf("message %s: %w", e.ID, err))
			continue
		}
		f, receipt := Forward{ID: e.ID, By: m.From}, swarm.GivenBack(e, agent)
		if m.Offer != "" {
			err = topic.Of(c.Store).Release(m.Offer, agent)
		} else {
			f.To = to
			if f.As, err = c.forward(m, agent, to, tokens[m.From]); err == nil {
				receipt = swarm.Forwarded(e, agent, to, f.As)
			}
		}
		if err != nil {
			return list, err
		}
		data, err := receipt.Encode()
		if err == nil {
			err = box.Commit(e, data)
		}
		if err == nil {
			err = box.Finish(e)
		}
		if err != nil {
			return list, fmt.Errorf("file %s: %w", e.ID, err)
		}
		list = append(list, f)
	}
	return list, errors.Join(bad, finishForwarded(box))
}

// finishForwarded files the receipts that a crash left in place after their messages were
// filed.
func finishForwarded(box *dropbox.Mailbox) error {
	left, err := box.Receipts()
	if err != nil {
		return err
	}
	for _, e := range left {
		if err := box.Finish(e); err != nil {
			return err
		}
	}
	return nil
}

// isRemoval reports whether a receipt in cur/ names no turn. [Client.Forward] makes such
// receipts.
func isRemoval(box *dropbox.Mailbox, e dropbox.Entry) bool {
	data, err := box.Receipt(e)
	if err != nil {
		return false
	}
	r, err := journal.ParseReceipt(data)
	return err == nil && r.Turn == ""
}

// forward delivers a copy of a message to another agent. token is the sender's token.
func (c *Client) forward(m *dropbox.Message, agent, to, token string) (id string, err error) {
	proven := token != "" && dropbox.Proven(token, m, agent)
	one := *m
	one.ID, one.To, one.CC, one.Proof, one.Key = "", []string{to}, nil, "", "forward:"+m.ID
	sent, err := c.Store.DeliverSigned(to, &one, func(m *dropbox.Message) string {
		if !proven {
			return ""
		}
		return dropbox.Proof(token, m, to)
	})
	return sent.ID, err
}

// HandBack ends the subscriptions of a removed agent, and gives up its claims on published
// work, so that other agents can claim that work.
func (c *Client) HandBack(agent string) error {
	if _, err := topic.Of(c.Store).Unsubscribe(agent); err != nil {
		return err
	}
	open, err := topic.Of(c.Store).Open()
	if err != nil {
		return err
	}
	for _, p := range open {
		if p.Grant != nil && p.Grant.Agent == agent {
			if err := topic.Of(c.Store).Release(p.ID, agent); err != nil {
				return err
			}
		}
	}
	return nil
}
