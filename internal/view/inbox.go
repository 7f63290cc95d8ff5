package view

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
)

// Inbox reads the messages of a mailbox that are not finished, those in the lead's
// in the order in which they came. unread leaves out what is being worked on, or
// was read. What cannot be read is there with the reason.
func Inbox(d *client.Client, mailbox string, unread bool) ([]*Message, error) {
	box, err := d.Mailbox(mailbox)
	if err != nil {
		return nil, err
	}
	list := []*Message{}
	add := func(state dropbox.State, entries []dropbox.Entry) {
		for _, e := range entries {
			m, err := box.Read(e)
			if errors.Is(err, dropbox.ErrGone) {
				continue // taken while we looked
			} else if err != nil {
				list = append(list, &Message{ID: e.ID, Mailbox: mailbox, State: StateOf(mailbox, state), Created: e.Created, Priority: e.Priority.String(), Reason: err.Error()})
				continue
			}
			list = append(list, MessageIn(d, mailbox, state, m))
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
	if mailbox == dropbox.Lead { // agents work by priority, people read by time
		slices.SortStableFunc(list, func(a, b *Message) int {
			return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID))
		})
	}
	return list, nil
}
