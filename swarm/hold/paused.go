package hold

import (
	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// KindPaused is the kind of [Paused].
const KindPaused Kind = "paused"

// Paused holds an agent that a person, an agent or the daemon paused, until it is resumed,
// its time is over, or one of its questions is answered.
type Paused struct{}

// Over implements [Ender].
func (Paused) Over(q Query) *End {
	p := q.Record.Paused
	switch {
	case p == nil:
		return nil
	case !p.Holds(q.Now):
		return endOf(p, "its pause is over")
	case q.Answered != nil && q.Answered(p):
		return endOf(p, "its question has been answered")
	}
	return nil
}

func endOf(p *journal.Pause, why string) *End {
	return &End{Why: why, Since: p.Since, Forget: func(s *journal.Hold) {
		if s.Paused != nil && s.Paused.Since.Equal(p.Since) { // nobody has paused it since then
			s.Paused = nil
		}
	}}
}

// Now implements [Hold].
func (Paused) Now(q Query) (Held, bool) {
	p := q.Record.Paused
	if !p.Holds(q.Now) {
		return Held{}, false
	}
	next := "claude-swarm resume " + q.Agent
	if p.Stuck != nil {
		next += ", or claude-swarm abort " + q.Agent
	}
	for _, asked := range p.Questions {
		if asked.Of == dropbox.Lead || dropbox.IsBridge(asked.Of) {
			next = "claude-swarm reply " + asked.ID + " \"…\", or " + next
			break
		}
	}
	if !p.Until.IsZero() {
		next = "continues on its own at " + screen.Ahead(p.Until, q.Now) + ", or " + next
	}
	return Held{Kind: KindPaused, State: paused, Since: p.Since, Until: p.Until, Why: p.Reason(), Next: next}, true
}
