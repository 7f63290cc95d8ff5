package mail

import (
	"cmp"
	"errors"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// mostRead is the maximum number of waiting messages that [Inbox.TaskWaits] reads.
const mostRead = 100

// TaskWaits reports whether a message of a task, which is a trace, waits in the mailbox. If very
// many messages wait, it reports true without reading all of them.
func (in *Inbox) TaskWaits(task string) (bool, error) {
	if in.Queue.Waiting().Total() == 0 {
		return false, nil
	}
	entries, err := in.Box.List()
	if err != nil || len(entries) > mostRead {
		return true, err
	}
	for _, e := range entries {
		m, err := in.Box.Read(e)
		if errors.Is(err, dropbox.ErrNotFound) || err == nil && cmp.Or(m.Trace, m.ID) != task {
			continue
		}
		return true, nil
	}
	return false, nil
}
