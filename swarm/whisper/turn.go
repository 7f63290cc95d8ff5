package whisper

import (
	"strings"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Turn delivers whispers to one turn of an agent, and determines from the events of the
// turn's client which of the whispers the client has read. Only the goroutine that runs
// the turn uses it.
type Turn struct {
	store *Store
	agent string
	turn  string
	uuid  string // UUID of the prompt
	heard bool   // the client has read the prompt
	open  map[string]bool
	told  Told
}

// Told contains the functions that a [Turn] calls.
type Told struct {
	Shown func(Whisper) // called when the client has read a whisper
	Note  func(error)   // called when a whisper could not be written
	Wake  func()        // called when Next should be called soon
}

// Turn returns the [Turn] that delivers whispers to the turn with this record.
func (s *Store) Turn(rec *journal.Record, t Told) *Turn {
	return &Turn{store: s, agent: rec.Agent, turn: rec.Turn, uuid: journal.PromptUUID(rec.Turn), open: map[string]bool{}, told: t}
}

// Head assigns the waiting whispers to the turn's prompt, and returns them as lines.
func (t *Turn) Head() []string {
	given, err := t.store.Give(t.agent, t.turn, ByPrompt, 0, nil)
	t.logErr(err)
	var lines []string
	for _, w := range given {
		lines = append(lines, w.Line())
	}
	return lines
}

// Next gives the next whisper to the running client if the client is certain to call the
// model again.
func (t *Turn) Next() (runner.Steer, bool) {
	if len(t.open) == 0 || t.store.Waiting(t.agent) == 0 {
		return runner.Steer{}, false
	}
	given, err := t.store.Give(t.agent, t.turn, BySteering, 1, func(w Whisper) string { return journal.PromptUUID(t.turn + "+" + w.Key) })
	if t.logErr(err); len(given) == 0 {
		return runner.Steer{}, false
	}
	return runner.Steer{UUID: given[0].UUID, Prompt: steerText(given[0]), Aside: true}, true
}

// Dropped marks a whisper as waiting again after the client has dropped it.
func (t *Turn) Dropped(uuid string) {
	t.logErr(t.store.takeBack(t.agent, func(w Whisper) bool { return w.UUID == uuid }))
}

// steerText returns the text that the client reads, which is the whisper with an
// explanation before and after it.
func steerText(w Whisper) string {
	return "claude-swarm: a whisper from your supervisor, while you work\n\n" + w.Line() + "\n\n" +
		"Take note of it and continue. No other agent sees this, and nobody is waiting for an answer to it.\n"
}

// Event processes an event from the client.
func (t *Turn) Event(ev *streamjson.Event) {
	switch ev.Kind {
	case streamjson.KindReplay:
		if ev.UUID == t.uuid {
			t.hears()
		} else if t.store.given(t.agent) {
			t.shown(func(w Whisper) bool { return w.UUID == ev.UUID })
		}
	case streamjson.KindAssistant:
		t.hears()
		for _, b := range ev.Blocks {
			if b.Kind == streamjson.BlockToolUse && ev.Parent == "" {
				t.open[strings.Clone(b.ID)] = true
				if t.told.Wake != nil && t.store.Waiting(t.agent) > 0 {
					t.told.Wake()
				}
			}
		}
	case streamjson.KindUser:
		for _, b := range ev.Blocks {
			if b.Kind == streamjson.BlockToolResult && ev.Parent == "" {
				delete(t.open, b.ID)
			}
		}
	case streamjson.KindResult:
		clear(t.open)
	}
}

// hears records that the client has read the prompt and the whispers at its beginning.
func (t *Turn) hears() {
	if !t.heard {
		t.heard = true
		if t.store.given(t.agent) {
			t.shown(func(w Whisper) bool { return w.Way == ByPrompt })
		}
	}
}

func (t *Turn) shown(pick func(Whisper) bool) {
	shown, err := t.store.Shown(t.agent, t.turn, pick)
	t.logErr(err)
	for _, w := range shown {
		t.told.Shown(w)
	}
}

func (t *Turn) logErr(err error) {
	if err != nil {
		t.told.Note(err)
	}
}
