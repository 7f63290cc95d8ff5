package swarm

import (
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// contextNotices tells people about agents whose context is nearly full.
type contextNotices struct {
	member   func(name string) (*member, error)
	backends map[string]runner.Backend
	holds    *journal.Holds
	notices  *notice.Teller
}

// sized tells people once that an agent's context is nearly full. They are told
// again if it has fallen in the meantime, or was compacted or cleared. It is called on the
// agent's goroutine.
//
// The notice is in the event list before the agent's hold says that people were told. If
// the daemon dies between the two, the next daemon reads the turn's events again, reaches
// the same size, and adds the notice with the same key.
func (f *contextNotices) sized(agent, turnID string, c journal.Context) {
	told := !f.holds.Of(agent).ContextFull.IsZero()
	m, err := f.member(agent)
	if err != nil || c.IsNearlyFull() == told {
		return
	}
	if told {
		m.inbox.Note(f.holds.Change(agent, func(st *journal.Hold) { st.ContextFull = time.Time{} }))
		return
	}
	commands := roomFor(f.backends, m.spec())
	if len(commands) == 0 {
		return
	}
	full := notice.ContextFull{Agent: agent, Turn: turnID, Context: c, Commands: commands}
	m.inbox.AgentLog.Line(messageOf(turnID), "~ "+notice.Text(full))
	m.log.Warn("context is nearly full", keyTurn, turnID, "tokens", c.Tokens, "limit", c.Limit)
	err = f.notices.Add(full)
	if err == nil {
		err = f.holds.Change(agent, func(st *journal.Hold) { st.ContextFull = time.Now().UTC() })
	}
	m.inbox.Note(err)
}

// roomFor returns the commands that make room in an agent's context, the mildest first. It
// returns none if each message begins a new session anyway.
func roomFor(backends map[string]runner.Backend, spec Spec) (commands []string) {
	if spec.Session == turn.SessionFresh {
		return nil
	}
	if _, can := turn.BackendOf(backends, spec.Backend).(runner.Compacter); can {
		commands = append(commands, "claude-swarm compact "+spec.Name)
	}
	return append(commands, "claude-swarm clear "+spec.Name)
}
