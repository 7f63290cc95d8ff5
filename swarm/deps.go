package swarm

import (
	"log/slog"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/supervisor"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
	"github.com/claude-swarm/claude-swarm/swarm/whisper"
)

// deps contains the state and services that all agents of a daemon share. Everything in it
// is safe for concurrent use.
type deps struct {
	home       journal.Home
	folder     projectFolder
	store      *dropbox.Store
	ledger     *journal.Ledger
	holds      *journal.Holds
	sessions   *journal.Sessions
	unsorted   *journal.UnsortedTools
	counts     journal.TurnCounts
	tokens     *journal.Tokens
	whispers   *whisper.Store
	supervisor *supervisor.Supervisor
	feed       *feed
	slots      *slots
	starts     starts
	turnDeps   *turn.Deps // the turns' dependencies
	restart    RestartPolicy
	log        *slog.Logger
	mail       *mail.Service
	notices    *notice.Teller
	budget     *budget.Book
	plan       func() Plan
	advise     func(Spec) string // nil means no advice
	halted     *hold.Halted
	accounts   accounts
	admission  *admission
	limits     *usageLimits
	stuckHolds *stuckHolds
	lost       wakeup // a watch or a folder was lost; the sweep checks the watches and recreates folders
}

// These are attribute keys in the daemon's log.
const (
	keyAgent   = "agent"
	keyMessage = "message"
	keyTurn    = "turn"
	keyErr     = "err"
	keyState   = "state"
	keyWhy     = "why"
	keyTook    = "took"
	keyCost    = "cost_usd"
)

// endLeft ends the processes with the given mark that a turn left running.
func endLeft(log *slog.Logger, mark string) {
	if n := turn.EndLeft(mark); n > 0 {
		log.Info("ended the processes that a turn left running", keyTurn, mark, "processes", n)
	}
}
