package journal

import (
	"time"

	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// KeptName is the name of the [KeptFile].
const KeptName = "quiet.json"

// A KeptFile contains the facts that are reported to the person after the quiet hours.
type KeptFile struct {
	V      durable.Version1 `json:"v"`
	First  int64            `json:"first,omitempty"` // number of the first event
	Until  time.Time        `json:"until,omitzero"`  // end of the quiet hours
	Closed bool             `json:"closed,omitempty"`
	Told   bool             `json:"told,omitempty"`   // the facts were reported to the person; set only after Closed
	Kept   []Kept           `json:"kept,omitempty"`   // oldest first
	Before []string         `json:"before,omitempty"` // keys of the facts that earlier alerts reported
}

// A Kept is a fact that is reported to the person after the quiet hours.
type Kept struct {
	Seq     int64     `json:"seq"`
	At      time.Time `json:"at"`
	Key     string    `json:"key"` // of the event
	Agent   string    `json:"agent,omitempty"`
	Word    Word      `json:"word,omitempty"` // of the event's notice
	Subject string    `json:"subject"`
	Body    string    `json:"body,omitempty"`
	About   string    `json:"about,omitempty"` // id of the question, or of the message that was given up
	Asks    bool      `json:"asks,omitempty"`  // About is a question from the daemon
	Dead    bool      `json:"dead,omitempty"`  // About is a message that was given up
}
