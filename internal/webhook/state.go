package webhook

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// A State contains the state of all webhooks.
type State struct {
	V     int               `json:"v"`
	Hooks map[string]Stand  `json:"hooks"` // by webhook name
	Waits map[string]Waited `json:"waits"` // messages that failed and will be retried, by message id
}

// A Stand contains the state of one webhook.
type Stand struct {
	Taken  time.Time `json:"taken,omitzero"`  // when its receiver last accepted a message
	Status int       `json:"status"`          // the HTTP status of the last attempt, or 0 if there was no answer
	Why    string    `json:"why,omitempty"`   // why the last attempt failed; "" if it did not fail
	Failed int       `json:"failed"`          // number of consecutive failed attempts
	Since  time.Time `json:"since,omitzero"`  // when the first of these attempts failed
	Rest   time.Time `json:"rest,omitzero"`   // time until which the receiver has asked for no messages
	Told   bool      `json:"told,omitempty"`  // the lead has been told that messages are being lost
	Event  string    `json:"event,omitempty"` // event of the last attempt
	At     time.Time `json:"at,omitzero"`     // time of the last attempt
}

// A Waited describes a message that has failed and will be retried.
type Waited struct {
	Next time.Time `json:"next"` // when the message is due
	Why  string    `json:"why"`
	Hook string    `json:"hook,omitempty"` // the name of the webhook; "" in a state written by an earlier version
}

// StateFile returns the path of the state file in home, the daemon's folder.
func StateFile(home string) string { return filepath.Join(home, "webhooks.json") }

// ReadState reads the state that the daemon last wrote. A missing or invalid file is
// treated as an empty state; a file that cannot be read is an error.
func ReadState(home string) (State, error) {
	s := State{V: 1, Hooks: map[string]Stand{}, Waits: map[string]Waited{}}
	var read State
	if err := durable.IgnoreDamage(durable.ReadJSON(StateFile(home), &read)); err != nil {
		return s, fmt.Errorf("read the webhook state: %w", err)
	}
	if read.V != 1 {
		return s, nil
	}
	if read.Hooks != nil {
		s.Hooks = read.Hooks
	}
	if read.Waits != nil {
		s.Waits = read.Waits
	}
	return s, nil
}

// NextTry returns the time at which the first failed message of a webhook will be retried, or
// the zero time if no failed message is waiting.
func (s State) NextTry(hook string) (first time.Time) {
	for _, w := range s.Waits {
		if w.Hook == hook && (first.IsZero() || w.Next.Before(first)) {
			first = w.Next
		}
	}
	if rest := s.Hooks[hook].Rest; !first.IsZero() && rest.After(first) {
		return rest
	}
	return first
}

// write replaces the state file. After a power failure, the file may be missing, old or
// incomplete.
func (s State) write(home string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return durable.Files{}.Write(StateFile(home), durable.Options{Volatile: true}, append(data, '\n'))
}
