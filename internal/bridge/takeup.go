package bridge

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// takeUp resumes handling the messages in cur/ that have no owner. Such messages exist
// after a crash, or if their last disk operation failed.
func (o *poster) takeUp() error {
	receipts, err := o.mail.box.Receipts()
	if err != nil {
		return err
	}
	for _, e := range receipts {
		if o.flights[e.ID] != nil {
			continue // the message is being filed
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
			continue // in flight, or a question that was shown and is waiting for its answer
		}
		if _, err := o.mail.box.PutBack(e, false); err != nil && !errors.Is(err, dropbox.ErrGone) {
			return err
		}
	}
	return nil
}

func joinedFile(dir string) string { return filepath.Join(dir, "joined.json") }

// readJoined reads the list of channels that people asked the bridge to join and that are
// not in the options.
func readJoined(dir string) ([]string, error) {
	data, err := os.ReadFile(joinedFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var names []string
	if err := json.Unmarshal(data, &names); err != nil {
		return nil, nil // the file is damaged, but the bridge rejoins a channel when it has a message for that channel
	}
	return names, nil
}
