package swarm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// ErrNoTurn says that an agent has no running turn to end.
var ErrNoTurn = errors.New("no turn is running")

// ErrStopping says that the daemon ends as soon as its running turns have, and
// takes no more orders that begin something.
var ErrStopping = errors.New("the daemon is stopping")

// A StoppedError says that an agent is stopped, so that there is no pause to end.
type StoppedError struct{ Name string }

func (e *StoppedError) Error() string { return e.Name + " is stopped, not paused" }

// An AttachedError says that a person runs the session of an agent, which therefore
// does not do what the daemon orders.
type AttachedError struct{ Name string }

func (e *AttachedError) Error() string {
	return "a person runs the session of " + e.Name + ", not the daemon"
}

// A PauseOrder says who pauses an agent, why, and for how long; For is 0 for
// "until somebody resumes it".
type PauseOrder struct {
	By, Why string
	For     time.Duration
}

// Pause keeps an agent from beginning another turn. A running one goes on to
// its end. It lives through a restart.
func (s *Swarm) Pause(agent string, o PauseOrder) error {
	now := time.Now().UTC().Round(0) // by the clock on the wall, also on a machine that slept
	p := &journal.Pause{By: o.By, Why: o.Why, Since: now}
	if o.For > 0 {
		p.Until = now.Add(o.For)
	}
	return s.steer(agent, func(st *journal.Hold) {
		if s.fromPerson(o.By) || !s.forPerson(journal.Hold{Paused: st.Paused}) { // else an agent could end that pause
			st.Paused = p
		}
	})
}

// StartAgent starts a stopped agent, with its failures forgotten. One that was paused
// since it began too many turns goes on too, if a person starts it. To an agent that is
// a [*PersonError], and so is one that a person stopped or paused.
func (s *Swarm) StartAgent(agent, by string) error {
	if s.stopping() {
		return ErrStopping
	}
	if !s.fromPerson(by) && s.forPerson(s.holds.Of(agent)) {
		return &PersonError{Name: agent}
	}
	return s.steer(agent, func(st *journal.Hold) {
		fresh := journal.Hold{Paused: st.Paused, Order: st.Order, Word: st.Word}
		s.word(agent, by, &fresh)
		if fresh.Paused != nil && fresh.Paused.Turns {
			fresh.Paused = nil
		}
		*st = fresh
	})
}

// stopping tells whether Run was told to end.
func (s *Swarm) stopping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over || s.run != nil && s.run.stop.Err() != nil
}

// steer changes what is remembered of an agent, and wakes it.
func (s *Swarm) steer(agent string, f func(*journal.Hold)) error {
	m, err := s.member(agent)
	if err != nil {
		return err
	}
	// What was sent just before may not have been heard of yet. Before the change: an
	// agent that is awake would else go on by it with an older message.
	m.inbox.Queue.Changed("")
	if err := s.holds.Change(agent, f); err != nil {
		return err
	}
	m.bell.ring()
	return nil
}

// A Cut says what became of the message of a turn that was ended by an order. A turn that
// compacts the context has no message, and the Cut says what became of the compaction.
type Cut struct {
	Message string `json:"message"` // its id; "" is none
	// State is [dropbox.Done] where the turn ended well before it could be ended,
	// [dropbox.Dead] where its message is given up, [dropbox.Waiting] where it waits again.
	State dropbox.State `json:"state"`
}

// Abort ends the running turn of an agent and gives its message up: it goes to
// dead/, its sender is told, and the agent goes on with its next message. A turn
// whose good result comes anyway is done, since its work must not be done
// again. Abort returns when the turn has ended, [ErrNoTurn] when there is none.
func (s *Swarm) Abort(ctx context.Context, agent, by string) (Cut, error) {
	return s.cutShort(ctx, agent, by, "", errAborted)
}

// Interrupt ends the running turn of an agent and puts its message back, with
// nothing counted: the agent goes on with the first of its mail, which is what is
// urgent. A turn that already works on the message urgent keeps running; one whose
// good result comes anyway is done, as with [Swarm.Abort]. Interrupt returns
// when the turn has ended, [ErrNoTurn] when there is none to end.
func (s *Swarm) Interrupt(ctx context.Context, agent, by, urgent string) (Cut, error) {
	return s.cutShort(ctx, agent, by, urgent, errInterrupted)
}

// cutShort ends the turn of an agent, unless it is about the message except.
func (s *Swarm) cutShort(ctx context.Context, agent, by, except string, why error) (Cut, error) {
	m, err := s.member(agent)
	if err != nil {
		return Cut{}, err
	}
	ended, cut, ok := m.control.cutShort(by, except, why)
	if !ok {
		return Cut{}, fmt.Errorf("%s: %w", agent, ErrNoTurn)
	}
	select {
	case <-ended:
		return *cut, nil // nobody writes it any more
	case <-ctx.Done():
		return Cut{}, ctx.Err()
	}
}

// Changes say what a new plan changed.
type Changes struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Changed []string `json:"changed"`
}

// Reload puts a new plan into force. Running turns go on as they began; an
// agent that is no longer in the plan leaves after its turn, and its mail
// stays. An error changes nothing.
func (s *Swarm) Reload(p Plan) (Changes, error) {
	var c Changes
	names := []string{dropbox.Lead, dropbox.Swarm}
	for _, spec := range p.Agents {
		names = append(names, spec.Name)
		if turn.BackendOf(s.deps.Backends, spec.Backend) == nil {
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
		if m.control.set(spec) {
			m.view.described(spec)
			c.Changed = append(c.Changed, name)
		}
		m.bell.ring()
	}
	for name, m := range fresh {
		if s.run.watcher != nil {
			// Without a watch it is looked at now and then, and the next sweep
			// tries again.
			if err := s.run.watcher.Add(name); err != nil {
				s.log.Warn("mailbox cannot be watched", keyAgent, name, keyErr, err)
			}
		}
		m.after = s.left[name]
		s.agents[name] = m
		s.launch(m, func() {})
		c.Added = append(c.Added, name)
	}
	s.current = p
	s.slots.resize(p.maxRunning())
	s.deps.Waiting.Resize(p.maxWarm())
	s.intake.bell.ring() // what lies in the folder of a new agent, and another debounce
	slices.Sort(c.Added)
	slices.Sort(c.Removed)
	slices.Sort(c.Changed)
	return c, nil
}

// Subscribe begins to listen to what happens. The caller closes the
// subscription.
func (s *Swarm) Subscribe(f Filter) *Subscription { return s.feed.subscribe(f) }

// pendingHold is what a running turn does not show: what holds the agent when the turn has
// ended; "" for nothing.
func pendingHold(st journal.Hold, agent string) (why, next string) {
	switch {
	case st.Stopped != nil:
		return "stops when this turn has ended: " + st.Stopped.Reason(), "claude-swarm start " + agent + ", if it is to go on"
	case st.Paused.Holds(time.Now()):
		return "is paused when this turn has ended: " + st.Paused.Reason(), "claude-swarm resume " + agent + ", if it is to go on"
	}
	return "", ""
}

// both joins two reasons; the first may be "".
func both(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// Status is a picture of the named agents, or of all. What cannot be counted for the
// moment, as where the daemon may open no file more, is said as trouble: what the
// agents do and why is known anyway.
func (s *Swarm) Status(names ...string) (Status, error) {
	st := Status{
		V: 1, Project: s.deps.Project, Halted: s.store.Halted(), Reason: screen.Short(s.store.HaltReason(), maxWhy), Trouble: append(s.troubles(), s.fullDisks()...),
		Daemon: &DaemonStatus{PID: os.Getpid(), Since: s.started, Version: s.opts.Version, Stopping: s.stopping(), Goroutines: runtime.NumGoroutine()},
		Agents: []AgentStatus{},
	}
	uncounted := error(nil)
	members := s.members()
	if len(names) > 0 {
		members = nil
		for _, name := range names {
			m, err := s.member(name)
			if err != nil {
				return Status{}, err
			}
			members = append(members, m)
		}
	}
	now := time.Now()
	for _, m := range members {
		a := m.view.status(m.turns.View.Picture())
		if a.State == Working {
			if why, next := pendingHold(s.holds.Of(m.name), m.name); why != "" {
				a.Why, a.Next = both(a.Why, why), next
			}
			if q := s.home.Asks(m.turns.Runs.Turn()); q != nil {
				showAsked(q, &a, s.Plan())
			}
		}
		if a.Waiting = m.inbox.Queue.Waiting(); m.inbox.Queue.Stale() || a.Waiting.Total() > 0 || a.State != Idle && a.State != Working {
			// Somebody may have taken back what an agent has in hand; and one
			// that is busy, or may not work, does not look.
			entries, err := m.list()
			if uncounted = cmp.Or(uncounted, err); err == nil {
				a.Waiting = countWaiting(entries)
			}
		}
		if a.Warm != nil {
			a.Warm.Measure()
		}
		a.CostUSD = s.ledger.Cost(m.name, now)
		var err error
		a.Dead, err = m.inbox.Box.DeadLetters().Count()
		uncounted = cmp.Or(uncounted, err)
		a.Drops, err = m.inbox.Box.Drops().Count()
		uncounted = cmp.Or(uncounted, err)
		st.Agents = append(st.Agents, a)
	}
	unread, questions, err := forLead(s.store)
	st.Lead = LeadStatus{Unread: unread, Questions: questions, Agent: s.Plan().Lead, Name: s.Plan().LeadName}
	uncounted = cmp.Or(uncounted, err)
	gone, err := goneTrouble(s.home, s.store, s.Plan().Agents)
	st.Trouble = append(st.Trouble, gone...)
	uncounted = cmp.Or(uncounted, err)
	st.Gate, err = gateStatus(s.store, s.Plan().Agents, now)
	if uncounted = cmp.Or(uncounted, err); uncounted != nil {
		st.Trouble = append(st.Trouble, Problem{Why: "not everything could be counted: " + uncounted.Error()})
	}
	return st, nil
}

// troubles are the complaints of the daemon.
func (s *Swarm) troubles() []Problem {
	var all []Problem
	for _, why := range s.mail.Trouble.List() {
		all = append(all, Problem{Why: why})
	}
	return all
}
