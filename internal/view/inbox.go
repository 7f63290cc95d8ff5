package view

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
)

// QuestionsFirst moves the questions to the beginning of a list of messages, and otherwise
// keeps the order.
func QuestionsFirst(list []*Message) {
	slices.SortStableFunc(list, func(a, b *Message) int {
		switch asks, other := a.Type == dropbox.Question, b.Type == dropbox.Question; {
		case asks == other:
			return 0
		case asks:
			return -1
		}
		return 1
	})
}

// Inbox returns the unfinished messages in a mailbox. It lists the lead's messages in the
// order in which they arrived. If unread is set, it omits the message of the running turn
// and the messages that the lead has read. For a message that cannot be parsed, it lists
// the reason.
func Inbox(c *client.Client, mailbox string, unread bool) ([]*Message, error) {
	if err := c.MaySee(mailbox); err != nil {
		return nil, err
	}
	box, err := c.Mailbox(mailbox)
	if err != nil {
		return nil, err
	}
	list := []*Message{}
	add := func(state dropbox.State, entries []dropbox.Entry) {
		for _, e := range entries {
			m, err := box.Read(e)
			if errors.Is(err, dropbox.ErrGone) {
				continue // the message has been claimed in the meantime
			} else if err != nil {
				list = append(list, &Message{ID: e.ID, Mailbox: mailbox, State: StateOf(mailbox, state), Created: e.Created, Priority: e.Priority.String(), Reason: err.Error()})
				continue
			}
			list = append(list, MessageIn(c, mailbox, state, m))
		}
	}
	if !unread {
		read, err := box.Claimed()
		if err != nil {
			return nil, err
		}
		add(dropbox.Claimed, read)
	}
	fresh, err := box.Peek()
	if err != nil {
		return nil, err
	}
	add(dropbox.Waiting, fresh)
	if mailbox == dropbox.Lead { // agents work in order of priority; people read in chronological order
		slices.SortStableFunc(list, func(a, b *Message) int {
			return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID))
		})
	}
	return list, nil
}
