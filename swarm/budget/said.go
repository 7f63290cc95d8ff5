package budget

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// An Answer is a person's decision about the messages waiting in a scope at its cap.
type Answer string

// The answers.
const (
	More Answer = "more" // the configured cap is added to the cap
	Stop Answer = "stop" // the waiting messages are given up, or wait for the next day
	End  Answer = "end"  // each message that is waiting now gets one more turn
)

// Answers returns all answers, in the order in which questions list them.
func Answers() []Answer { return []Answer{More, Stop, End} }

// A round identifies the decisions about a scope. For a daily scope it includes the day, so
// each day begins without decisions. If the clock is set back past midnight and forward
// again, the decisions of each day are kept.
type round struct {
	Scope
	day string // of a daily scope
}

// round returns the round of a scope on a day.
func (s Scope) round(date string) round {
	if !s.Daily() {
		date = ""
	}
	return round{s, date}
}

// String returns the name of the scope, with the day if the scope is daily.
func (r round) String() string { return strings.TrimSpace(r.Scope.String() + " " + r.day) }

// roundNamed parses a name that [round.String] returned.
func roundNamed(name string) (round, bool) {
	of, date, _ := strings.Cut(name, " ")
	scope, ok := ScopeNamed(of)
	return round{scope, date}, ok
}

// A said contains the raises, warnings, questions and answers about a scope.
type said struct {
	At     time.Time `json:"at"` // when it last changed
	Raised raised    `json:"raised,omitzero"`
	// Number counts the raises, and the questions that ended unanswered. Each of them clears
	// the warning, question and answer.
	Number int    `json:"number,omitempty"`
	Warned bool   `json:"warned,omitempty"`
	Asked  bool   `json:"asked,omitempty"`
	Answer Answer `json:"answer,omitempty"`
	// Done is the id of the last reply that was carried out, and Passed is the number of
	// messages that the reply let pass. If a daemon is killed before it records the
	// outcome of a reply, the next daemon repeats the reply.
	Done   string `json:"done,omitempty"`
	Passed int    `json:"passed,omitempty"`
	// Passes maps the id of each message that may have one more turn to the time of the
	// answer.
	Passes map[string]time.Time `json:"passes,omitempty"`
}

// next clears the warning, question and answer after a raise, or after a question that no
// longer needs an answer.
func (of *said) next() {
	of.Number++
	of.Warned, of.Asked, of.Answer = false, false, ""
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
	Scopes map[string]said `json:"scopes"` // by the names of their rounds
}

// readSaid reads budget.json. If the error is a [*durable.DamagedError], the result is
// empty and usable.
func readSaid(home journal.Home) (map[round]said, error) {
	var file saidFile
	err := durable.ReadJSON(home.BudgetFile(), &file)
	if e, ok := errors.AsType[*durable.DamagedError](err); ok {
		e.Lost, e.Next = "it is unknown which budgets were raised", "claude-swarm start, which sets it aside"
		return map[round]said{}, e
	} else if err != nil {
		return nil, fmt.Errorf("read budget raises and answers: %w", err)
	}
	all := make(map[round]said, len(file.Scopes))
	for name, s := range file.Scopes {
		if of, ok := roundNamed(name); ok {
			all[of] = s
		}
	}
	return all, nil
}

// maxSaid is the maximum number of entries in budget.json. The most recently changed
// entries are kept.
const maxSaid = 1000

// writeSaid writes budget.json. The caller holds the mutex.
func (b *Book) writeSaid() error {
	if len(b.said) > maxSaid {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(b.said)), func(x, y round) int { return b.said[x].At.Compare(b.said[y].At) })
		delete(b.said, oldest)
	}
	file := saidFile{V: 1, Scopes: make(map[string]said, len(b.said))}
	for of, s := range b.said {
		file.Scopes[of.String()] = s
	}
	if err := b.home.Files().WriteJSON(b.home.BudgetFile(), file); err != nil {
		return fmt.Errorf("write budget raises and answers: %w", err)
	}
	return nil
}

// RestoreFile writes budget.json if another program has deleted it.
func (b *Book) RestoreFile() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := os.Lstat(b.home.BudgetFile()); !errors.Is(err, fs.ErrNotExist) || len(b.said) == 0 {
		return nil
	}
	return b.writeSaid()
}

// change calls f, which changes today's decisions about a scope, and writes the file. If
// the file cannot be written, the decisions do not change. The caller holds the mutex.
func (b *Book) change(s Scope, f func(*said)) error {
	key, before := s.round(b.today()), maps.Clone(b.said)
	of := b.said[key]
	of.Passes = maps.Clone(of.Passes)
	f(&of)
	of.At = b.now().UTC()
	b.said[key] = of
	b.version++
	err := b.writeSaid()
	if err != nil {
		b.said = before
	}
	return err
}

// saidOf returns today's decisions about a scope. The caller holds the mutex.
func (b *Book) saidOf(s Scope) said { return b.said[s.round(b.today())] }

func (b *Book) today() string { return b.rules.date(b.now()) }
