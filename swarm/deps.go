package swarm

import (
	"log/slog"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/hours"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
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
	environ    []string
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
	turnDeps   *turn.Deps // the turns' dependencies
	restart    RestartPolicy
	log        *slog.Logger
	mail       *mail.Service
	notices    *notice.Teller
	wakeAll    func(account string)
	budget     *budget.Book
	plan       func() Plan
	advise     func(Spec) string // nil means no advice
	halted     *haltMark
	lost       wakeup // a watch or a folder was lost; the sweep checks the watches and recreates folders
}

// canWork reports whether the lead agent can begin turns. It cannot if it is stopped,
// paused or outside its hours, or if its account has reached its limit.
func (d *deps) canWork(lead string) bool {
	spec, ok := d.plan().spec(lead)
	if !ok {
		return false
	}
	st := d.holds.Of(lead)
	_, _, limited := d.holds.LimitOf(accountOf(turn.BackendOf(d.turnDeps.Backends, spec.Backend).Kind().Login, d.environ, spec), lead, time.Now())
	_, off := offUntil(spec.Hours, st, time.Now())
	return st.Stopped == nil && st.Paused == nil && !limited && !off
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
func (d *deps) endLeft(mark string) {
	if n := turn.EndLeft(mark); n > 0 {
		d.log.Info("ended the processes that a turn left running", keyTurn, mark, "processes", n)
	}
}

// offUntil returns when an agent's hours begin again, or false if the agent may work now.
func offUntil(h hours.Hours, st journal.Hold, now time.Time) (time.Time, bool) {
	if h.Open(now) || st.Overtime.Holds(now) {
		return time.Time{}, false
	}
	return h.Change(now), true
}
