package swarm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// ErrNoTurn reports that an agent has no running turn to end.
var ErrNoTurn = errors.New("no turn is running")

// ErrStopping reports that the daemon will exit once its running turns have ended, and
// that it no longer accepts orders that begin work.
var ErrStopping = errors.New("the daemon is stopping")

// A StoppedError reports that an agent is stopped, so there is no pause to end.
type StoppedError struct{ Name string }

func (e *StoppedError) Error() string { return e.Name + " is stopped, not paused" }

// An AttachedError reports that a person is running an agent's session, so the daemon
// cannot control the agent.
type AttachedError struct{ Name string }

func (e *AttachedError) Error() string {
	return "a person, not the daemon, runs the session of " + e.Name
}

// A PauseOrder specifies who pauses an agent, why, and for how long. If For is 0, the
// pause has no time limit.
type PauseOrder struct {
	By, Why   string
	For       time.Duration
	Questions []PauseQuestion // an answer to any of them ends the pause
}

// A PauseQuestion is a question whose answer ends an agent's pause.
type PauseQuestion = journal.PauseQuestion

// Pause prevents an agent from beginning another turn. A running turn continues until it
// ends. The pause survives a restart. A person's pause of a stuck agent is also the answer
// to the question about it.
func (s *Swarm) Pause(agent string, o PauseOrder) error {
	now := time.Now().UTC().Round(0) // wall-clock time, so that the time during which the machine sleeps counts
	p := &journal.Pause{By: o.By, Why: o.Why, Since: now, Questions: o.Questions}
	if o.For > 0 {
		p.Until = now.Add(o.For)
	}
	stuck := s.holds.Of(agent).StuckIn()
	err := s.steer(agent, func(st *journal.Hold) {
		if s.fromPerson(o.By) || !s.forPerson(journal.Hold{Paused: st.Paused}) { // an agent may not replace a pause that only a person may end
			st.Paused = p
		}
	})
	if err == nil && stuck != nil && s.holds.Of(agent).StuckIn() == nil {
		err = s.stuckHolds.decided(agent, stuck, "paused by "+o.By)
	}
	return err
}

// StartAgent starts a stopped agent, and clears its recorded failures. If a person gives
// the order, it also resumes an agent that was paused because it began too many turns. If
// an agent gives the order but only a person may end the hold, the error is a
// [*PersonError].
func (s *Swarm) StartAgent(agent, by string) error {
	if s.stopping() {
		return ErrStopping
	}
	if !s.fromPerson(by) && s.forPerson(s.holds.Of(agent)) {
		return &PersonError{Name: agent}
	}
	if was := s.holds.Of(agent).Stopped; was != nil {
		s.mail.Note(s.notices.Add(notice.Unpaused{Agent: agent, Since: was.Since, Why: "started by " + by, By: by}))
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

// steer changes an agent's hold and wakes the agent.
func (s *Swarm) steer(agent string, f func(*journal.Hold)) error {
	m, err := s.member(agent)
	if err != nil {
		return err
	}
	// The queue may not yet contain a message that was sent just before the order. It is
	// marked as changed before the hold changes, because an agent that is awake would
	// otherwise continue with an older message.
	m.inbox.Queue.Changed("")
	if err := s.holds.Change(agent, f); err != nil {
		return err
	}
	m.wakeup.wake()
	m.permits.asker.Wake()
	s.answers.wake() // a pause until an answer may have ended
	return nil
}

// Abort ends the running turn of an agent and gives up its message. The message is moved
// to dead/, its sender is notified, and the agent continues with its next message. If the
// turn still succeeds, its message is done, because the work must not be done twice. Abort
// returns when the turn has ended. If no turn is running, the error is [ErrNoTurn]. The
// parameter why may be "".
//
// If the supervisor has paused the agent because it is stuck, Abort ends the pause, and
// gives up the message even if its turn has already ended. Only a person may do this. If
// everything is halted in this case, Abort returns immediately, and the message is given
// up when the halt ends.
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
		if s.store.Halted() && s.holds.Of(agent).GiveUp != nil { // the message is given up when the halt ends
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
// failure. The agent continues with its first waiting message, which is the urgent one. The
// parameter urgent is the id of that message. A turn that is already working on it
// continues. If the turn still succeeds, its message is done, as with [Swarm.Abort].
// Interrupt returns when the turn has ended. If there is no turn to end, the error is
// [ErrNoTurn].
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
		return *cut, nil // no goroutine writes to the Cut after this
	case <-ctx.Done():
		return Cut{}, ctx.Err()
	}
}

// ErrNotPaused reports that no hold kept an agent from its mail, so there was no hold to
// end.
var ErrNotPaused = errors.New("was not paused")

// Resume ends an agent's pause. If the agent is waiting after a failure or for its usage
// limit to reset, Resume lets it try again immediately. If no hold kept the agent from its
// mail, the error is [ErrNotPaused]. If the agent is stopped, it remains stopped, and the
// error is a [*StoppedError]; see [Swarm.StartAgent]. Only a person may resume an agent
// that a person paused, that began too many turns, that is stuck, or that is outside its
// hours. If an agent tries to do so, the error is a [*PersonError]. An agent that a person
// resumes outside its hours works until its hours begin.
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
	_, _, held := s.holds.LimitOf(s.accounts.of(m.spec()), agent, now)
	if was := s.holds.Of(agent).Paused; was.Holds(now) {
		s.mail.Note(s.notices.Add(notice.Unpaused{Agent: agent, Since: was.Since, Why: "resumed by " + by, By: by}))
	} else if held {
		s.limits.tellOver(s.accounts.of(m.spec()), "tried immediately, as requested by "+by, by)
	}
	if err := s.holds.LiftLimit(s.accounts.of(m.spec()), now); err != nil {
		return err
	}
	s.wakeAccount(s.accounts.of(m.spec()))
	err = s.steer(agent, func(st *journal.Hold) {
		held = held || st.Paused.Holds(now) || st.Until.After(now)
		s.word(agent, by, st)
		if s.fromPerson(by) && overtime(m.control.hours(), by, st, now) {
			held = true
		}
		st.Paused, st.Until, st.Why = nil, time.Time{}, ""
	})
	if err == nil && stuck != nil {
		err = s.stuckHolds.decided(agent, stuck, "resumed by "+by)
	}
	if err == nil && !held {
		return fmt.Errorf("%s %w", agent, ErrNotPaused)
	}
	return err
}

// LiftPause ends an agent's pause and nothing else: a wait after a failure or for a limit goes
// on, and an agent outside its hours remains off. The errors are as for [Swarm.Resume]; an agent
// without a pause gets [ErrNotPaused].
func (s *Swarm) LiftPause(agent, by string) error {
	if _, err := s.member(agent); err != nil {
		return err
	}
	now, hold := time.Now(), s.holds.Of(agent)
	switch stuck := hold.StuckIn(); {
	case hold.Stopped != nil:
		return &StoppedError{Name: agent}
	case !hold.Paused.Holds(now):
		return fmt.Errorf("%s %w", agent, ErrNotPaused)
	case !s.fromPerson(by) && s.forPerson(hold):
		return &PersonError{Name: agent}
	default:
		s.mail.Note(s.notices.Add(notice.Unpaused{Agent: agent, Since: hold.Paused.Since, Why: "resumed by " + by, By: by}))
		err := s.steer(agent, func(st *journal.Hold) {
			s.word(agent, by, st)
			st.Paused = nil
		})
		if err == nil && stuck != nil {
			err = s.stuckHolds.decided(agent, stuck, "resumed by "+by)
		}
		return err
	}
}

// A person or the agent itself can order the daemon to clear or compact the context of
// the agent's client. The order is not carried out within a turn, because the turn is
// part of the context. It is kept in state.json and carried out before the next message:
//
//	clear     the next message begins a fresh session, without the window, and
//	          with the handoff if there is one
//	compact   a separate turn, in which the client summarizes its conversation; the
//	          window comes back as after any compaction

// ErrCannotCompact reports that an agent's client does not support an order to compact.
var ErrCannotCompact = errors.New("its client does not support compaction on request")

// Clear makes an agent begin a fresh session with its next message. The error is an
// [*AttachedError] if a person is running the agent's session.
func (s *Swarm) Clear(agent, by string) error { return s.order(agent, journal.OrderClear, by) }

// Compact makes an agent's client summarize its conversation before the next message. The
// error is [ErrCannotCompact] if the client cannot do that, and an [*AttachedError] if a
// person is running the agent's session.
func (s *Swarm) Compact(agent, by string) error {
	m, err := s.member(agent)
	if err != nil {
		return err
	}
	if _, ok := m.turns.Backend(m.client.settings()).(runner.Compacter); !ok && !m.control.attached() {
		return fmt.Errorf("%s: %w", agent, ErrCannotCompact)
	}
	return s.order(agent, journal.OrderCompact, by)
}

func (s *Swarm) order(agent, what, by string) error {
	if m, err := s.member(agent); err != nil {
		return err
	} else if m.control.attached() {
		return &AttachedError{Name: agent} // no part of the daemon would carry out the order
	}
	return s.steer(agent, func(st *journal.Hold) {
		if st.Order == nil || st.Order.What != journal.OrderClear { // a cleared session does not need compaction
			st.Order = &journal.Order{What: what, By: by, Since: time.Now().UTC()}
		}
	})
}

// ToBeCompacted reports whether an order to compact an agent's context is pending. It
// reads the project's files, so it needs no daemon.
func ToBeCompacted(home journal.Home, agent string) (bool, error) {
	st, err := journal.OpenHolds(home)
	if err != nil {
		return false, err
	}
	o := st.Of(agent).Order
	return o != nil && o.What == journal.OrderCompact, nil
}
