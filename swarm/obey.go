package swarm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// obey carries out an order to clear or compact the context, and removes it from the agent's
// hold. It is called between two turns.
func (a *agent) obey(stop, kill context.Context, o *journal.Order) time.Duration {
	var err error
	if o.What == journal.OrderClear {
		err = a.clear(kill, o)
	} else {
		err = a.compact(stop, kill, o)
	}
	blocked, isBlocked := errors.AsType[*blockedError](err)
	switch {
	case errors.Is(err, errStopping):
		return 0 // the order is kept for a later step or for the next daemon
	case isBlocked && blocked.Waits:
		a.turns.ClientWaits()
		a.showHeld(a.admission.blocked(blocked.Block))
		return forever // no work until another turn's reservation ends
	case isBlocked: // a cap has been reached, so the order is dropped
		a.inbox.AgentLog.Line("", "= not compacted: "+blocked.Error())
		a.inbox.AgentLog.Close()
	case err != nil:
		return a.diskTrouble(stop, o.What+" the context", err)
	}
	a.inbox.Note(a.holds.Change(a.name, func(st *journal.Hold) {
		if st.Order != nil && *st.Order == *o {
			st.Order = nil
		}
	}))
	return 0
}

// clear drops the agent's session.
func (a *agent) clear(ctx context.Context, o *journal.Order) error {
	if err := a.turns.Forget(ctx); err != nil {
		return err
	}
	a.inbox.AgentLog.Line("", "= context cleared, by "+o.By)
	a.inbox.AgentLog.Close()
	return nil
}

// compact runs a turn without a message. It makes only one attempt. If the compaction
// fails, the next message's turn will fail for the same reason, and that failure is
// reported.
func (a *agent) compact(stop, kill context.Context, o *journal.Order) error {
	settings := a.client.settings()
	if !a.turns.CanCompact(settings) {
		a.inbox.AgentLog.Line("", "= nothing to compact")
		a.inbox.AgentLog.Close()
		return nil
	}
	t := budget.Turn{Agent: a.name, Message: turn.NewCompaction()}
	if b := a.budget.book.Check(t); b != nil {
		return &blockedError{b, a.budget.capText(b)}
	}
	// A waiting client is closed, because it could not be kept after a compaction.
	a.turns.Close(kill, "the context is being compacted")
	if err := a.slots.acquire(stop, "", nil); err != nil { // "" sorts before all message names
		return errStopping
	}
	defer a.slots.release()
	ctx, end := context.WithCancelCause(kill)
	defer end(nil)
	a.control.turnBegins("", end)
	defer a.control.turnEnded(dropbox.Waiting)
	if _, held := a.held(time.Now()); held || stop.Err() != nil { // a hold may have begun during the wait for the slot
		return errStopping
	}
	reserved, block := a.budget.book.Reserve(t, a.budget.mayStart())
	if block != nil {
		return &blockedError{block, a.budget.capText(block)}
	}
	defer a.budget.release()
	defer endAfter(reserved.Time(), end)()
	began := time.Now().UTC()
	a.turns.View.Begin(&turn.MessageStatus{From: o.By, Subject: "compact the context", Since: began}, "compacting its context")
	a.show(Working, "", "")
	defer a.turns.View.End()
	defer a.inbox.AgentLog.Close()

	rec := &journal.Record{Turn: t.Message, Agent: a.name}
	reserved.Note(rec)
	out, err := a.turns.Compact(ctx, settings, rec)
	if err != nil {
		return err
	}
	cause := context.Cause(ctx)
	if out.End == runner.Stopped && errors.Is(cause, errTimeUsed) {
		out.End, out.Reason = runner.CapReached, errTimeUsed.Error()
	}
	line := journal.LedgerLine{
		At: out.Ended.UTC(), Turn: rec.Turn, Agent: a.name, From: a.name, Subject: "compact the context", ReservedUSD: rec.ReservedUSD,
		Outcome: string(out.End), Reason: out.Reason, Seconds: out.Ended.Sub(out.Began).Seconds(),
		Tokens: journal.TallyOf(out), CostUSD: out.CostUSD, CostUnknown: out.CostUnknown, Client: journal.ClientName(a.client.kind().Name, out.Version), Model: out.Model, Session: out.Session,
		Billing: out.Billing, Context: journal.Context{Tokens: out.ContextTokens, Limit: out.ContextLimit},
	}
	// Another compaction would cost the same amount again, so only the write is retried.
	for err := a.ledger.Add(line); err != nil; err = a.ledger.Add(line) {
		a.diskTrouble(stop, "record the compaction", err)
		if stop.Err() != nil {
			return errStopping // the next daemon counts the reserved amount as spent
		}
	}
	text := fmt.Sprintf("= compacted %s %s %s, by %s", often(out.Compactions), screen.Took(out.Ended.Sub(out.Began)), screen.Cost(out.CostUSD, out.CostUnknown), o.By)
	if out.End != runner.Done {
		text = fmt.Sprintf("= not compacted: %s", cmp.Or(out.Reason, string(out.End)))
	}
	a.inbox.AgentLog.Line("", text)
	a.log.Info("context compacted", "end", string(out.End), keyWhy, out.Reason, "compactions", out.Compactions, costAttr(out.Spent))
	switch {
	case out.End == runner.Done:
		a.control.comesTo(dropbox.Done)
	case out.End == runner.Stopped && (errors.Is(cause, context.Canceled) || errors.Is(cause, errStopping)):
		return errStopping // the daemon or the agent is stopping, and the order is kept
	default:
		a.control.comesTo(dropbox.Dead)
	}
	return nil
}

// often returns n in words: "once" for 1, "3 times" for 3.
func often(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// A blockedError reports that the budget does not currently allow a compaction.
type blockedError struct {
	*budget.Block
	text string
}

func (e *blockedError) Error() string { return e.text }

// giveUp gives up the message that a person aborted while no turn was working on it. It
// returns false if no abort was ordered, or if the order must wait. A hold on the agent
// does not delay the order, because no turn begins. A halted swarm delays it, because
// no message can be claimed. An attached session also delays it, because the session
// has claimed the mail.
func (a *agent) giveUp(kill context.Context) (bool, error) {
	g := a.holds.Of(a.name).GiveUp
	if g == nil || a.control.attached() || a.files.store.Halted() {
		return false, nil
	}
	if err := a.settleLeft(kill); err != nil {
		return false, err
	}
	entries, err := a.inbox.Box.List()
	if err != nil {
		return false, err
	}
	if i := slices.IndexFunc(entries, func(e dropbox.Entry) bool { return e.ID == g.Message }); i >= 0 {
		a.unsettled = true // if the disk refuses a step, the message is left in cur/
		j, err := a.inbox.Claim(entries[i])
		if err == nil && j != nil {
			err = a.inbox.GiveUp(j.Claim, "aborted by "+g.By)
		}
		if err != nil {
			return false, err
		}
		a.unsettled = false
		a.inbox.Settled()
		if j == nil && a.files.store.Halted() {
			return false, nil
		}
	}
	cut := Cut{Message: g.Message, State: dropbox.Done} // the turn had already succeeded
	letters, err := a.inbox.Box.DeadLetters().List()
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(letters, func(d dropbox.DeadLetter) bool { return d.ID == g.Message }) {
		cut.State = dropbox.Dead
	}
	a.control.gaveUp(cut)
	return true, a.holds.Change(a.name, func(st *journal.Hold) { st.GiveUp = nil })
}
