package budget

import (
	"fmt"
	"strconv"
	"strings"
)

// A Question identifies a question about a scope at its cap. A raise ends the open question
// about a scope, and the next one has another number.
type Question struct {
	Scope
	Day    string // of a daily scope; "-" for any other
	Number int
}

// String returns the question in the form that [QuestionNamed] parses.
func (q Question) String() string { return fmt.Sprintf("%s %s %d", q.Scope, q.Day, q.Number) }

// QuestionNamed parses the result of [Question.String].
func QuestionNamed(text string) (q Question, ok bool) {
	fields := strings.Fields(text)
	if len(fields) != 3 {
		return q, false
	}
	n, err := strconv.Atoi(fields[2])
	q.Scope, ok = ScopeNamed(fields[0])
	q.Day, q.Number = fields[1], n
	return q, ok && err == nil
}

// Question returns the open question about a scope, or the next one if none is open.
func (b *Book) Question(s Scope) Question {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.question(s)
}

func (b *Book) question(s Scope) Question {
	q := Question{s, "-", b.saidOf(s).Number}
	if s.Daily() {
		q.Day = b.today()
	}
	return q
}

// Asked records that the person was asked a question. It returns false if the question was
// over by then: the record would suppress the next question about the scope, so nothing is
// recorded, and the caller withdraws its question.
func (b *Book) Asked(q Question) (open bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.question(q.Scope) != q {
		return false, nil
	}
	if b.saidOf(q.Scope).Asked {
		return true, nil
	}
	return true, b.change(q.Scope, func(of *said) { of.Asked = true })
}

// NotAsked reports whether a question is open and [Book.Asked] was not called for it.
func (b *Book) NotAsked(q Question) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.question(q.Scope) == q && !b.saidOf(q.Scope).Asked
}

// Over returns why a question no longer needs an answer, or "" if it still does. agent is
// the agent of the turn, if the scope is a turn.
func (b *Book) Over(q Question, agent string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if today := b.today(); q.Daily() && q.Day != today {
		if q.Day > today {
			return "" // the clock was set back
		}
		return "that day is over"
	}
	if b.saidOf(q.Scope).Number != q.Number {
		return "the cap was raised"
	}
	block := b.block(q.Scope, Turn{Agent: agent}, b.limit(q.Scope, agent))
	if block == nil || block.Waits {
		return "the scope is no longer at its cap"
	}
	return ""
}

// Next ends a question that no longer needs an answer, so that another question about the
// scope can be asked.
func (b *Book) Next(q Question) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.question(q.Scope) != q {
		return nil
	}
	return b.change(q.Scope, (*said).next)
}
