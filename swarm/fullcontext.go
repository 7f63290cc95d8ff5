package swarm

import (
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// contextSized tells people once that an agent's context is nearly full. They are told
// again if it has fallen in the meantime, or was compacted or cleared. It is called on the
// agent's goroutine.
//
// The notice is in the event list before the agent's hold says that people were told. If
// the daemon dies between the two, the next daemon reads the turn's events again, reaches
// the same size, and adds the notice with the same key.
func (s *Swarm) contextSized(agent, turnID string, c journal.Context) {
	told := !s.holds.Of(agent).ContextFull.IsZero()
	m, err := s.member(agent)
	if err != nil || c.IsNearlyFull() == told {
		return
	}
	if told {
		m.inbox.Note(s.holds.Change(agent, func(st *journal.Hold) { st.ContextFull = time.Time{} }))
		return
	}
	commands := s.roomFor(m.spec())
	if len(commands) == 0 {
		return
	}
	full := notice.ContextFull{Agent: agent, Turn: turnID, Context: c, Commands: commands}
	m.inbox.AgentLog.Line(messageOf(turnID), "~ "+notice.Text(full))
	m.log.Warn("context is nearly full", keyTurn, turnID, "tokens", c.Tokens, "limit", c.Limit)
	err = s.notices.Add(full)
	if err == nil {
		err = s.holds.Change(agent, func(st *journal.Hold) { st.ContextFull = time.Now().UTC() })
	}
	m.inbox.Note(err)
}

// roomFor returns the commands that make room in an agent's context, the mildest first. It
// returns none if each message begins a new session anyway.
func (s *Swarm) roomFor(spec Spec) (commands []string) {
	if spec.Session == turn.SessionFresh {
		return nil
	}
	if _, can := turn.BackendOf(s.turnDeps.Backends, spec.Backend).(runner.Compacter); can {
		commands = append(commands, "claude-swarm compact "+spec.Name)
	}
	return append(commands, "claude-swarm clear "+spec.Name)
}
