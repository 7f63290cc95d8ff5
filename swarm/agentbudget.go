package swarm

import (
	"context"
	"errors"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// errTimeUsed ends a turn that has used all its reserved time.
var errTimeUsed = errors.New("its time budget is used up")

// endAfter ends a turn after d. If d is 0, it does nothing. The caller calls stop when
// the turn has ended.
func endAfter(d time.Duration, end context.CancelCauseFunc) (stop func()) {
	if d <= 0 {
		return func() {}
	}
	t := time.AfterFunc(d, func() { end(errTimeUsed) })
	return func() { t.Stop() }
}

// An agentBudget is one agent's interface to the budget. Only the agent's goroutine uses it.
type agentBudget struct {
	book    *budget.Book
	slots   *slots
	home    journal.Home
	ledger  *journal.Ledger
	mail    *mail.Service
	notices *notice.Teller
	plan    func() Plan
	name    string
	inbox   *mail.Inbox
	wake    func() // wakes the agents, because a blocked turn may now be able to start
	version uint64 // the book's version at the last call of changed; see [budget.Book.Version]
}

// changed reports whether the budget has changed since the last call.
func (ab *agentBudget) changed() bool {
	v := ab.book.Version()
	changed := v != ab.version
	ab.version = v
	return changed
}

// reserve reserves part of the budget for the turn of a message. The turn already has a
// slot. If the message cannot be read, m is nil and nothing is reserved, because the
// message gets no turn.
func (ab *agentBudget) reserve(m *dropbox.Message) (*budget.Reservation, *budget.Block) {
	if m == nil {
		return nil, nil
	}
	return ab.book.Reserve(hold.TurnOn(ab.name, m), ab.mayStart())
}

// mayStart returns how many turns may start now, including the turn that already has a
// slot.
func (ab *agentBudget) mayStart() int {
	agents := 0
	for _, spec := range ab.plan().Agents {
		if !spec.Attached {
			agents++
		}
	}
	return max(1, min(ab.slots.places()+1, agents-ab.book.Open()))
}

// release gives back the part of the reservation that the last turn did not use, and wakes
// the agents, because a blocked turn may now be able to start.
func (ab *agentBudget) release() {
	if ab.book.Release(ab.name) {
		ab.wake()
	}
}

// settleLost ends the reservations of the turns that an earlier daemon left. If the message
// of a turn is gone, there is no way to determine how the turn ended, so the turn's whole
// reservation counts as spent.
func (ab *agentBudget) settleLost() error {
	for _, turn := range ab.book.Unsettled(ab.name) {
		rec, err := journal.ReadRecord(ab.home, turn)
		if err != nil || rec.Process.PID == 0 {
			continue // no prompt was sent
		}
		if err := ab.ledger.Add(lostLine(rec)); err != nil {
			return err
		}
	}
	ab.release()
	return nil
}

// lostLine returns the ledger line for a turn whose end is unknown.
func lostLine(rec *journal.Record) journal.LedgerLine {
	line := rec.Line()
	line.At, line.Seconds = rec.Begun, 0
	line.Outcome, line.Reason, line.CostUnknown = string(runner.NoResult), "its message is gone", true
	return line
}

// giveUp gives up a message whose task a person has stopped.
func (ab *agentBudget) giveUp(e dropbox.Entry, b *budget.Block) error {
	j, err := ab.inbox.Claim(e)
	if j == nil {
		return err
	}
	return ab.inbox.GiveUp(j.Claim, ab.capText(b))
}
