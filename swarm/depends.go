package swarm

import (
	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// dependency returns the message for which m waits, or nil. If that cannot be read, m waits for
// the next check.
func (t *tasks) dependency(m *dropbox.Message) *hold.Dependency {
	d, err := t.depends.Of(m, t.version.Load())
	switch {
	case err != nil:
		t.note(err)
		return &hold.Dependency{ID: m.DependsOn[0]}
	case d == nil:
		return nil
	}
	return &hold.Dependency{ID: d.ID, Lost: d.Lost, Next: d.Next}
}

// tellLost tells the lead once that a message waits for another one that will not come to a good
// end.
func (a *agent) tellLost(m *dropbox.Message, d *hold.Dependency) {
	if d == nil || d.Lost == "" {
		return
	}
	told := m.ID + ":" + d.ID
	if a.waits.told[told] {
		return
	}
	if a.waits.told == nil {
		a.waits.told = map[string]bool{}
	}
	a.waits.told[told] = true
	a.notices.Tell(notice.LostDependency{Agent: a.name, Message: m.ID, Title: mail.Describe(m), Dependency: d.ID, Why: d.Lost, Next: d.Next})
}
