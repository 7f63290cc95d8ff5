package webhook

import (
	"errors"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Counts contains the message counts of one webhook.
type Counts struct {
	Waiting int // including those that are being posted
	Dead    int
}

// CountsOf counts the messages in the hooks mailbox, by webhook name. It reads every
// message that is neither done nor refused.
func CountsOf(store *dropbox.Store) (map[string]Counts, error) {
	counts := map[string]Counts{}
	box, err := store.Mailbox(dropbox.Hooks)
	if errors.Is(err, dropbox.ErrNoMailbox) {
		return counts, nil // there has never been a message for a webhook
	} else if err != nil {
		return nil, err
	}
	for found, err := range box.All() {
		if err != nil {
			return nil, err
		}
		if found.State == dropbox.Done || found.State == dropbox.Refused {
			continue
		}
		m, err := store.Load(found)
		if err != nil {
			continue // the message has been moved, or the file is not a message
		}
		p, err := decode(m.Body)
		if err != nil {
			continue
		}
		c := counts[p.Data.Webhook]
		if found.State == dropbox.Dead {
			c.Dead++
		} else {
			c.Waiting++
		}
		counts[p.Data.Webhook] = c
	}
	return counts, nil
}
