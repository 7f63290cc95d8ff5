package swarm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// obey carries out the order, and forgets it. It is called between two turns.
func (a *agent) obey(stop, kill context.Context, o *journal.Order) time.Duration {
	var err error
	if o.What == journal.OrderClear {
		err = a.clear(kill, o)
	} else {
		err = a.compact(stop, kill, o)
	}
	switch {
	case errors.Is(err, errStopping):
		return 0 // the next daemon carries it out
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

// compact runs a turn without a message. It tries only once: an obstacle to the compaction
// will stop the next message too, and that failure is reported.
func (a *agent) compact(stop, kill context.Context, o *journal.Order) error {
	settings := a.settings()
	if !a.turns.CanCompact(settings) {
		a.inbox.AgentLog.Line("", "= nothing to compact")
		a.inbox.AgentLog.Close()
		return nil
	}
	if b := a.budget.Check(budget.Turn{Agent: a.name}); b != nil && !b.Waits {
		a.inbox.AgentLog.Line("", "= not compacted: "+capText(b))
		a.inbox.AgentLog.Close()
		return nil
	}
	// End a waiting client: after a compaction it could not stay anyway.
	a.turns.Close(kill, "the context is compacted")
	if err := a.slots.acquire(stop, "", nil); err != nil { // before all messages
		return errStopping
	}
	defer a.slots.release()
	ctx, end := context.WithCancelCause(kill)
	defer end(nil)
	a.control.turnBegins("", end)
	defer a.control.turnEnded()
	if _, held := a.held(time.Now()); held || stop.Err() != nil { // changed while it waited
		return errStopping
	}
	began := time.Now().UTC()
	a.turns.View.Begin(&turn.MessageStatus{From: o.By, Subject: "compact the context", Since: began}, "compacts its context")
	a.show(Working, "", "")
	defer a.turns.View.End()
	defer a.inbox.AgentLog.Close()

	out, turn, err := a.turns.Compact(ctx, settings)
	if err == nil {
		err = a.ledger.Add(journal.LedgerLine{
			At: out.Ended.UTC(), Turn: turn, Agent: a.name, From: a.name, Subject: "compact the context",
			Outcome: string(out.End), Reason: out.Reason, Seconds: out.Ended.Sub(out.Began).Seconds(),
			Tokens: journal.TallyOf(out), CostUSD: out.CostUSD, CostUnknown: out.CostUnknown, Client: journal.ClientName(a.kind().Name, out.Version), Model: out.Model, Session: out.Session,
			Billing: out.Billing, Context: journal.Context{Tokens: out.ContextTokens, Limit: out.ContextLimit},
		})
	}
	if err != nil {
		return err
	}
	text := fmt.Sprintf("= compacted %s %s %s, by %s", often(out.Compactions), screen.Took(out.Ended.Sub(out.Began)), screen.Cost(out.CostUSD, out.CostUnknown), o.By)
	if out.End != runner.Done {
		text = fmt.Sprintf("= not compacted: %s", cmp.Or(out.Reason, string(out.End)))
	}
	a.inbox.AgentLog.Line("", text)
	a.log.Info("context compacted", "end", string(out.End), keyWhy, out.Reason, "compactions", out.Compactions, costAttr(out.Spent))
	switch cause := context.Cause(ctx); {
	case out.End == runner.Done:
		a.control.comesTo(dropbox.Done)
	case out.End == runner.Stopped && (errors.Is(cause, context.Canceled) || errors.Is(cause, errStopping)):
		return errStopping // the daemon or the agent ends; the order stays
	default:
		a.control.comesTo(dropbox.Dead)
	}
	return nil
}

// often says how many times.
func often(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
