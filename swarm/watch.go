package swarm

import (
	"context"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/supervisor"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
	"github.com/claude-swarm/claude-swarm/swarm/whisper"
)

// messageOf returns the id of a turn's message.
func messageOf(turn string) string {
	id, _, _ := strings.Cut(turn, "-")
	return id
}

// watched starts supervising a turn, and returns the function that receives the turn's
// events.
func (a *agent) watched(rec *journal.Record, m *dropbox.Message, heard *whisper.Turn) turn.Observer {
	if a.plan().Supervisor == nil {
		return heard.Event
	}
	w := a.supervisor.Watch(a.name)
	w.Begin(supervisor.Turn{ID: rec.Turn, Message: rec.Message, Task: mail.Describe(m), Tools: a.kind().Tools, Writes: mayWrite(a.spec().Client)})
	return observers(heard.Event, w.Event)
}

// unwatched stops supervising the turn.
func (a *agent) unwatched() {
	if a.plan().Supervisor != nil {
		a.supervisor.Watch(a.name).End()
		a.noteStuck()
	}
	a.inbox.Note(a.whispers.TakeBack(a.name))
}

func observers(all ...turn.Observer) turn.Observer {
	return func(ev *streamjson.Event) {
		for _, o := range all {
			o(ev)
		}
	}
}

// whisperTold returns the functions through which the agent learns what happens to
// whispers.
func (a *agent) whisperTold() whisper.Told {
	return whisper.Told{
		Shown: func(w whisper.Whisper) {
			a.log.Info("whisper was read", "type", w.Type, keyTurn, w.Turn, "way", string(w.Way))
		},
		Note: a.inbox.Note,
		Wake: a.wakeup.wake,
	}
}

// giveUp gives up the message that a person aborted while no turn was working on it. It
// returns false if no abort was ordered, or if the order must wait. A hold on the agent
// does not delay the order, because no turn begins. A halted swarm delays it, because
// no message can be claimed. An attached session also delays it, because the session
// has claimed the mail.
func (a *agent) giveUp(kill context.Context) (bool, error) {
	g := a.holds.Of(a.name).GiveUp
	if g == nil || a.control.attached() || a.store.Halted() {
		return false, nil
	}
	if err := a.settleLeft(kill); err != nil {
		return false, err
	}
	entries, err := a.inbox.Box.List()
	if err != nil {
		return false, err
	}
	if i := slices.IndexFunc(entries, func(e dropbox.Entry) bool { return e.ID == g.Message }); i >= 0 {
		a.unsettled = true // if the disk refuses a step, the message is left in cur/
		j, err := a.inbox.Claim(entries[i])
		if err == nil && j != nil {
			err = a.inbox.GiveUp(j.Claim, "aborted by "+g.By)
		}
		if err != nil {
			return false, err
		}
		a.unsettled = false
		a.inbox.Settled()
		if j == nil && a.store.Halted() {
			return false, nil
		}
	}
	cut := Cut{Message: g.Message, State: dropbox.Done} // the turn had already succeeded
	letters, err := a.inbox.Box.DeadLetters().List()
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(letters, func(d dropbox.DeadLetter) bool { return d.ID == g.Message }) {
		cut.State = dropbox.Dead
	}
	a.control.gaveUp(cut)
	return true, a.holds.Change(a.name, func(st *journal.Hold) { st.GiveUp = nil })
}
