package swarm

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// errTimeUsed ends a turn that has used all the time that was reserved for it.
var errTimeUsed = errors.New("the time that its budget has left is used up")

// endAfter ends a turn after a while; 0 means never. The caller calls what it returns when
// the turn has ended.
func endAfter(d time.Duration, end context.CancelCauseFunc) (stop func()) {
	if d <= 0 {
		return func() {}
	}
	t := time.AfterFunc(d, func() { end(errTimeUsed) })
	return func() { t.Stop() }
}

// parking is what an agent knows about its parked messages.
type parking struct {
	version   uint64 // of the budget, when they were parked
	state     State
	why, next string // of the first
}

// turnOn names the scopes of a turn on a message.
func turnOn(agent string, m *dropbox.Message) budget.Turn {
	return budget.Turn{Agent: agent, Message: m.ID, Trace: cmp.Or(m.Trace, m.ID)}
}

// unpark looks at the parked messages again when the budget has changed.
func (a *agent) unpark() {
	if v := a.budget.Version(); v != a.parking.version {
		a.parking = parking{version: v}
		a.inbox.Queue.Unpark()
	}
}

// noWork shows that no message is to be worked on now.
func (a *agent) noWork() time.Duration {
	if a.inbox.Queue.HasParked() {
		a.show(a.parking.state, a.parking.why, a.parking.next)
	} else {
		a.show(Idle, "", "")
	}
	return a.untilHours(time.Now())
}

// reserve takes something out of the budget for the turn on a message, and wants a place
// among the running turns. A message that cannot be read has no turn.
func (a *agent) reserve(m *dropbox.Message) (*budget.Reservation, *budget.Block) {
	if m == nil {
		return nil, nil
	}
	return a.budget.Reserve(turnOn(a.name, m), a.mayStart())
}

// mayStart is how many turns may start now, with one for which the agent has a place.
func (a *agent) mayStart() int {
	agents := 0
	for _, spec := range a.plan().Agents {
		if !spec.Attached {
			agents++
		}
	}
	return max(1, min(a.slots.places()+1, agents-a.budget.Open()))
}

// released gives back what the last turn did not use.
func (a *agent) released() {
	a.budget.Release(a.name)
	a.wakeParked()
}

// settleLost ends what is reserved for the turns that an earlier daemon left. A turn whose
// message is not there any more has no end: what was reserved for it counts as spent.
func (a *agent) settleLost() error {
	for _, turn := range a.budget.Unsettled(a.name) {
		rec, err := journal.ReadRecord(a.home, turn)
		if err != nil {
			continue // no prompt was sent
		}
		if err := a.ledger.Add(lostLine(rec)); err != nil {
			return err
		}
	}
	a.released()
	return nil
}

// lostLine is the ledger's line of a turn of which no end is known.
func lostLine(rec *journal.Record) journal.LedgerLine {
	line := rec.Line()
	line.At, line.Seconds = rec.Begun, 0
	line.Outcome, line.Reason, line.CostUnknown = string(runner.NoResult), "its message is gone", true
	return line
}

// park keeps a message that may not have a turn in new/, and shows why. It says how long
// there is nothing to do.
func (a *agent) park(ctx context.Context, e dropbox.Entry, m *dropbox.Message, b *budget.Block) time.Duration {
	if b.Waits {
		a.hold(e, b, Queued, b.Scope.String()+": the rest is reserved for turns that run", "runs when one of them has ended")
	} else if b.Answer == budget.Stop && !b.Daily() {
		return a.giveUpParked(ctx, e, b)
	} else {
		a.askAtCap(b)
		a.view.asks(budgetQuestion{b.Scope, a.budget.Date(b.Scope), b.Number}.key())
		a.hold(e, b, Parked, capText(b), a.capNext(b))
	}
	if !b.Daily() {
		return 0 // the mail of other tasks
	}
	return until(b.Until, time.Now())
}

// hold shows a state, at once if it is about all mail of the agent, else when no other
// message is left.
func (a *agent) hold(e dropbox.Entry, b *budget.Block, state State, why, next string) {
	if b.Daily() {
		a.turns.ClientWaits()
		a.show(state, why, next)
		return
	}
	a.inbox.Queue.Park(e)
	if a.parking.why == "" {
		a.parking.state, a.parking.why, a.parking.next = state, why, next
	}
}

// giveUpParked gives up a message of a task that a person has stopped.
func (a *agent) giveUpParked(ctx context.Context, e dropbox.Entry, b *budget.Block) time.Duration {
	j, err := a.inbox.Claim(e)
	if j == nil && err == nil {
		return 0
	}
	a.unsettled = true
	if err == nil {
		err = a.inbox.GiveUp(j.Claim, capText(b))
	}
	if err != nil {
		return a.diskTrouble(ctx, "give a message up", err)
	}
	a.unsettled = false
	return 0
}
