package swarm

import (
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// A RestartPolicy determines when an agent continues after failures. A zero field means
// the default value, which is specified in the source documents. For a client that dies
// before its first event, the defaults are a wait of 5 s and a limit of 3 such clients in
// 300 s. For a failed turn, the default is a wait of 30 s that doubles each time.
type RestartPolicy struct {
	NotBegun       time.Duration // wait after a client that died before its first event; 5 s
	NotBegunMax    int           // number of such clients within NotBegunWindow that opens the breaker; 3
	NotBegunWindow time.Duration // 300 s
	MaxDelay       time.Duration // maximum of the doubling wait after failed turns; 10 min
	MaxMessages    int           // number of consecutive failing messages that opens the breaker; 3
	Disk           time.Duration // wait before the next attempt after a file error; 5 s
}

// A Decision is the reaction to a failure: either wait or stop.
type Decision struct {
	Open   bool          // the breaker opens, and no turn begins until the agent is started
	After  time.Duration // the wait before jitter is added, if Open is false
	Reason string
}

// A breaker stops one agent until it is started again. It is safe for concurrent use.
type breaker struct {
	name    string
	holds   *journal.Holds
	notices *notice.Teller
	mail    *mail.Service
}

// open stops the agent. hint says what a person must do before starting it.
func (b *breaker) open(why, hint string) {
	now := time.Now().UTC()
	b.mail.Note(b.holds.Change(b.name, func(s *journal.Hold) {
		s.Stopped = &journal.Stop{By: dropbox.Swarm, Why: why, Hint: hint, Since: now, Breaker: true}
	}))
	b.notices.Tell(notice.Stopped{Agent: b.name, Why: why, Hint: hint, Since: now})
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

// Decide examines the failures since the last successful turn, oldest first, and decides
// whether the agent waits or stops. The parameter first is the agent's wait after its
// first failed turn. Decide reads no clock and has no side effects.
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
	gaveUp := false // an earlier message was given up, and no turn has succeeded since then
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
		// The failed message is not retried. The next message gets one attempt after the
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
		// A clock that was set back must not hide failures, so times after now count as
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

// jittered lengthens d by up to a fifth, so that agents that fail at the same time do not
// retry at the same time. The value of random is in [0, 1).
func jittered(d time.Duration, random float64) time.Duration {
	return d + time.Duration(random*float64(d)/5)
}
