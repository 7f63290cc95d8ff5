package swarm

import (
	"log/slog"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/supervisor"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
	"github.com/claude-swarm/claude-swarm/swarm/whisper"
)

// messageOf returns the id of a turn's message.
func messageOf(turn string) string {
	id, _, _ := strings.Cut(turn, "-")
	return id
}

// supervision connects the turns of one agent with the supervisor, which gets their events, and
// with the whispers, which the turns' clients read. Only the agent's goroutine uses it, except
// for told.
type supervision struct {
	name       string
	supervisor *supervisor.Supervisor
	whispers   *whisper.Store
	stuck      *stuckHolds
	holds      *journal.Holds
	mail       *mail.Service
	plan       func() Plan
	hidden     *turn.Secrets
	wake       func() // wakes the agent
	log        *slog.Logger
}

// watch starts supervising a turn, and returns the function that receives the turn's events.
func (v *supervision) watch(rec *journal.Record, m *dropbox.Message, kind *runner.Kind, client runner.Spec, heard *whisper.Turn) turn.Observer {
	if v.plan().Supervisor == nil {
		return heard.Event
	}
	w := v.supervisor.Watch(v.name)
	w.Begin(supervisor.Turn{ID: rec.Turn, Message: rec.Message, Task: mail.Describe(m), Tools: kind.Tools, Writes: mayWrite(client)})
	return observers(heard.Event, w.Event)
}

// end stops supervising the turn.
func (v *supervision) end() {
	if v.plan().Supervisor != nil {
		v.supervisor.Watch(v.name).End()
		v.noteStuck()
	}
	v.takeBack()
}

func observers(all ...turn.Observer) turn.Observer {
	return func(ev *streamjson.Event) {
		for _, o := range all {
			o(ev)
		}
	}
}

// hear returns the whispers for a turn.
func (v *supervision) hear(rec *journal.Record) *whisper.Turn { return v.whispers.Turn(rec, v.told()) }

// takeBack lets the whispers wait that a client had and did not show.
func (v *supervision) takeBack() { v.mail.Note(v.whispers.TakeBack(v.name)) }

// told returns the functions through which the agent learns what happens to whispers.
func (v *supervision) told() whisper.Told {
	return whisper.Told{
		Shown: func(w whisper.Whisper) {
			v.log.Info("whisper was read", "type", w.Type, keyTurn, w.Turn, "way", string(w.Way))
		},
		Note: v.mail.Note,
		Wake: v.wake,
	}
}

// noteStuck records why the agent is stuck at the end of its turn, because the turn may have
// gone on since the escalation.
func (v *supervision) noteStuck() {
	escalation, why, ok := v.stuck.of(v.name)
	if !ok {
		return
	}
	why = v.hidden.Text(why)
	v.mail.Note(v.holds.Change(v.name, func(st *journal.Hold) {
		if st.IsStuck(escalation) {
			st.Paused.Why = why
		}
	}))
}
