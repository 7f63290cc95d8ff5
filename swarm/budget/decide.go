package budget

import (
	"fmt"
	"slices"
	"time"
)

// Asked notes that the person was asked about a scope at its cap.
func (b *Book) Asked(s Scope) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.saidOf(s).Asked {
		return nil
	}
	return b.change(s, func(of *said) { of.Asked = true })
}

// IsAsked reports whether a question about a scope waits for the person.
func (b *Book) IsAsked(s Scope) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.saidOf(s).Asked
}

// A Warning says that a scope has used the part of its cap at which people are warned.
type Warning struct {
	Scope
	Unit       Unit
	Spent, Cap Amount
	Number     int    // how often the cap has been raised
	Day        string // of a scope that ends with the day
}

// Warnings returns the warnings that are due for the scopes of a turn and were not given
// yet.
func (b *Book) Warnings(t Turn) (list []Warning) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range t.scopes() {
		limit, of := b.limit(s, t.Agent), b.saidOf(s)
		if limit.IsZero() || of.Warned || s.Kind == KindTurn {
			continue
		}
		used := b.spentIn(s)
		if len(over(limit, used)) > 0 {
			continue // the question about the cap replaces the warning
		}
		for _, u := range Units() {
			if limit[u] > 0 && float64(used[u]) >= b.rules.warn()*float64(limit[u]) {
				list = append(list, Warning{s, u, used, limit, of.Raises, of.Day})
				break
			}
		}
	}
	return list
}

// Warned notes that a warning was given.
func (b *Book) Warned(w Warning) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.saidOf(w.Scope).Raises != w.Number {
		return nil
	}
	return b.change(w.Scope, func(of *said) { of.Warned = true })
}

// A NoCapError says that a scope cannot be raised by an amount: it has no cap in that unit.
type NoCapError struct {
	Scope Scope
	Unit  Unit
	Cap   Amount // of the scope; zero: it has no cap at all
}

func (e *NoCapError) Error() string {
	if e.Cap.IsZero() {
		return e.Scope.String() + " has no cap, so there is nothing to raise"
	}
	return fmt.Sprintf("%s has no cap in %s: its cap is %s", e.Scope, e.Unit, e.Cap.Text())
}

// Raise adds to the cap of a scope, for today if it is a daily one, and returns the new
// cap. agent is the agent of a turn. The error may be a [*NoCapError].
func (b *Book) Raise(s Scope, agent string, by Amount) (Amount, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	limit := b.limit(s, agent)
	for _, u := range Units() {
		if by[u] != 0 && limit[u] == 0 {
			return limit, &NoCapError{s, u, limit}
		}
	}
	err := b.raise(s, by)
	return b.limit(s, agent), err
}

// raise adds to a cap, and forgets its warning, question and answer. The caller holds the
// mutex.
func (b *Book) raise(s Scope, by Amount) error {
	return b.change(s, func(of *said) {
		of.Raised = raisedBy(of.Raised.amount().plus(by))
		of.Raises++
		of.Warned, of.Asked, of.Answer = false, false, ""
	})
}

// An OverError says that an answer came after the end of its question.
type OverError struct{ Scope Scope }

func (e *OverError) Error() string { return "the question about " + e.Scope.String() + " is over" }

// Answer carries out an answer to a question about a scope. number is that of the question,
// and date the day of a daily scope; waiting are the ids of the messages that wait there
// now. Repeating an answer changes nothing. The error may be an [*OverError].
func (b *Book) Answer(s Scope, agent string, number int, date string, answer Answer, waiting []string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.saidOf(s)
	switch {
	case of.Raises != number || s.Daily() && date != b.rules.date(b.now()):
		return &OverError{s}
	case answer == More:
		return b.raise(s, b.rules.cap(s, agent))
	case of.Answer == answer:
		return nil
	}
	now := b.now()
	return b.change(s, func(of *said) {
		of.Answer = answer
		if answer != End {
			return
		}
		if of.Passes == nil {
			of.Passes = map[string]time.Time{}
		}
		for _, id := range waiting {
			of.Passes[id] = now
		}
	})
}

// Cap returns the cap of a scope. agent is the agent of a turn.
func (b *Book) Cap(s Scope, agent string) Amount {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit(s, agent)
}

// Number returns how often the cap of a scope has been raised.
func (b *Book) Number(s Scope) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.saidOf(s).Raises
}

// Worker returns the agent whose turn used up the cap of a scope of [KindTurn]; "" for
// other scopes.
func (b *Book) Worker(s Scope) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.worker(s)
}

func (b *Book) worker(s Scope) string {
	if s.Kind != KindTurn {
		return ""
	}
	return b.spent.agents[s.Name]
}

// An Asking is a scope about which the person was asked.
type Asking struct {
	Scope
	Day    string
	Number int
}

// Yesterday returns the daily scopes of past days about which the person was asked.
func (b *Book) Yesterday() (list []Asking) {
	b.mu.Lock()
	defer b.mu.Unlock()
	today := b.rules.date(b.now())
	for s, of := range b.said {
		if s.Daily() && of.Asked && of.Day < today { // not tomorrow: the clock may have been set back
			list = append(list, Asking{s, of.Day, of.Raises})
		}
	}
	return list
}

// Forget drops the raises, questions and answers of a daily scope whose day is over.
func (b *Book) Forget(s Scope) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.said[s].Day >= b.rules.date(b.now()) {
		return nil
	}
	return b.change(s, func(of *said) { *of = said{Day: of.Day} })
}

// Date names today for a daily scope; it is "-" for any other.
func (b *Book) Date(s Scope) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !s.Daily() {
		return "-"
	}
	return b.rules.date(b.now())
}

// A Line is a scope with its cap.
type Line struct {
	Scope
	Spent    Amount  // that counts against the cap
	Flat     float64 // US dollars that a subscription has paid, which do not count
	Reserved Amount
	Cap      Amount
	Full     []Unit // the units that are used up
	Answer   Answer
	Until    time.Time // the end of the day; zero if the scope is not daily
}

// Rest is what is neither spent nor reserved, in the units with a cap.
func (l Line) Rest() (rest Amount) {
	for _, u := range Units() {
		if l.Cap[u] > 0 {
			rest[u] = max(0, l.Cap[u]-l.Spent[u]-l.Reserved[u])
		}
	}
	return rest
}

// shownTasks is how many tasks Lines returns besides those at their cap.
const shownTasks = 20

// Line returns the line of one scope; false if it has no cap.
func (b *Book) Line(s Scope) (Line, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.line(s, b.worker(s))
}

// Lines returns the scopes that have a cap: the days of the swarm and of the agents, tasks
// (those that run, those at their cap and the latest others), and the messages whose turn
// used up its cap.
func (b *Book) Lines(agents []string) (list []Line) {
	b.mu.Lock()
	defer b.mu.Unlock()
	add := func(s Scope, agent string) {
		if l, ok := b.line(s, agent); ok {
			list = append(list, l)
		}
	}
	add(Scope{Kind: KindSwarm}, "")
	for _, agent := range agents {
		add(Scope{KindAgent, agent}, agent)
	}
	for _, s := range b.tasks() {
		add(s, "")
	}
	for _, message := range b.spent.order {
		agent := b.spent.agents[message]
		s := Scope{KindTurn, message}
		if l, ok := b.line(s, agent); ok && len(l.Full) > 0 {
			list = append(list, l)
		}
	}
	return list
}

// tasks returns the tasks to show, the latest first. The caller holds the mutex.
func (b *Book) tasks() []Scope {
	if b.rules.Task.IsZero() {
		return nil
	}
	var all []Scope
	for trace := range b.spent.tasks {
		all = append(all, Scope{KindTask, trace})
	}
	for r := range b.open {
		if s := (Scope{KindTask, r.Trace}); r.Trace != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	latest := func(s Scope) time.Time {
		for r := range b.open {
			if r.Trace == s.Name {
				return b.now()
			}
		}
		return b.spent.tasks[s.Name].last
	}
	slices.SortFunc(all, func(a, c Scope) int { return latest(c).Compare(latest(a)) })
	n := 0
	return slices.DeleteFunc(all, func(s Scope) bool {
		n++
		limit := b.limit(s, "")
		return n > shownTasks && len(over(limit, b.spentIn(s))) == 0
	})
}

// line returns the line of a scope; false if it has no cap. The caller holds the mutex.
func (b *Book) line(s Scope, agent string) (Line, bool) {
	limit := b.limit(s, agent)
	if limit.IsZero() {
		return Line{}, false
	}
	now := b.now()
	all := b.spent.of(s, b.rules.midnight(now), now)
	used := b.rules.counts(all)
	l := Line{Scope: s, Spent: used, Flat: float64(all[USD]-used[USD]) / dollar, Reserved: b.reserved(s), Cap: limit, Full: over(limit, used), Answer: b.saidOf(s).Answer}
	if s.Daily() {
		l.Until = b.rules.NextDay(now)
	}
	return l, true
}
