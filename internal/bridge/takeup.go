package bridge

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// takeUp continues with messages in cur/ that have no owner: after a crash, and after the
// disk refused their last step.
func (o *outbox) takeUp() error {
	receipts, err := o.mail.box.Receipts()
	if err != nil {
		return err
	}
	for _, e := range receipts {
		if o.flights[e.ID] != nil {
			continue // it is being filed
		}
		if err := o.mail.box.Finish(e); err != nil {
			return err
		}
	}
	reasons, err := o.mail.box.Reasons()
	if err != nil {
		return err
	}
	for _, e := range reasons {
		if o.flights[e.ID] != nil {
			continue
		}
		if err := o.finishGiveUp(e); err != nil {
			return err
		}
	}
	claimed, err := o.mail.box.Claimed()
	if err != nil {
		return err
	}
	for _, e := range claimed {
		if o.flights[e.ID] != nil || o.questions.isOpen(e.ID) {
			continue // on its way, or shown and waiting for its answer
		}
		if _, err := o.mail.box.PutBack(e, false); err != nil && !errors.Is(err, dropbox.ErrGone) {
			return err
		}
	}
	return nil
}

func joinedFile(dir string) string { return filepath.Join(dir, "joined.json") }

// readJoined reads the channels that people asked for, besides those in the options.
func readJoined(dir string) ([]string, error) {
	data, err := os.ReadFile(joinedFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var names []string
	if err := json.Unmarshal(data, &names); err != nil {
		return nil, nil // the file is damaged; the next message for a channel joins it again
	}
	return names, nil
}
