package budget

import (
	"maps"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// spent adds up the ledger's lines. It keeps the most recent days, and at least the
// mostTasks most recent tasks. A dropped task restarts at 0.
type spent struct {
	days   map[Scope]quarters
	tasks  map[string]*taskSum
	turns  map[string]Amount // by message: the amount that its last turn used, if that turn did not end well
	agents map[string]string // the agent of each message in the turns map
	order  []string          // the messages in the turns map, oldest first
}

// A taskSum is the total that a task has used.
type taskSum struct {
	Amount
	last time.Time
}

const (
	mostTasks    = 20_000
	mostMessages = 10_000
)

func newSpent() spent {
	return spent{days: map[Scope]quarters{}, tasks: map[string]*taskSum{}, turns: map[string]Amount{}, agents: map[string]string{}}
}

// add adds a ledger line to the totals.
func (s *spent) add(l journal.LedgerLine, used Amount) {
	for _, of := range (Turn{Agent: l.Agent}).scopes() {
		if s.days[of] == nil {
			s.days[of] = quarters{}
		}
		s.days[of].add(l.At, used)
	}
	if l.Trace != "" {
		sum := s.tasks[l.Trace]
		if sum == nil {
			sum = &taskSum{}
			s.tasks[l.Trace] = sum
		}
		sum.Amount = sum.plus(used)
		if l.At.After(sum.last) {
			sum.last = l.At
		}
		if len(s.tasks) > 2*mostTasks {
			s.dropTasks()
		}
	}
	if l.Message == "" {
		return
	}
	if journal.EndedWell(l.Outcome) {
		if _, known := s.turns[l.Message]; known {
			s.order = slices.DeleteFunc(s.order, func(id string) bool { return id == l.Message })
			delete(s.turns, l.Message)
			delete(s.agents, l.Message)
		}
		return
	}
	if _, known := s.turns[l.Message]; !known {
		s.order = append(s.order, l.Message)
	}
	s.turns[l.Message], s.agents[l.Message] = used, l.Agent
	if len(s.order) > mostMessages {
		delete(s.turns, s.order[0])
		delete(s.agents, s.order[0])
		s.order = s.order[1:]
	}
}

// dropTasks keeps the newest tasks.
func (s *spent) dropTasks() {
	all := slices.SortedFunc(maps.Keys(s.tasks), func(a, b string) int { return s.tasks[b].last.Compare(s.tasks[a].last) })
	for _, trace := range all[mostTasks:] {
		delete(s.tasks, trace)
	}
}

// of returns the amount that a scope has used. since is the beginning of the day.
func (s *spent) of(scope Scope, since, now time.Time) Amount {
	switch scope.Kind {
	case KindTask:
		if sum := s.tasks[scope.Name]; sum != nil {
			return sum.Amount
		}
		return Amount{}
	case KindTurn:
		return s.turns[scope.Name]
	}
	return s.days[scope].since(since, now)
}

// quarters maps each quarter of an hour, numbered from 1970, to the amount used in it. In
// every time zone a day begins with a new quarter, so the sums stay correct when the zone
// changes.
type quarters map[int64]Amount

const quarter = 15 * 60 // seconds

// mostQuarters is larger than the number of quarters in two days. The limit applies to
// the number of quarters, not to their age, because the amounts spent today must not be
// lost when the clock jumps ahead and back.
const mostQuarters = 300

func (q quarters) add(at time.Time, used Amount) {
	n := at.Unix() / quarter
	q[n] = q[n].plus(used)
	if len(q) <= 2*mostQuarters {
		return
	}
	all := slices.Sorted(maps.Keys(q))
	for _, old := range all[:len(all)-mostQuarters] {
		delete(q, old)
	}
}

// since returns the amount used since t. Amounts with a date in the future (because the
// clock was set back) count as used now.
func (q quarters) since(t, now time.Time) (sum Amount) {
	from, last := t.Unix()/quarter, now.Unix()/quarter
	for n, used := range q {
		if n > last {
			delete(q, n)
			q[last] = q[last].plus(used)
		}
	}
	for n, used := range q {
		if n >= from {
			sum = sum.plus(used)
		}
	}
	return sum
}

// Begun reports whether a turn on the task has ended. It knows the tasks of the most recent
// turns.
func (b *Book) Begun(trace string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent.tasks[trace] != nil
}
