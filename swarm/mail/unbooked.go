package mail

import (
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// leastToldUSD is the smallest cost in no turn, in US dollars, about which the person is told.
// Clients also ask the model between two turns, for example for the title of a session.
const leastToldUSD = 0.01

// sessionUSD returns the total of the session after a turn, or 0 if it cannot be compared with
// the cost of the agent's turns, because the client continued the newest session of its folder,
// in which a person may have worked as well.
func sessionUSD(rec *journal.Record, out runner.Outcome) float64 {
	if rec.How == string(runner.Continue) {
		return 0
	}
	return out.SessionUSD
}

// tellUnbooked tells the person, once, that a turn has shown a cost that was in no turn.
func (in *Inbox) tellUnbooked(turn string) {
	l, ok := in.Ledger.Unbooked(turn)
	if !ok || l.CostUSD < leastToldUSD {
		return
	}
	in.Notices.Tell(notice.Unbooked{Agent: in.Name, Turn: turn, Line: l})
}
