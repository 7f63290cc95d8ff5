package budget

import (
	"fmt"
	"maps"
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

// round returns the name of the decisions about a scope on a day. Each day of a daily scope
// begins without decisions. If the clock is set back past midnight and forward again, the
// decisions of each day are kept.
func (s Scope) round(date string) string {
	if !s.Daily() {
		return s.String()
	}
	return strings.TrimSpace(s.String() + " " + date)
}

// isRound reports whether [Scope.round] may have returned a name.
func isRound(name string) bool {
	of, _, _ := strings.Cut(name, " ")
	_, ok := ScopeNamed(of)
	return ok
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
	V      durable.Version1 `json:"v"`
	Scopes map[string]said  `json:"scopes"` // by their rounds
}

// openSaid reads budget.json. If the error is a [*durable.DamagedError], the result is empty
// and usable.
func openSaid(home journal.Home) (*durable.Doc[saidFile], error) {
	doc, err := durable.OpenDoc[saidFile](home.Files(), home.BudgetFile(), durable.DocOptions{
		Lost: "it is unknown which budgets were raised", Next: "claude-swarm start, which sets it aside",
	})
	if err != nil {
		err = fmt.Errorf("read budget raises and answers: %w", err)
	}
	doc.ChangeMemory(func(file *saidFile) {
		maps.DeleteFunc(file.Scopes, func(name string, _ said) bool { return !isRound(name) })
	})
	return doc, err
}

// maxSaid is the maximum number of entries in budget.json. The most recently changed
// entries are kept.
const maxSaid = 1000

// RestoreFile writes budget.json if another program has deleted it.
func (b *Book) RestoreFile() error { return wroteSaid(b.said.Restore()) }

// change calls f, which changes today's decisions about a scope, and writes the file. If
// the file cannot be written, the decisions do not change. The caller holds the mutex.
func (b *Book) change(s Scope, f func(*said)) error {
	key, now := s.round(b.today()), b.now().UTC()
	b.version++
	return wroteSaid(b.said.Change(func(file *saidFile) bool {
		of := file.Scopes[key]
		of.Passes = maps.Clone(of.Passes)
		f(&of)
		of.At = now
		file.Scopes[key] = of
		if len(file.Scopes) > maxSaid {
			delete(file.Scopes, slices.MinFunc(slices.Collect(maps.Keys(file.Scopes)), func(x, y string) int {
				return file.Scopes[x].At.Compare(file.Scopes[y].At)
			}))
		}
		return true
	}))
}

// passed removes a message that has had its turn from those that may have one more. The file
// still contains it until the next change. The next daemon removes it when it reads the
// ledger. The caller holds the mutex.
func (b *Book) passed(message string, at time.Time) {
	for round, of := range b.said.Get().Scopes {
		if answered, ok := of.Passes[message]; ok && at.After(answered) {
			b.said.ChangeMemory(func(file *saidFile) {
				of.Passes = maps.Clone(of.Passes)
				delete(of.Passes, message)
				file.Scopes[round] = of
			})
		}
	}
}

func wroteSaid(err error) error {
	if err != nil {
		return fmt.Errorf("write budget raises and answers: %w", err)
	}
	return nil
}

// saidOf returns today's decisions about a scope. The caller holds the mutex.
func (b *Book) saidOf(s Scope) said { return b.said.Get().Scopes[s.round(b.today())] }

func (b *Book) today() string { return b.rules.date(b.now()) }
