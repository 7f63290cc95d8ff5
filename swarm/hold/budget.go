package hold

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
)

// KindBudget is the kind of [Budget].
const KindBudget Kind = "budget"

// Budget holds a message whose turn the budget does not allow now. A daily cap holds all
// mail of the agent; a cap of a task or of a turn holds only the message.
type Budget struct {
	Book interface {
		// Check returns the block of a turn, or nil if the turn may begin.
		Check(t budget.Turn) *budget.Block
	}
	Text func(*budget.Block) string // describes a scope that is at its cap
}

// TurnOn returns the data that the budget needs about a turn for a message.
func TurnOn(agent string, m *dropbox.Message) budget.Turn {
	return budget.Turn{Agent: agent, Message: m.ID, Trace: cmp.Or(m.Trace, m.ID)}
}

// Now implements [Hold].
func (h Budget) Now(q Query) (Held, bool) {
	if b := h.Book.Check(TurnOn(q.Agent, q.Message)); b != nil {
		return h.By(b, q.Now), true
	}
	return Held{}, false
}

// By returns how a block keeps its message waiting. It uses only Text.
func (h Budget) By(b *budget.Block, now time.Time) Held {
	held := Held{Kind: KindBudget, Until: b.Until, Block: b, OneMessage: !b.Daily()}
	if b.Waits {
		held.State, held.Why, held.Next = queued, b.Scope.String()+": the rest is reserved for running turns", "runs when one of them has ended"
	} else {
		held.State, held.Why, held.Next = parked, h.Text(b), raise(b)
		if b.Daily() {
			held.Next += "; continues on its own at " + screen.Ahead(b.Until, now)
		}
	}
	return held
}

// raise returns the command that raises the cap of a block by its configured amount.
func raise(b *budget.Block) string {
	amount := strconv.FormatFloat(b.Own.Dollars(), 'f', -1, 64)
	switch b.Unit {
	case budget.Turns:
		amount = fmt.Sprintf("%dturns", b.Own[budget.Turns])
	case budget.Time:
		amount = b.Own.Span().String()
	}
	return "claude-swarm budget raise " + b.Scope.String() + " " + amount
}
