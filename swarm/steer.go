package swarm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/whisper"
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

// Orders carries out the orders of people and agents about the work of agents. Its methods are
// safe for concurrent use.
type Orders struct {
	member   func(name string) (*member, error)
	stopping func() bool // whether the daemon begins no more work
	store    *dropbox.Store
	holds    *journal.Holds
	counts   *journal.TurnCounts
	whispers *whisper.Store
	mail     *mail.Service
	notices  *notice.Teller
	limits   *usageLimits
	stuck    *stuckHolds
	tasks    *tasks
	answers  wakeup // wakes the goroutine that handles people's answers
}

// Pause prevents an agent from beginning another turn. A running turn continues until it
// ends. The pause survives a restart. A person's pause of a stuck agent is also the answer
// to the question about it.
func (or *Orders) Pause(agent string, o PauseOrder) error {
	now := time.Now().UTC().Round(0) // wall-clock time, so that the time during which the machine sleeps counts
	p := &journal.Pause{By: o.By, Why: o.Why, Since: now, Questions: o.Questions}
	if o.For > 0 {
		p.Until = now.Add(o.For)
	}
	stuck := or.holds.Of(agent).StuckIn()
	err := or.steer(agent, func(st *journal.Hold) {
		if or.fromPerson(o.By) || !or.forPerson(journal.Hold{Paused: st.Paused}) { // an agent may not replace a pause that only a person may end
			st.Paused = p
		}
	})
	if err == nil && stuck != nil && or.holds.Of(agent).StuckIn() == nil {
		err = or.stuck.decided(agent, stuck, "paused by "+o.By)
	}
	return err
}

// StartAgent starts a stopped agent, and clears its recorded failures. If a person gives
// the order, it also resumes an agent that was paused because it began too many turns. If
// an agent gives the order but only a person may end the hold, the error is a
// [*PersonError].
func (or *Orders) StartAgent(agent, by string) error {
	if or.stopping() {
		return ErrStopping
	}
	if !or.fromPerson(by) && or.forPerson(or.holds.Of(agent)) {
		return &PersonError{Name: agent}
	}
	if was := or.holds.Of(agent).Stopped; was != nil {
		or.mail.Note(or.notices.Add(notice.Unpaused{Agent: agent, Since: was.Since, Why: "started by " + by, By: by}))
	}
	return or.steer(agent, func(st *journal.Hold) {
		fresh := journal.Hold{Paused: st.Paused, Order: st.Order, Word: st.Word, Overtime: st.Overtime, GiveUp: st.GiveUp, Drain: st.Drain}
		or.word(agent, by, &fresh)
		if fresh.Paused != nil && fresh.Paused.Turns {
			fresh.Paused = nil
		}
		*st = fresh
	})
}

// steer changes an agent's hold and wakes the agent.
func (or *Orders) steer(agent string, f func(*journal.Hold)) error {
	m, err := or.member(agent)
	if err != nil {
		return err
	}
	// The queue may not yet contain a message that was sent just before the order. It is
	// marked as changed before the hold changes, because an agent that is awake would
	// otherwise continue with an older message.
	m.inbox.Queue.Changed("")
	if err := or.holds.Change(agent, f); err != nil {
		return err
	}
	m.wakeup.wake()
	m.permits.asker.Wake()
	or.answers.wake() // a pause until an answer may have ended
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
func (or *Orders) Abort(ctx context.Context, agent, by, why string) (Cut, error) {
	m, err := or.member(agent)
	if err != nil {
		return Cut{}, err
	}
	if stuck := or.holds.Of(agent).StuckIn(); stuck != nil {
		ended, err := or.abortStuck(m, stuck, by)
		if err != nil {
			return Cut{}, err
		}
		if or.store.Halted() && or.holds.Of(agent).GiveUp != nil { // the message is given up when the halt ends
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
	return or.cutShort(ctx, agent, by, "", errAborted)
}

// Interrupt ends the running turn of an agent and puts its message back, without counting a
// failure. The agent continues with its first waiting message, which is the urgent one. The
// parameter urgent is the id of that message. A turn that is already working on it
// continues. If the turn still succeeds, its message is done, as with [Orders.Abort].
// Interrupt returns when the turn has ended. If there is no turn to end, the error is
// [ErrNoTurn].
func (or *Orders) Interrupt(ctx context.Context, agent, by, urgent string) (Cut, error) {
	return or.cutShort(ctx, agent, by, urgent, errInterrupted)
}

// cutShort ends the turn of an agent, unless except is the id of the turn's message.
func (or *Orders) cutShort(ctx context.Context, agent, by, except string, why error) (Cut, error) {
	m, err := or.member(agent)
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
// error is a [*StoppedError]; see [Orders.StartAgent]. Only a person may resume an agent
// that a person paused, that began too many turns, that is stuck, or that is outside its
// hours. If an agent tries to do so, the error is a [*PersonError]. An agent that a person
// resumes outside its hours works until its hours begin.
func (or *Orders) Resume(agent, by string) error {
	m, err := or.member(agent)
	if err != nil {
		return err
	}
	if or.holds.Of(agent).Stopped != nil {
		return &StoppedError{Name: agent}
	}
	stuck := or.holds.Of(agent).StuckIn()
	now := time.Now()
	if !or.fromPerson(by) {
		_, off := m.off(now)
		if st := or.holds.Of(agent); off && !st.Paused.Holds(now) || or.forPerson(st) {
			return &PersonError{Name: agent}
		}
	}
	_, _, held := or.holds.LimitOf(or.limits.accounts.of(m.spec()), agent, now)
	if was := or.holds.Of(agent).Paused; was.Holds(now) {
		or.mail.Note(or.notices.Add(notice.Unpaused{Agent: agent, Since: was.Since, Why: "resumed by " + by, By: by}))
	} else if held {
		or.limits.tellOver(or.limits.accounts.of(m.spec()), "tried immediately, as requested by "+by, by)
	}
	if err := or.holds.LiftLimit(or.limits.accounts.of(m.spec()), now); err != nil {
		return err
	}
	or.limits.wake(or.limits.accounts.of(m.spec()))
	err = or.steer(agent, func(st *journal.Hold) {
		held = held || st.Paused.Holds(now) || st.Until.After(now)
		or.word(agent, by, st)
		if or.fromPerson(by) && overtime(m.control.hours(), by, st, now) {
			held = true
		}
		st.Paused, st.Until, st.Why = nil, time.Time{}, ""
	})
	if err == nil && stuck != nil {
		err = or.stuck.decided(agent, stuck, "resumed by "+by)
	}
	if err == nil && !held {
		return fmt.Errorf("%s %w", agent, ErrNotPaused)
	}
	return err
}

// LiftPause ends an agent's pause and nothing else: a wait after a failure or for a limit goes
// on, and an agent outside its hours remains off. The errors are as for [Orders.Resume]; an agent
// without a pause gets [ErrNotPaused].
func (or *Orders) LiftPause(agent, by string) error {
	if _, err := or.member(agent); err != nil {
		return err
	}
	now, hold := time.Now(), or.holds.Of(agent)
	switch stuck := hold.StuckIn(); {
	case hold.Stopped != nil:
		return &StoppedError{Name: agent}
	case !hold.Paused.Holds(now):
		return fmt.Errorf("%s %w", agent, ErrNotPaused)
	case !or.fromPerson(by) && or.forPerson(hold):
		return &PersonError{Name: agent}
	default:
		or.mail.Note(or.notices.Add(notice.Unpaused{Agent: agent, Since: hold.Paused.Since, Why: "resumed by " + by, By: by}))
		err := or.steer(agent, func(st *journal.Hold) {
			or.word(agent, by, st)
			st.Paused = nil
		})
		if err == nil && stuck != nil {
			err = or.stuck.decided(agent, stuck, "resumed by "+by)
		}
		return err
	}
}
