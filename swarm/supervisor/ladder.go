package supervisor

// A ladder counts consecutive bad verdicts.
//
//	quiet --bad--> told --bad--> told strongly --bad--> escalated
//	  ^             |                 |                     |
//	  +----clean----+------clean------+     a person resumes|
//	  +-----------------------------------------------------+
//
// The threshold is the number of consecutive bad verdicts after which the ladder
// escalates. If it is above 3, the agent gets several stronger whispers.
type ladder struct {
	bad  int
	over bool // the ladder has escalated
}

// A rung is the consequence of a verdict.
type rung int

const (
	nothing  rung = iota
	first         // a whisper
	stronger      // a whisper in stronger words
	escalate
)

// down counts a bad verdict, and returns its consequence.
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

// clean handles a clean verdict. After an escalation, only a person can reset the ladder.
func (l *ladder) clean() {
	if !l.over {
		l.bad = 0
	}
}

// last reports whether at least two bad verdicts have been counted and the next one
// escalates.
func (l *ladder) last(threshold int) bool { return !l.over && l.bad >= 2 && l.bad == threshold-1 }
