package swarm

import (
	"fmt"
	"slices"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// Changes lists the changes in a new plan: names of agents, and keys of the
// configuration.
type Changes struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Changed []string `json:"changed"`
	Keys    []string `json:"keys"` // the other keys of the configuration that changed
	// Grown lists the rights of agents that grew, one line each, for a person to read.
	Grown []string `json:"grown"`
}

// Reload replaces the plan. Running turns keep their settings. An agent that is no longer
// in the plan leaves after its turn, and its mail remains. If Reload returns an error,
// the old plan remains in effect.
func (s *Swarm) Reload(p Plan) (Changes, error) {
	c, err := s.replacePlan(p)
	if err == nil {
		s.budget.settleOver()
		s.stuckHolds.settleFreed()
		s.answers.wake() // nobody waits for the answers to the questions of a removed agent
	}
	return c, err
}

// replacePlan implements Reload.
func (s *Swarm) replacePlan(p Plan) (Changes, error) {
	var c Changes
	names := []string{dropbox.Lead, dropbox.Swarm}
	for _, spec := range p.Agents {
		names = append(names, spec.Name)
		if turn.BackendOf(s.turnDeps.Backends, spec.Backend) == nil {
			return c, fmt.Errorf("agent %s: no backend %q", spec.Name, spec.Backend)
		}
	}
	if err := s.tokens.Add(names...); err != nil {
		return c, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil || s.run.stop.Err() != nil {
		return c, ErrStopping
	}
	fresh := map[string]*member{}
	for _, spec := range p.Agents {
		if s.agents[spec.Name] != nil {
			continue
		}
		m, err := s.newMember(spec, p.Log)
		if err != nil {
			return Changes{}, err
		}
		fresh[spec.Name] = m
	}
	for name, m := range s.agents {
		spec, keep := p.spec(name)
		if !keep {
			m.leave()
			delete(s.agents, name)
			s.left[name] = m.gone
			if s.run.watcher != nil {
				s.run.watcher.Remove(name)
			}
			c.Removed = append(c.Removed, name)
			continue
		}
		// With its new settings the agent may work again. A message that was sent just
		// before the reload may be missing from its queue; see steer.
		m.inbox.Queue.Changed("")
		if m.control.set(spec) {
			m.view.described(spec)
			c.Changed = append(c.Changed, name)
		}
		m.wakeup.wake()
	}
	for name, m := range fresh {
		if s.run.watcher != nil {
			// Without a watch, only the sweep checks the mailbox. The next sweep tries
			// again to watch it.
			if err := s.run.watcher.Add(name); err != nil {
				s.log.Warn("mailbox could not be watched", keyAgent, name, keyErr, err)
			}
		}
		m.after = s.left[name]
		s.agents[name] = m
		s.launch(m, func() {})
		c.Added = append(c.Added, name)
	}
	s.current = p
	s.book.SetRules(p.budget())
	s.notices.Trouble.Clear(judgeTrouble) // the next judgement shows whether the judge still fails
	s.supervisor.Configure(p.supervision(), s.judging.judge(p))
	for _, name := range c.Removed {
		s.supervisor.Forget(name)
	}
	s.slots.resize(p.maxRunning())
	s.turnDeps.Waiting.Resize(p.maxWarm())
	s.intake.wakeup.wake() // there may be new files or a new debounce
	slices.Sort(c.Added)
	slices.Sort(c.Removed)
	slices.Sort(c.Changed)
	return c, nil
}
