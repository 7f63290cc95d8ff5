package turn

import (
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A sink takes the events of a turn to one place. Secrets are removed from the events. Only
// the goroutine that runs the turn calls it. It must not retain the event.
type sink interface{ event(ev *streamjson.Event) }

// A tracker passes the events of one turn to its sinks. Only the goroutine that runs the turn
// uses it.
type tracker struct {
	turns    *Turns
	settings Settings
	kind     *runner.Kind
	memory   *memory
	rec      *journal.Record
	begun    func() // called after the client has started; may be nil

	sinks      []sink
	prompt     *promptTaken
	context    *contextWatch
	status     *status
	unrecorded error // error if the record could not be made durable; if set, no prompt was sent
}

// track returns the tracker for the turn with this record. begun and observe may be nil.
//
// The tracker calls the sinks in the order of the list. A new place for events is a row in it.
// The order is a promise:
//
//   - The observer hears of an event before this package does anything about it.
//   - The text that the prompt gave back is dropped before a compaction saves the text that the
//     next prompt must give back. That text is durable before the status says that there was a
//     compaction.
//   - The status has an event before the feed and the log, so that a person who sees a line
//     finds a status that is not older.
//   - The feed has the raw line before the log's lines about it, which also go to the feed.
//   - The window is last, so that a compaction saves what was in the window before its event.
//
// Before the first event, [tracker.started] has made the record durable. After the last one,
// [tracker.end] saves the window.
func (t *Turns) track(s Settings, mem *memory, rec *journal.Record, begun func(), observe Observer) *tracker {
	kind := t.kind(s)
	follow := &tracker{
		turns: t, settings: s, kind: kind, memory: mem, rec: rec, begun: begun,
		prompt: &promptTaken{turns: t, memory: mem, reinjected: rec.Reinjected},
		status: &status{turns: t, kind: kind, turn: rec.Turn, named: s.Client.Model != ""},
		context: &contextWatch{
			turns: t, kind: kind, memory: mem, rec: rec,
			compactions: compactions{home: t.Home, hooks: kind.Hooks, turn: rec.Turn, reinjected: rec.Reinjected},
		},
	}
	follow.sinks = []sink{
		observed{observe},
		follow.prompt,
		&progress{view: &t.View},
		follow.context,
		follow.status,
		learned{turns: t, kind: kind, how: rec.How},
		toolCalls{turns: t, rec: rec, tools: mem.tools, dir: s.Client.Dir},
		&unreadable{log: t.agentLog, message: rec.Message},
		fed{feed: t.Feed, agent: t.name, message: rec.Message},
		logged{log: t.agentLog, message: rec.Message, tools: mem.tools},
		mem,
	}
	follow.context.begin()
	return follow
}

// started makes the record durable before the prompt is sent. At this point the client is
// starting, but it does nothing without a prompt.
func (t *tracker) started(p runner.Process) error {
	t.rec.Process = p
	t.turns.Runs.started(p) // first, so that Restore does not replace the record with one that lacks the process
	if t.unrecorded = t.rec.Write(t.turns.Home); t.unrecorded != nil {
		return t.unrecorded
	}
	if t.begun != nil {
		t.begun()
	}
	t.turns.View.process(p.PID)
	t.turns.Note(journal.WritePIDFile(t.turns.Home.PIDFile(t.turns.name), p, t.rec.Mark()))
	return nil
}

// event removes the secrets from an event, and passes it to the sinks.
func (t *tracker) event(ev *streamjson.Event) {
	ev = t.turns.secrets.event(t.kind, ev)
	for _, s := range t.sinks {
		s.event(ev)
	}
}

// end removes the secrets from the outcome of the turn, saves the window, and updates the
// status. The parameter stays reports whether the client is kept for the next turn.
func (t *tracker) end(out *runner.Outcome, stays bool) {
	t.turns.Calls.TurnEnded(t.turns.name)
	t.turns.secrets.outcome(out)
	out.Compactions += t.context.fallen
	if t.prompt.taken {
		t.turns.Note(t.memory.save(t.rec.Turn))
	}
	tokens := out.ContextTokens
	if t.status.unsized {
		tokens = 0 // the size before the compaction
	}
	t.turns.View.learn(out.Session, out.Model, tokens, 0)
	t.turns.View.billing(out.Billing)
	out.ContextLimit = t.turns.View.limitFor(out.ContextLimit, t.status.named)
	t.turns.View.learn("", "", 0, out.ContextLimit)
	t.status.sized()
	t.turns.View.process(0)
	if !stays {
		journal.RemovePIDFile(t.turns.Home.PIDFile(t.turns.name))
	}
}
