package swarm

import (
	"log/slog"

	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

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
