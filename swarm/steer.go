package swarm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// ErrNoTurn reports that an agent has no running turn to end.
var ErrNoTurn = errors.New("no turn is running")

// ErrStopping reports that the daemon will end once its running turns have ended, and no
// longer accepts orders that begin work.
var ErrStopping = errors.New("the daemon is stopping")

// A StoppedError reports that an agent is stopped, so there is no pause to end.
type StoppedError struct{ Name string }

func (e *StoppedError) Error() string { return e.Name + " is stopped, not paused" }

// An AttachedError reports that a person runs the session of an agent, so that the agent
// does not obey the daemon.
type AttachedError struct{ Name string }

func (e *AttachedError) Error() string {
	return "a person runs the session of " + e.Name + ", not the daemon"
}

// A PauseOrder says who pauses an agent, why, and for how long. If For is 0, the pause
// has no time limit.
type PauseOrder struct {
	By, Why   string
	For       time.Duration
	Questions []PauseQuestion // an answer to any of them ends the pause
}

// A PauseQuestion is a question whose answer a paused agent waits for.
type PauseQuestion = journal.PauseQuestion

// Pause keeps an agent from beginning another turn. A running turn continues until it ends.
// The pause survives a restart.
func (s *Swarm) Pause(agent string, o PauseOrder) error {
	now := time.Now().UTC().Round(0) // by the wall clock, so that time while the machine sleeps counts
	p := &journal.Pause{By: o.By, Why: o.Why, Since: now, Questions: o.Questions}
	if o.For > 0 {
		p.Until = now.Add(o.For)
	}
	return s.steer(agent, func(st *journal.Hold) {
		if s.fromPerson(o.By) || !s.forPerson(journal.Hold{Paused: st.Paused}) { // an agent may not replace a pause that only a person may end
			st.Paused = p
		}
	})
}

// StartAgent starts a stopped agent, and forgets its failures. If a person gives the order,
// it also resumes an agent that was paused because it began too many turns. If an agent
// gives the order, and only a person may end the hold, the error is a [*PersonError].
func (s *Swarm) StartAgent(agent, by string) error {
	if s.stopping() {
		return ErrStopping
	}
	if !s.fromPerson(by) && s.forPerson(s.holds.Of(agent)) {
		return &PersonError{Name: agent}
	}
	if was := s.holds.Of(agent).Stopped; was != nil {
		s.mail.Unpaused(agent, was.Since, "started by "+by, by)
	}
	return s.steer(agent, func(st *journal.Hold) {
		fresh := journal.Hold{Paused: st.Paused, Order: st.Order, Word: st.Word, Overtime: st.Overtime, GiveUp: st.GiveUp}
		s.word(agent, by, &fresh)
		if fresh.Paused != nil && fresh.Paused.Turns {
			fresh.Paused = nil
		}
		*st = fresh
	})
}

// steer changes the hold of an agent, and wakes it.
func (s *Swarm) steer(agent string, f func(*journal.Hold)) error {
	m, err := s.member(agent)
	if err != nil {
		return err
	}
	// The queue may not know yet about a message that was sent just before. The queue is
	// told before the hold changes, because an agent that is awake would otherwise continue
	// with an older message.
	m.inbox.Queue.Changed("")
	if err := s.holds.Change(agent, f); err != nil {
		return err
	}
	m.wakeup.wake()
	m.permits.Wake()
	return nil
}

// Abort ends the running turn of an agent and gives its message up: the message goes to
// dead/, its sender is told, and the agent continues with its next message. If the turn
// delivers a good result anyway, its message is done, because the work must not be done
// twice. Abort returns when the turn has ended. If no turn runs, the error is [ErrNoTurn].
// why may be "".
//
// For an agent that the supervisor has paused because it is stuck, Abort also gives the
// message up if its turn has ended already, and ends the pause. Only a person may do that.
// While everything is halted, Abort then returns at once, and the message is given up when
// the halt ends.
func (s *Swarm) Abort(ctx context.Context, agent, by, why string) (Cut, error) {
	m, err := s.member(agent)
	if err != nil {
		return Cut{}, err
	}
	if stuck := s.holds.Of(agent).StuckIn(); stuck != nil {
		ended, err := s.abortStuck(m, stuck, by)
		if err != nil {
			return Cut{}, err
		}
		if s.store.Halted() && s.holds.Of(agent).GiveUp != nil { // it is given up when the halt ends
			return Cut{Message: stuck.Message, State: dropbox.Waiting}, nil
		}
		select {
		case cut := <-ended:
			return cut, nil
		case <-m.gone:
			return Cut{Message: stuck.Message, State: dropbox.Waiting}, nil

		case <-ctx.Done():
			return Cut{}, ctx.Err()
		}
	}
	if why != "" {
		by += ": " + why
	}
	return s.cutShort(ctx, agent, by, "", errAborted)
}

// Interrupt ends the running turn of an agent and puts its message back, without counting a
// failure: the agent continues with its first waiting message, which is the urgent one. The
// parameter urgent is the id of that message: a turn that is already working on it keeps
// running. If the turn delivers a good result anyway, its message is done, as with
// [Swarm.Abort]. Interrupt returns when the turn has ended. If there is no turn to end,
// the error is [ErrNoTurn].
func (s *Swarm) Interrupt(ctx context.Context, agent, by, urgent string) (Cut, error) {
	return s.cutShort(ctx, agent, by, urgent, errInterrupted)
}

// cutShort ends the turn of an agent, unless except is the id of the turn's message.
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
		return *cut, nil // no goroutine writes to the Cut any more
	case <-ctx.Done():
		return Cut{}, ctx.Err()
	}
}

// ErrNotPaused reports that no hold kept an agent from its mail, so there was nothing to
// end.
var ErrNotPaused = errors.New("was not paused")

// Resume ends the pause of an agent, and lets an agent that waits after a failure or for its
// usage limit try at once. If no hold kept the agent from its mail, the error is
// [ErrNotPaused]. A stopped agent stays stopped, and the error is a [*StoppedError]: see
// [Swarm.StartAgent]. Only a person may resume an agent that a person paused, that began too
// many turns, that is stuck, or that is outside its hours: an agent that tries gets a
// [*PersonError]. An agent that a person resumes outside its hours works until they begin.
func (s *Swarm) Resume(agent, by string) error {
	m, err := s.member(agent)
	if err != nil {
		return err
	}
	if s.holds.Of(agent).Stopped != nil {
		return &StoppedError{Name: agent}
	}
	stuck := s.holds.Of(agent).StuckIn()
	now := time.Now()
	if !s.fromPerson(by) {
		_, off := m.off(now)
		if st := s.holds.Of(agent); off && !st.Paused.Holds(now) || s.forPerson(st) {
			return &PersonError{Name: agent}
		}
	}
	_, _, held := s.holds.LimitOf(m.account(), agent, now)
	if was := s.holds.Of(agent).Paused; was.Holds(now) {
		s.mail.Unpaused(agent, was.Since, "resumed by "+by, by)
	} else if held {
		m.tellLimitOver(m.account(), "tried at once, as requested by "+by, by)
	}
	if err := s.holds.LiftLimit(m.account(), now); err != nil {
		return err
	}
	s.wakeAccount(m.account())
	err = s.steer(agent, func(st *journal.Hold) {
		held = held || st.Paused.Holds(now) || st.Until.After(now)
		s.word(agent, by, st)
		if s.fromPerson(by) && overtime(m.control.hours(), by, st, now) {
			held = true
		}
		st.Paused, st.Until, st.Why = nil, time.Time{}, ""
	})
	if err == nil && stuck != nil {
		err = s.freed(agent, stuck, "resumed by "+by)
	}
	if err == nil && !held {
		return fmt.Errorf("%s %w", agent, ErrNotPaused)
	}
	return err
}

// A person or the agent itself can give an order to clear or compact the memory of the
// agent's client. The order is not carried out within a turn, because the turn is part of
// the memory. It is kept in state.json, and carried out before the next message:
//
//	clear     the next message begins a fresh session, without the window, and
//	          with the handoff if there is one
//	compact   a separate turn, in which the client summarizes its conversation; the
//	          window comes back as after any compaction

// ErrCannotCompact reports that the client of an agent cannot be told to compact.
var ErrCannotCompact = errors.New("its client does not compact when it is told to")

// Clear makes an agent's next message begin a fresh session. The error is an
// [*AttachedError] if a person runs the agent's session.
func (s *Swarm) Clear(agent, by string) error { return s.order(agent, journal.OrderClear, by) }

// Compact makes an agent's client summarize its conversation before the next message.
// The error is [ErrCannotCompact] if the client cannot do that, and an
// [*AttachedError] if a person runs the agent's session.
func (s *Swarm) Compact(agent, by string) error {
	m, err := s.member(agent)
	if err != nil {
		return err
	}
	if _, ok := m.turns.Backend(m.settings()).(runner.Compacter); !ok && !m.control.attached() {
		return fmt.Errorf("%s: %w", agent, ErrCannotCompact)
	}
	return s.order(agent, journal.OrderCompact, by)
}

func (s *Swarm) order(agent, what, by string) error {
	if m, err := s.member(agent); err != nil {
		return err
	} else if m.control.attached() {
		return &AttachedError{Name: agent} // nothing would carry the order out
	}
	return s.steer(agent, func(st *journal.Hold) {
		if st.Order == nil || st.Order.What != journal.OrderClear { // a cleared session need not be compacted
			st.Order = &journal.Order{What: what, By: by, Since: time.Now().UTC()}
		}
	})
}

// ToBeCompacted reports whether the context of an agent still has to be compacted. It
// reads the files of a project without a daemon.
func ToBeCompacted(home journal.Home, agent string) (bool, error) {
	st, err := journal.OpenHolds(home)
	if err != nil {
		return false, err
	}
	o := st.Of(agent).Order
	return o != nil && o.What == journal.OrderCompact, nil
}
