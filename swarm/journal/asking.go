package journal

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// An Asked is a line of a turn's .asks file. It says that a process of the turn waits for
// an answer, or waits no more. The file only grows: several questions can wait at once, and
// after a crash a line may name a process that is gone.
type Asked struct {
	ID      string         `json:"id"`           // of the question
	Of      string         `json:"of,omitempty"` // an agent, the lead, or a channel or nick of IRC
	Since   time.Time      `json:"since,omitzero"`
	Until   time.Time      `json:"until,omitzero"`
	Process runner.Process `json:"process,omitzero"` // that waits
	Over    bool           `json:"over,omitempty"`
}

// Asks notes in the running turn that it waits for the answer to a question, for patience
// at most. The status shows that; the caller calls over when it waits no more. Outside a
// turn Asks does nothing. If it cannot write the note, only the status lacks it.
func (id Identity) Asks(question, of string, patience time.Duration) (over func()) {
	if id.Turn == "" {
		return func() {}
	}
	p, err := runner.Identify(os.Getpid())
	if err != nil {
		return func() {}
	}
	now := time.Now().UTC()
	note := func(a Asked) {
		data, err := json.Marshal(a)
		if err != nil {
			return
		}
		f, err := os.OpenFile(id.home.TurnFile(id.Turn, ".asks"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return
		}
		defer f.Close()
		_, _ = f.Write(append(data, '\n'))
	}
	note(Asked{ID: question, Of: of, Since: now, Until: now.Add(patience), Process: p})
	return func() { note(Asked{ID: question, Over: true}) }
}

// Asks is the question that a turn has waited for longest; nil when it waits for no answer.
func (h Home) Asks(turn string) *Asked {
	data, err := os.ReadFile(h.TurnFile(turn, ".asks"))
	if err != nil {
		return nil
	}
	var open []Asked
	for line := range bytes.Lines(data) {
		var a Asked
		if json.Unmarshal(line, &a) != nil {
			continue // cut off by a crash
		}
		open = slices.DeleteFunc(open, func(o Asked) bool { return o.ID == a.ID })
		if !a.Over {
			open = append(open, a)
		}
	}
	for _, a := range open {
		if a.Process.Alive() {
			return &a
		}
	}
	return nil
}
