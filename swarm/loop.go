package swarm

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// run first takes up the messages that an earlier daemon left, and calls ready. It then
// runs the agent until stop is done, and lets the running turn finish. When kill is done,
// run ends that turn. A panic, which is a bug in the daemon, stops only this agent until
// the agent is started again.
func (a *agent) run(stop, kill context.Context, ready func()) {
	defer a.inbox.AgentLog.Close()
	ready = sync.OnceFunc(ready)
	for a.serve(stop, kill, ready) {
		ready()
		a.untilStarted(stop)
	}
}

// untilStarted waits until a stopped agent is started. It is a separate function because its
// variables would double the stack of every waiting agent.
func (a *agent) untilStarted(stop context.Context) {
	for stop.Err() == nil && a.stopped() {
		a.wakeup.wait(stop, forever)
	}
}

// serve does the work of run, and reports whether a panic ended that work.
func (a *agent) serve(stop, kill context.Context, ready func()) (panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			panicked = true
			a.log.Error("agent panicked", keyErr, fmt.Sprint(p), "stack", string(debug.Stack()))
			why := "an internal error in claude-swarm: " + fmt.Sprint(p)
			hint := "report it with " + a.files.home.DaemonLog() + ", then claude-swarm start " + a.name
			a.breaker.open(why, hint)
			a.show(Stopped, why, hint)
		}
	}()
	defer func() { a.turns.Close(kill, "its agent is ending") }()
	a.show(Starting, "", "")
	a.inbox.Queue.Changed("")
	a.unsettled = true
	if !a.control.attached() { // cur/ of an attached agent belongs to its session
		if err := a.settleLeft(kill); err != nil {
			a.diskTrouble(stop, "continue with the messages in cur/", err)
		}
	}
	ready()
	for stop.Err() == nil {
		if wait := a.step(stop, kill); wait != 0 {
			a.rest(stop, wait)
		}
	}
	if a.unfiled != nil && !a.control.attached() { // the next daemon will not know how the turn ended
		a.inbox.Note(a.settleLeft(kill))
	}
	return false
}

// step does the next piece of work, and returns how long the agent may rest after that. A
// result of 0 means that there may be more work now.
func (a *agent) step(stop, kill context.Context) time.Duration {
	if a.turns.HasClient() {
		a.tend(kill)
	}
	if ordered, err := a.giveUp(kill); err != nil {
		return a.diskTrouble(stop, "give up a message", err)
	} else if ordered {
		return 0
	}
	if a.unfiled != nil && !a.control.attached() { // its message must not wait for the end of a hold
		if err := a.settleLeft(kill); err != nil {
			return a.diskTrouble(stop, "settle a turn", err)
		}
	}
	if wait, held := a.held(time.Now()); held {
		a.beats.worked()
		a.turns.Close(kill, "the agent is held")
		return wait
	}
	if left := a.unsettled; left {
		if err := a.settleLeft(kill); err != nil {
			return a.diskTrouble(stop, "continue with the messages in cur/", err)
		}
		a.tasks.moved()
	}
	if o := a.holds.Of(a.name).Order; o != nil {
		return a.obey(stop, kill, o)
	}
	if err := a.inbox.Queue.Refresh(a.list); err != nil {
		return a.diskTrouble(stop, "list the mailbox", err)
	}
	a.unpark()
	e, ok := a.next(time.Now())
	if !ok {
		return a.rested()
	}
	if head, h, held := a.stillWaits(e); held {
		return a.keep(stop, e, head, h)
	}
	m, err := a.inbox.Box.Read(e)
	if err == nil {
		a.noteMail(m)
		if !m.Type.Wakes() {
			a.inbox.Queue.MarkNote(e)
			return 0
		}
		if h, held := a.heldMessage(m, time.Now()); held {
			return a.keep(stop, e, m, h)
		}
	} else {
		m = nil // the claim sets the message aside
	}
	if a.slots.full() {
		a.turns.ClientWaits()
		a.show(Queued, "all slots for running turns are taken", "runs as soon as one is free")
	}
	var wake wakeup
	if a.turns.HasClient() {
		wake = a.wakeup // the waiting client may need to be closed in the meantime
	}
	switch err := a.slots.acquire(stop, e.Base(), wake); {
	case errors.Is(err, errWoken):
		return 0
	case err != nil:
		return forever // stop is done
	}
	defer a.slots.release()
	if _, held := a.held(time.Now()); held { // a hold began while the agent was waiting
		return 0
	}
	reserved, block := a.budget.reserve(m)
	if block != nil {
		return a.keep(stop, e, m, a.admission.blocked(block))
	}
	return a.work(stop, kill, reserved)
}

// settleLeft takes up any messages that were left in cur/.
func (a *agent) settleLeft(kill context.Context) error {
	if !a.unsettled {
		return nil
	}
	if err := a.restoreTurn(); err != nil {
		return err
	}
	if err := a.takeUp(kill); err != nil {
		return err
	}
	if err := a.budget.settleLost(); err != nil {
		return err
	}
	a.tree.logErr(kill, a.tree.sweep(kill))
	a.unsettled, a.unfiled = false, nil
	a.inbox.Settled()
	return nil
}

// restoreTurn recreates the files of the messages that the agent has claimed, and of the
// last turn, if another program, such as git clean, has deleted them. The turn can then be
// settled as if nothing had happened.
func (a *agent) restoreTurn() error {
	if err := a.files.restoreHome(); err != nil {
		return err
	}
	if a.unfiled != nil && a.unfiled.rec != nil {
		if err := turn.RestoreRecord(a.files.home, a.unfiled.rec); err != nil {
			return err
		}
	}
	return a.inbox.Restore()
}

// tend closes the waiting client once the client should no longer wait.
func (a *agent) tend(kill context.Context) { a.turns.Tend(kill, a.client.settings(), a.unsettled) }

// rest waits until there may be work, but not longer than d. The stack frames of rest and
// of the functions that it calls for an idle agent are small, so a stack of 4 KiB is
// enough for them.
func (a *agent) rest(ctx context.Context, d time.Duration) {
	a.turns.ClientWaits()
	if !a.turns.HasClient() {
		a.wakeup.wait(ctx, d)
		return
	}
	a.turns.Rest(ctx, a.wakeup, d)
}

// heldMessage returns what keeps the agent from beginning the turn of a message.
func (a *agent) heldMessage(m *dropbox.Message, now time.Time) (hold.Held, bool) {
	return a.admission.message.First(a.queryFor(m, now))
}

// queryFor returns the query about the turn of a message.
func (a *agent) queryFor(m *dropbox.Message, now time.Time) hold.Query {
	q := a.admission.queryOf(a.spec(), now)
	q.Message, q.ByLead = m, a.inbox.ByLead(m)
	return q
}

// keep leaves a held message in new/, or gives it up if a person has stopped its task. It
// returns how long the agent may rest after that.
func (a *agent) keep(ctx context.Context, e dropbox.Entry, m *dropbox.Message, h hold.Held) time.Duration {
	switch b := h.Block; {
	case h.Pause != nil:
		a.pauseForTurns(m, h.Pause)
		return 0 // the pause is shown
	case b != nil && !b.Waits && b.Answer == budget.Stop && !b.Daily():
		a.unsettled = true
		if err := a.budget.giveUp(e, b); err != nil {
			return a.diskTrouble(ctx, "give up a message", err)
		}
		a.unsettled = false
		return 0
	case b != nil && !b.Waits:
		a.budget.ask(b)
	}
	if h.OneMessage {
		a.park(e, m, h)
		return 0 // mail that belongs to other tasks may get a turn
	}
	a.turns.ClientWaits()
	return a.showHeld(h)
}

// rested shows that the agent has no message to work on now, and returns how long to wait
// before the next check.
func (a *agent) rested() time.Duration {
	a.turns.ClientWaits()
	first, held := a.waits.first, a.inbox.Queue.HasParked()
	if d := a.holds.Of(a.name).Drain; d != nil && !held {
		first, held = hold.Drains(a.name, d), true
	}
	if held {
		a.showHeld(first)
		a.beats.worked()
		return a.untilHours(time.Now())
	}
	a.show(Idle, "", "")
	now := time.Now()
	return min(a.untilHours(now), a.heartbeat(now))
}
