package swarm

import (
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A RestartPolicy says when an agent continues after failures. Zero fields mean the
// documented values, which come from the source documents: for a client that dies at once,
// a wait of 5 s and a bound of 3 such clients in 300 s; for a failed turn, a wait of 30 s
// that doubles each time.
type RestartPolicy struct {
	NotBegun       time.Duration // wait after a client that died before its first event; 5 s
	NotBegunMax    int           // how many such clients within NotBegunWindow open the breaker; 3
	NotBegunWindow time.Duration // 300 s
	MaxDelay       time.Duration // upper bound of the doubling wait after failed turns; 10 min
	MaxMessages    int           // how many messages that fail in a row open the breaker; 3
	Disk           time.Duration // wait before the next try after a file error; 5 s
}

// A Decision is the reaction to a failure: wait, or stop.
type Decision struct {
	Open   bool          // the breaker opens: no more turns until the agent is started
	After  time.Duration // if Open is false: the wait, before jitter
	Reason string
}

func (p RestartPolicy) orDefaults() RestartPolicy {
	if p.NotBegun == 0 {
		p.NotBegun = 5 * time.Second
	}
	if p.NotBegunMax == 0 {
		p.NotBegunMax = 3
	}
	if p.NotBegunWindow == 0 {
		p.NotBegunWindow = 300 * time.Second
	}
	if p.MaxDelay == 0 {
		p.MaxDelay = 10 * time.Minute
	}
	if p.MaxMessages == 0 {
		p.MaxMessages = 3
	}
	if p.Disk == 0 {
		p.Disk = 5 * time.Second
	}
	return p
}

// Decide examines the failures since the last good turn, oldest first, and says what comes
// next. The parameter first is the agent's wait after its first failed turn. Decide reads
// no clock and starts nothing.
func (p RestartPolicy) Decide(failures []journal.Failure, first time.Duration, now time.Time) Decision {
	p = p.orDefaults()
	if len(failures) == 0 {
		return Decision{Reason: "no failure"}
	}
	last := failures[len(failures)-1]
	if last.NotBegun {
		return p.afterNotBegun(failures, now)
	}

	failed := 0
	different := map[string]bool{}
	gaveUp := false // an earlier message was given up, and no turn has ended well since
	for i, f := range failures {
		if f.NotBegun {
			continue
		}
		failed++
		different[f.Message] = true
		gaveUp = gaveUp || f.GivenUp && i < len(failures)-1
	}
	switch {
	case len(different) >= p.MaxMessages:
		return Decision{Open: true, Reason: fmt.Sprintf("%d different messages failed in a row", len(different))}
	case gaveUp:
		return Decision{Open: true, Reason: "a message was given up, and the next one failed too"}
	case last.GivenUp:
		// The failed message is not tried again; the next message gets one try after the
		// first wait.
		return Decision{After: min(first, p.MaxDelay), Reason: "the message was given up; the next one gets one try"}
	}
	return Decision{
		After:  journal.Backoff(first, failed-1, p.MaxDelay),
		Reason: fmt.Sprintf("%d failed in a row", failed),
	}
}

func (p RestartPolicy) afterNotBegun(failures []journal.Failure, now time.Time) Decision {
	recent := 0
	for _, f := range failures {
		// A clock that was set back must not hide failures: times after now count as
		// recent.
		if f.NotBegun && now.Sub(f.At) < p.NotBegunWindow {
			recent++
		}
	}
	if recent >= p.NotBegunMax {
		return Decision{Open: true, Reason: fmt.Sprintf("the client failed to start working %d times within %v", recent, p.NotBegunWindow)}
	}
	return Decision{After: p.NotBegun, Reason: "the client failed to start working"}
}

// jittered lengthens d by up to a fifth, so that agents that failed together do not retry
// together. random is in [0, 1).
func jittered(d time.Duration, random float64) time.Duration {
	return d + time.Duration(random*float64(d)/5)
}
