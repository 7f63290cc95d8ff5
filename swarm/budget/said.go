package budget

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// An Answer decides about the mail that waits in a scope at its cap.
type Answer string

// The answers.
const (
	More Answer = "more" // the configured cap is added once more
	Stop Answer = "stop" // the mail that waits is given up, or waits for the next day
	End  Answer = "end"  // each message that waits now gets one more turn
)

// Answers returns all answers, in the order in which a question names them.
func Answers() []Answer { return []Answer{More, Stop, End} }

// A said has the raises, warnings, questions and answers about a scope.
type said struct {
	// Day is the day of a daily scope.
	Day    string `json:"day,omitempty"`
	Agent  string `json:"agent,omitempty"` // the agent of a turn
	Raised raised `json:"raised,omitzero"`
	// Raises counts the raises: each begins with no warning, question and answer.
	Raises int    `json:"raises,omitempty"`
	Warned bool   `json:"warned,omitempty"`
	Asked  bool   `json:"asked,omitempty"`
	Answer Answer `json:"answer,omitempty"`
	// Passes are the messages with one more turn, with the time of the answer.
	Passes map[string]time.Time `json:"passes,omitempty"`
}

// A raised is the amount that was added to a cap.
type raised struct {
	USD   float64       `json:"usd,omitempty"`
	Turns int           `json:"turns,omitempty"`
	Time  time.Duration `json:"nanoseconds,omitempty"`
}

func (r raised) amount() Amount { return Of(r.USD, r.Turns, r.Time) }

func raisedBy(a Amount) raised { return raised{a.Dollars(), int(a[Turns]), a.Span()} }

// saidFile is budget.json.
type saidFile struct {
	V      int             `json:"v"`
	Scopes map[string]said `json:"scopes"`
}

// readSaid reads budget.json. With a [*journal.DamagedError] the result is empty and usable.
func readSaid(home journal.Home) (map[Scope]said, error) {
	var file saidFile
	err := journal.ReadJSON(home.BudgetFile(), &file)
	if e, ok := errors.AsType[*journal.DamagedError](err); ok {
		e.Lost, e.Next = "it is not known which budgets were raised", "claude-swarm start, which sets it aside"
		return map[Scope]said{}, e
	} else if err != nil {
		return nil, fmt.Errorf("what was said about the budget: %w", err)
	}
	all := make(map[Scope]said, len(file.Scopes))
	for name, s := range file.Scopes {
		if scope, ok := ScopeNamed(name); ok {
			all[scope] = s
		}
	}
	return all, nil
}

// maxSaid bounds the scopes in budget.json.
const maxSaid = 1000

// writeSaid writes budget.json, without days that are over. The caller holds the mutex.
func (b *Book) writeSaid() error {
	today := b.rules.date(b.now())
	if len(b.said) > maxSaid {
		maps.DeleteFunc(b.said, func(s Scope, of said) bool { return s.Daily() && of.Day != today })
	}
	file := saidFile{V: 1, Scopes: make(map[string]said, len(b.said))}
	for scope, s := range b.said {
		file.Scopes[scope.String()] = s
	}
	if err := b.home.Files().WriteJSON(b.home.BudgetFile(), file); err != nil {
		return fmt.Errorf("write what was said about the budget: %w", err)
	}
	return nil
}

// change lets f change the entry of a scope, and writes the file. If that fails, nothing
// has changed. The caller holds the mutex.
func (b *Book) change(s Scope, f func(*said)) error {
	before, known := b.said[s]
	of := b.saidOf(s)
	of.Passes = maps.Clone(of.Passes)
	f(&of)
	b.said[s] = of
	b.version++
	err := b.writeSaid()
	if err != nil {
		if b.said[s] = before; !known {
			delete(b.said, s)
		}
	}
	return err
}

// saidOf returns the entry of a scope for today. The caller holds the mutex.
func (b *Book) saidOf(s Scope) said {
	of := b.said[s]
	if today := b.rules.date(b.now()); s.Daily() && of.Day != today {
		of = said{Day: today}
	}
	return of
}
