package supervisor

// A ladder counts bad verdicts in a row.
//
//	quiet --bad--> told --bad--> told strongly --bad--> escalated
//	  ^             |                 |                     |
//	  +----clean----+------clean------+     a person resumes|
//	  +-----------------------------------------------------+
//
// The threshold is the number of bad verdicts in a row after which the ladder escalates.
// If it is above 3, the agent is told strongly several times.
type ladder struct {
	bad  int
	over bool // it has escalated
}

// A rung is what a verdict leads to.
type rung int

const (
	nothing  rung = iota
	first         // a whisper
	stronger      // a whisper in stronger words
	escalate
)

// down counts a bad verdict, and returns what it leads to.
func (l *ladder) down(threshold int) rung {
	if l.over {
		return nothing
	}
	l.bad++
	switch {
	case l.bad >= threshold:
		l.over = true
		return escalate
	case l.bad == 1:
		return first
	}
	return stronger
}

// clean handles a clean verdict. After an escalation only a person resets the ladder.
func (l *ladder) clean() {
	if !l.over {
		l.bad = 0
	}
}

// last reports whether at least two bad verdicts are counted and the next one escalates.
func (l *ladder) last(threshold int) bool { return !l.over && l.bad >= 2 && l.bad == threshold-1 }
