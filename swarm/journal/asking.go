package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// An Asked is a line of a turn's .asks file. It says that a process of the turn, or the
// daemon for its client, waits for an answer, or no longer waits. The file only grows.
// Several questions can wait at once, and after a crash a line may name a process that is
// gone.
type Asked struct {
	ID      string         `json:"id"`           // of the question
	Of      string         `json:"of,omitempty"` // an agent, the lead, or a channel or nick of IRC
	Since   time.Time      `json:"since,omitzero"`
	Until   time.Time      `json:"until,omitzero"`
	Process runner.Process `json:"process,omitzero"` // that waits
	// Call is the tool call that the client of the turn asks permission for; "" is any other
	// question.
	Call string `json:"call,omitempty"`
	Over bool   `json:"over,omitempty"`
	Why  string `json:"why,omitempty"` // why it is over; "" if nobody needs to know
}

// Asks are the questions of one turn: the lines of its .asks file.
type Asks struct{ path string }

// Asks returns the questions of a turn.
func (h Home) Asks(turn string) Asks { return Asks{h.TurnFile(turn, ".asks")} }

// Asks notes in the running turn that it waits for the answer to a question, for patience
// at most. The status shows that. The caller calls over when it no longer waits. Outside a
// turn Asks does nothing. If it cannot write the note, only the status lacks it. The
// argument of over says why nobody needs to answer any more; "" leaves the question open
// for a later answer.
func (id Identity) Asks(question, of string, patience time.Duration) (over func(why string)) {
	if id.Turn == "" {
		return func(string) {}
	}
	now := time.Now().UTC()
	asks := id.home.Asks(id.Turn)
	if err := asks.Begin(Asked{ID: question, Of: of, Since: now, Until: now.Add(patience)}); err != nil {
		return func(string) {}
	}
	ended := false
	return func(why string) {
		if !ended {
			ended = true
			_ = asks.End(question, why)
		}
	}
}

// Begin notes that this process waits, in the turn, for the answer to a question.
func (s Asks) Begin(a Asked) (err error) {
	if a.Process, err = runner.Identify(os.Getpid()); err != nil {
		return err
	}
	return s.writeLine(a)
}

// End notes that the turn no longer waits for the answer to a question, and why.
func (s Asks) End(question, why string) error {
	return s.writeLine(Asked{ID: question, Over: true, Why: why})
}

func (s Asks) writeLine(a Asked) error {
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(s.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	return errors.Join(err, f.Close())
}

// Longest returns the question that the turn has waited for longest; nil when it waits for
// no answer.
func (s Asks) Longest() *Asked {
	for _, a := range s.Open() {
		if a.Process.Alive() {
			return &a
		}
	}
	return nil
}

// turnEnded is the reason for a question that nobody has noted as over.
const turnEnded = "that turn has ended"

// WhyOver says why the turn no longer waits for the answer to a question; "" while it
// waits.
func (s Asks) WhyOver(question string) (why string) {
	why = turnEnded
	for a := range s.lines() {
		switch {
		case a.ID != question:
		case a.Over:
			why = cmp.Or(a.Why, turnEnded)
		case a.Process.Alive():
			why = ""
		}
	}
	return why
}

// Settled says why nobody needs to answer a question any more; "" while an answer is welcome, also
// after the turn.
func (s Asks) Settled(question string) (why string) {
	for a := range s.lines() {
		if a.ID == question && a.Over {
			why = a.Why
		}
	}
	return why
}

// Open returns the questions that nobody has noted as over, the oldest first. The process
// that asked may be gone.
func (s Asks) Open() []Asked {
	var open []Asked
	for a := range s.lines() {
		open = slices.DeleteFunc(open, func(o Asked) bool { return o.ID == a.ID })
		if !a.Over {
			open = append(open, a)
		}
	}
	return open
}

// lines returns the lines of the file.
func (s Asks) lines() iter.Seq[Asked] {
	return func(yield func(Asked) bool) {
		data, err := os.ReadFile(s.path)
		if err != nil {
			return
		}
		for line := range bytes.Lines(data) {
			var a Asked
			if json.Unmarshal(line, &a) == nil && !yield(a) { // a crash cuts the last line off
				return
			}
		}
	}
}
