package budget

import (
	"fmt"
	"slices"
	"time"
)

// A Warning reports that a scope has reached the fraction of its cap at which people are
// warned.
type Warning struct {
	Scope
	Unit       Unit
	Spent, Cap Amount
	Question   Question // what the person is asked if the scope reaches this cap
}

// Warnings returns the warnings that are due for the scopes of a turn and have not been
// given yet.
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
				list = append(list, Warning{s, u, used, limit, b.question(s)})
				break
			}
		}
	}
	return list
}

// Warned records that a warning was given, unless the cap was raised or the day ended
// meanwhile.
func (b *Book) Warned(w Warning) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.question(w.Scope) != w.Question {
		return nil
	}
	return b.change(w.Scope, func(of *said) { of.Warned = true })
}

// A NoCapError reports that a cap cannot be raised because the scope has no cap in that
// unit.
type NoCapError struct {
	Scope Scope
	Unit  Unit
	Cap   Amount // of the scope; zero means that the scope has no cap in any unit
}

func (e *NoCapError) Error() string {
	if e.Cap.IsZero() {
		return e.Scope.String() + " has no cap, so there is nothing to raise"
	}
	return fmt.Sprintf("%s has no cap in %s: its cap is %s", e.Scope, e.Unit, e.Cap.Text())
}

// Raise adds an amount to the cap of a scope, and returns the new cap. A raise of a daily
// scope applies only to the current day. agent is the agent of the turn, if the scope is
// a turn. The error may be a [*NoCapError].
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

// raise adds to a cap, and clears the warning, question and answer about it. The caller
// holds the mutex.
func (b *Book) raise(s Scope, by Amount) error {
	return b.change(s, func(of *said) {
		of.Raised = raisedBy(of.Raised.amount().plus(by))
		of.next()
	})
}

// An OverError reports that an answer was too late because its question was already over.
type OverError struct{ Scope Scope }

func (e *OverError) Error() string {
	return "the question about " + e.Scope.String() + " is no longer open"
}

// A Reply is an answer to a question about a scope.
type Reply struct {
	ID     string // of the message that contains the reply
	Answer Answer
}

// Answer applies an answer to a question about a scope. The parameter "waiting" lists the
// ids of the messages that are waiting in the scope. Answer returns how many of them get
// one more turn. Repeating a reply changes nothing, and returns the same number. The
// error may be an [*OverError].
func (b *Book) Answer(q Question, agent string, reply Reply, waiting []string) (passed int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := q.Scope
	if before := b.said.Get().Scopes[s.round(q.Day)]; reply.ID != "" && before.Done == reply.ID {
		return before.Passed, nil
	}
	if b.question(s) != q {
		return 0, &OverError{s}
	}
	now := b.now()
	err = b.change(s, func(of *said) {
		of.Done, of.Passed = reply.ID, 0
		switch reply.Answer {
		case More:
			of.Raised = raisedBy(of.Raised.amount().plus(b.rules.cap(s, agent)))
			of.next()
			return
		case End:
			if of.Passes == nil {
				of.Passes = map[string]time.Time{}
			}
			for _, id := range waiting {
				of.Passes[id] = now
			}
			of.Passed = len(waiting)
		}
		of.Answer = reply.Answer
	})
	if err != nil {
		return 0, err
	}
	return b.saidOf(s).Passed, nil
}

// Cap returns the cap of a scope. agent is the agent of the turn, if the scope is a turn.
func (b *Book) Cap(s Scope, agent string) Amount {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit(s, agent)
}

// Worker returns the agent whose turn is counted in a scope of [KindTurn], or "" if there is
// no such turn. For other scopes it returns "".
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

// A Line describes a scope that has a cap.
type Line struct {
	Scope
	Spent    Amount  // only what counts against the cap
	Flat     float64 // US dollars that a subscription covers, which do not count
	Assumed  float64 // the US dollars in Spent that were reserved for turns whose real cost is unknown
	Reserved Amount
	Cap      Amount
	Full     []Unit // the units that are used up
	Answer   Answer
	Until    time.Time // the end of the day; zero if the scope is not daily
}

// Rest returns the amount that is neither spent nor reserved, in each unit that has a
// cap.
func (l Line) Rest() (rest Amount) {
	for _, u := range Units() {
		if l.Cap[u] > 0 {
			rest[u] = max(0, l.Cap[u]-l.Spent[u]-l.Reserved[u])
		}
	}
	return rest
}

// shownTasks is the number of most recent tasks that Lines returns. It also returns all
// older tasks that are at their cap.
const shownTasks = 20

// Line returns the line of one scope, or false if the scope has no cap.
func (b *Book) Line(s Scope) (Line, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.line(s, b.worker(s))
}

// Lines returns the scopes that have a cap: the days of the swarm and of the agents, tasks
// (the most recent ones, with running tasks first, and all tasks at their cap), and the
// messages whose turn used up its cap.
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

// tasks returns the tasks to show, latest first. The caller holds the mutex.
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

// line returns the line of a scope, or false if the scope has no cap. The caller holds
// the mutex.
func (b *Book) line(s Scope, agent string) (Line, bool) {
	limit := b.limit(s, agent)
	if limit.IsZero() {
		return Line{}, false
	}
	now := b.now()
	all := b.spent.of(s, b.rules.midnight(now), now)
	used := b.rules.counts(all)
	l := Line{Scope: s, Spent: used, Flat: float64(all[USD]-used[USD]) / dollar, Reserved: b.reserved(s), Cap: limit, Full: over(limit, used), Answer: b.saidOf(s).Answer}
	if used[USD] > 0 {
		l.Assumed = float64(max(0, all[assumed])) / dollar
	}
	if s.Daily() {
		l.Until = b.rules.NextDay(now)
	}
	return l, true
}
