package mail

import (
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// cutOffs checks the last maxBegun claims of a message, newest first. It returns the
// number of claims that have not ended, counted from the newest claim back to the first
// one that has ended. It also returns when the last attempt ended, or when it began if
// its end is unknown. A claim without a record counts as interrupted before the record
// was written. cutOffs ignores older claims, whose records may have been rotated out.
func cutOffs(home journal.Home, message string, begun int) (inARow int, last time.Time, err error) {
	counting := true
	for n := begun; n > 0 && n > begun-maxBegun; n-- {
		tries, err := journal.TriesOf(home, message, n)
		if err != nil {
			return 0, last, err
		}
		for _, r := range tries {
			last = later(later(last, r.Begun), r.Ended)
		}
		counting = counting && !ended(tries)
		if counting {
			inARow++
		}
	}
	return inARow, last, nil
}

// ended reports whether a claim has ended. A claim has ended if its last client has ended
// and no other client has to retry with a new session.
func ended(tries []*journal.Record) bool {
	if len(tries) == 0 {
		return false
	}
	switch tries[len(tries)-1].End {
	case "", runner.ClientGone:
		return false
	case runner.NoSession, runner.PromptNotRun:
		return len(tries) >= journal.MaxTries
	}
	return true
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
