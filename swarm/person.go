package swarm

import (
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// A PersonError reports that only a person may let an agent continue.
type PersonError struct{ Name string }

func (e *PersonError) Error() string {
	return "an agent cannot let " + e.Name + " continue: a person holds it, it began too many turns without a person, it is stuck, or it is outside its hours"
}

// forPerson reports whether only a person may end an agent's hold, because a person
// ordered the hold, or because the agent began too many turns or is stuck.
func (or *Orders) forPerson(st journal.Hold) bool {
	ordered := func(by string) bool { return by != dropbox.Swarm && or.fromPerson(by) }
	return st.Paused != nil && (st.Paused.Turns || st.Paused.Stuck != nil || ordered(st.Paused.By)) || st.Stopped != nil && ordered(st.Stopped.By)
}

// fromPerson reports whether an order comes from a person. An order from an agent has the
// agent's name, because the control socket identifies its caller.
func (or *Orders) fromPerson(by string) bool {
	_, err := or.member(by)
	return err != nil
}

// word resets the agent's turn count if an order comes from a person. The caller saves
// the hold, so the reset survives a restart.
func (or *Orders) word(agent, by string, st *journal.Hold) {
	if !or.fromPerson(by) {
		return
	}
	if or.counts.Word(agent) || st.Paused != nil && st.Paused.Turns {
		st.Word = time.Now().UTC()
	}
}

// pauseForTurns pauses the agent, because a turn for this message would exceed the limit on
// turns, and tells the lead once.
func (a *agent) pauseForTurns(m *dropbox.Message, p *journal.Pause) {
	why := p.Why
	a.log.Warn("agent was paused", keyWhy, why, keyMessage, m.ID)
	a.inbox.Note(a.holds.Change(a.name, func(s *journal.Hold) { s.Paused = p }))
	a.notices.Tell(notice.TooManyTurns{Agent: a.name, Why: why, Since: p.Since, Message: m.ID, From: m.From, Title: mail.Describe(m)})
}
