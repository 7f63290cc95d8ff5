package mail

import (
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

const (
	maxNotes    = 16    // notes in one prompt
	maxNoteSize = 32768 // bytes of their bodies, in total
	maxBegun    = 10    // attempts in a row that did not end; after so many, the message probably crashes the machine
)

// A Job is one claimed message on its way through a turn.
type Job struct {
	Claim *dropbox.Claim
	Notes []*dropbox.Claim
	// Steered are the messages that were delivered to the turn while it ran.
	Steered []Steered
	Via     string
	Proven  bool
	CutOff  time.Time       // when the last earlier attempt was cut off, or zero
	Rec     *journal.Record // the attempt that is running or ran last
	Began   time.Time
	told    bool // the agent's log already names the message
	// Stranded reports that a claimed note could neither enter the prompt nor be put
	// back: the agent must look through cur/ again.
	Stranded bool
}

// ByLead reports whether a person's message begins the turn.
func (j *Job) ByLead() bool { return j.Proven && j.Claim.Message.From == dropbox.Lead }

// NoteIDs returns the ids of the notes in the prompt.
func (j *Job) NoteIDs() []string {
	var out []string
	for _, c := range j.Notes {
		out = append(out, c.ID)
	}
	return out
}

// SteeredUUIDs returns the UUIDs of the lines that brought messages to the turn.
func (j *Job) SteeredUUIDs() []string {
	var out []string
	for _, s := range j.Steered {
		out = append(out, s.UUID)
	}
	return out
}

// A Steered is a message that was brought to a running turn.
type Steered struct {
	Claim *dropbox.Claim
	UUID  string
}

// steeredDone returns the ids of the steered messages that the turn has finished.
func (j *Job) steeredDone(out runner.Outcome) []string {
	var done []string
	for _, s := range j.Steered {
		if slices.Contains(out.Steered, s.UUID) {
			done = append(done, s.Claim.ID)
		}
	}
	return done
}
