package acp

import (
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// The system prompt precedes the first prompt of a session and any prompt that restores the
// window.
func TestSystemTextInThePrompt(t *testing.T) {
	for name, test := range map[string]struct {
		turn     runner.Turn
		prompted bool
		want     int // parts of the prompt
	}{
		"new session":             {runner.Turn{Session: runner.Session{How: runner.New}}, false, 2},
		"its second turn":         {runner.Turn{Session: runner.Session{How: runner.New}}, true, 1},
		"resumed session":         {runner.Turn{Session: runner.Session{How: runner.Resume}}, false, 1},
		"after a compaction":      {runner.Turn{Session: runner.Session{How: runner.Resume}, Recalls: true}, true, 2},
		"without a system prompt": {runner.Turn{Session: runner.Session{How: runner.New}, Spec: runner.Spec{System: "-"}}, false, 1},
	} {
		turn := test.turn
		turn.Prompt = "work"
		if turn.Spec.System == "" {
			turn.Spec.System = "you are coder"
		} else {
			turn.Spec.System = ""
		}
		e := exchange{turn: turn, session: &session{}}
		e.session.prompted = test.prompted
		blocks := e.promptBlocks()
		if len(blocks) != test.want || blocks[len(blocks)-1].Text.Text != "work" {
			t.Errorf("%s: %d parts, want %d with the prompt at the end", name, len(blocks), test.want)
		}
	}
}
