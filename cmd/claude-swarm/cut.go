package main

import (
	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// cutText describes the outcome of a turn that was ordered to stop.
func cutText(cut swarm.Cut) string {
	if cut.Message == "" {
		return cutCompaction(cut.State)
	}
	switch cut.State {
	case dropbox.Done:
		return "the turn of " + cut.Message + " finished before it could be stopped, and counts as done"
	case dropbox.Dead:
		return "the turn was stopped, and its message " + cut.Message + " is a dead letter"
	case dropbox.Claimed:
		return "the turn has ended, but the daemon cannot write its files; it tries again, and message " + cut.Message + " stays claimed until then"
	}
	return "the turn was stopped, and its message " + cut.Message + " is waiting again"
}

// cutCompaction is like cutText, but for a turn that compacts the context and therefore
// has no message.
func cutCompaction(state dropbox.State) string {
	switch state {
	case dropbox.Done:
		return "the compaction finished before it could be stopped"
	case dropbox.Waiting:
		return "the compaction was stopped, and will be retried before the next message"
	}
	return "the compaction was stopped, and the context is unchanged"
}

const noTurn = "no turn is running"
