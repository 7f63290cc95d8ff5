package mail

import (
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// cutOffs looks at the last maxBegun claims of a message, newest first. It returns how
// many of them have not ended, counted from the newest claim to the first that has ended.
// It also returns when the last attempt ended, or when it began if its end is not known.
// A claim without a record counts as cut off before the record was written. cutOffs
// ignores older claims, whose records may have been rotated away.
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

// ended reports whether a claim has ended: its last client has ended, and no other client
// is needed to try again with a new session.
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
