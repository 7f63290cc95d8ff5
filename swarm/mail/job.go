package mail

import (
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

const (
	maxNotes    = 16    // maximum number of notes in one prompt
	maxNoteSize = 32768 // maximum total size of their bodies, in bytes
	maxBegun    = 10    // maximum number of consecutive attempts that did not end; after that many, the message is probably crashing the machine
)

// A Job is a claimed message that goes through a turn.
type Job struct {
	Claim *dropbox.Claim
	Notes []*dropbox.Claim
	// Steered are the messages that were delivered to the turn while it ran.
	Steered      []Steered
	Via          string
	Proven       bool
	CutOff       time.Time             // when the last earlier attempt was interrupted, or zero
	Rec          *journal.Record       // the attempt that is running or that ran last
	Commit       string                // the commit of the turn's branch at its end; "" without a working tree
	Verification *journal.Verification // what the verifiers found out; nil if none ran
	Red          *journal.Verification // why the work of the last attempt was not accepted, or nil
	Began        time.Time
	told         bool // the agent's log already names the message
	// Stranded is set if a claimed note could neither be added to the prompt nor put
	// back. The agent must then check cur/ again.
	Stranded bool
}

// ByLead reports whether a message from a person starts the turn.
func (j *Job) ByLead() bool { return j.Proven && j.Claim.Message.From == dropbox.Lead }

// NoteIDs returns the ids of the notes in the prompt.
func (j *Job) NoteIDs() []string {
	var out []string
	for _, c := range j.Notes {
		out = append(out, c.ID)
	}
	return out
}

// SteeredUUIDs returns the UUIDs of the lines that delivered messages to the running
// turn.
func (j *Job) SteeredUUIDs() []string {
	var out []string
	for _, s := range j.Steered {
		out = append(out, s.UUID)
	}
	return out
}

// A Steered is a message that was delivered to a running turn.
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
