package budget_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// An asked is a question about a scope at its cap.
type asked struct {
	budget.Question
	agent string
}

// A jury asks questions, answers them and raises caps at random, and records the expected
// results.
type jury struct {
	*desk
	random  *rand.Rand
	open    []asked
	over    map[string]bool    // questions that were answered or settled, by scope, day and number
	raised  map[string]float64 // US dollars, by scope and day
	passed  map[string]bool    // messages that a person let pass in a scope at its cap, by scope and message
	answers int
	back    bool // the clock has been set back
}

func (j *jury) key(s budget.Scope) string { return s.String() + " " + j.book.Question(s).Day }

// ask asks about a scope if no question about it is open.
func (j *jury) ask(s budget.Scope, agent string) {
	j.t.Helper()
	q := asked{j.book.Question(s), agent}
	if !j.book.NotAsked(q.Question) {
		return
	}
	if j.over[q.String()] {
		j.t.Fatalf("%v: the question %s is asked again", j.now, q.String())
	}
	if open, err := j.book.Asked(q.Question); err != nil || !open {
		j.t.Fatal(open, err)
	}
	j.open = append(j.open, q)
}

// answer answers an open question twice, as happens when a daemon is killed in between.
func (j *jury) answer(n int, waiting []string) {
	j.t.Helper()
	q := j.open[n]
	reply := budget.Reply{ID: fmt.Sprintf("r%d", j.answers), Answer: budget.Answers()[j.random.IntN(3)]}
	j.answers++
	late := q.Question != j.book.Question(q.Scope)
	var over *budget.OverError
	passed, err := j.book.Answer(q.Question, q.agent, reply, waiting)
	if late != errors.As(err, &over) || !late && err != nil {
		j.t.Fatalf("%v: an answer to %s: %v; late: %v", j.now, q.String(), err, late)
	}
	if late {
		return
	}
	j.restart()
	if again, err := j.book.Answer(q.Question, q.agent, reply, append(waiting, "later")); err != nil || again != passed {
		j.t.Fatalf("%v: repeated, the answer lets %d pass, %v; at first %d", j.now, again, err, passed)
	}
	j.over[q.String()] = true
	j.open = append(j.open[:n], j.open[n+1:]...)
	switch reply.Answer {
	case budget.More:
		j.raised[j.key(q.Scope)] += j.configured(q.Scope)
	case budget.End:
		for _, id := range waiting {
			j.passed[q.Scope.String()+" "+id] = true
		}
	}
}

// settle ends the questions that no longer need an answer, as the daemon does.
func (j *jury) settle() {
	j.t.Helper()
	var left []asked
	for _, q := range j.open {
		if j.book.Over(q.Question, q.agent) == "" {
			left = append(left, q)
			continue
		}
		j.over[q.String()] = true
		if err := j.book.Next(q.Question); err != nil {
			j.t.Fatal(err)
		}
	}
	j.open = left
}

// configured returns the cap of a scope in the configuration, in US dollars.
func (j *jury) configured(s budget.Scope) float64 {
	switch s.Kind {
	case budget.KindSwarm:
		return j.rules.Swarm.Dollars()
	case budget.KindTask:
		return j.rules.Task.Dollars()
	case budget.KindAgent:
		return j.rules.Agents[s.Name].Day.Dollars()
	}
	return j.rules.Agents["a"].Turn.Dollars()
}

// check compares each cap with the expected one, and sometimes also checks that a restart
// changes nothing. Once the clock has been set back, it does not compare the amounts spent
// in a day, because the book moves amounts with a date in the future to the time of the
// check, and a restart loses that time.
func (j *jury) check() {
	j.t.Helper()
	before := map[string]budget.Line{}
	for _, l := range j.book.Lines(j.agents) {
		before[l.Scope.String()] = l
		if want := j.configured(l.Scope) + j.raised[j.key(l.Scope)]; math.Abs(l.Cap.Dollars()-want) > 1e-6 {
			j.t.Fatalf("%v: the cap of %s is %v, want %v", j.now, l.Scope, l.Cap.Dollars(), want)
		}
	}
	if j.random.IntN(20) > 0 {
		return
	}
	j.restart()
	for _, l := range j.book.Lines(j.agents) {
		was := before[l.Scope.String()]
		spent := math.Abs(l.Spent.Dollars()-was.Spent.Dollars()) > 1e-6 && !(j.back && l.Daily())
		if spent || math.Abs(l.Reserved.Dollars()-was.Reserved.Dollars()) > 1e-6 || l.Answer != was.Answer {
			j.t.Fatalf("%v: a restart changes %s: spent %v, reserved %v, before %v and %v", j.now, l.Scope, l.Spent, l.Reserved, was.Spent, was.Reserved)
		}
	}
}

// TestAThousandDecisions raises caps and answers questions at random, while turns begin
// and end, the daemon restarts, and the clock jumps past midnight and the end of daylight
// saving time, and back. No turn begins without room for its reservation, a raise counts
// only on its day, and a question that is over is never asked again.
func TestAThousandDecisions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 2))
			agents := []string{"a", "b", "c", "d"}
			rules := budget.Rules{Swarm: usd(12), Task: usd(4), Zone: berlin, Agents: map[string]budget.AgentRules{}}
			for _, a := range agents {
				rules.Agents[a] = budget.AgentRules{Day: usd(5), Turn: usd(2)}
			}
			d := newDesk(t, rules, agents...)
			d.now = time.Date(2026, 10, 24, 18, 0, 0, 0, time.UTC) // the clocks change that night
			j := &jury{desk: d, random: random, over: map[string]bool{}, raised: map[string]float64{}, passed: map[string]bool{}}
			running, waiting, days, begun := map[string]*journal.Record{}, map[string]budget.Turn{}, map[string]bool{}, 0
			for step := range 1000 {
				before := d.now
				switch random.IntN(40) {
				case 0:
					d.now = d.now.Add(time.Duration(20+random.IntN(10)) * time.Hour)
				case 1:
					d.now = d.now.Add(-time.Duration(20+random.IntN(10)) * time.Hour)
				case 2:
					d.now = d.now.Add(-90 * time.Minute)
				default:
					d.now = d.now.Add(time.Duration(random.IntN(15)) * time.Minute)
				}
				j.back = j.back || d.now.Before(before)
				days[d.book.Question(budget.Scope{Kind: budget.KindSwarm}).Day] = true
				a := agents[random.IntN(len(agents))]
				turn, ok := waiting[a]
				if !ok {
					turn = budget.Turn{Agent: a, Message: fmt.Sprintf("m%d", step), Trace: fmt.Sprintf("task%d", random.IntN(12))}
				}
				if rec := running[a]; rec != nil {
					delete(running, a)
					d.end(rec, min(float64(random.IntN(250))/100, rec.ReservedUSD+0.07))
				} else if rec := d.begin(turn, 1+random.IntN(4)); rec != nil {
					delete(waiting, a)
					running[a] = rec
					begun++
					for _, l := range d.book.Lines(agents) {
						if l.Kind == budget.KindTurn || !turn.In(l.Scope) || j.passed[l.Scope.String()+" "+turn.Message] {
							continue
						}
						if l.Spent.Dollars()+l.Reserved.Dollars() > l.Cap.Dollars()+1e-9 {
							t.Fatalf("step %d: a turn begins with %v reserved, when %s has spent %v of %v", step, l.Reserved.Dollars(), l.Scope, l.Spent.Dollars(), l.Cap.Dollars())
						}
					}
				} else if block := d.book.Check(turn); block != nil && !block.Waits {
					if waiting[a] = turn; block.Answer == budget.Stop {
						delete(waiting, a)
					} else {
						j.ask(block.Scope, a)
					}
				}
				if len(j.open) > 0 && random.IntN(8) == 0 {
					var ids []string
					n := random.IntN(len(j.open))
					for _, w := range waiting {
						if w.In(j.open[n].Scope) {
							ids = append(ids, w.Message)
						}
					}
					j.answer(n, ids)
				}
				if random.IntN(60) == 0 {
					s := []budget.Scope{{Kind: budget.KindSwarm}, {Kind: budget.KindAgent, Name: a}, {Kind: budget.KindTask, Name: turn.Trace}}[random.IntN(3)]
					if _, err := d.book.Raise(s, a, usd(0.25)); err != nil {
						t.Fatal(err)
					}
					j.raised[j.key(s)] += 0.25
				}
				if random.IntN(4) == 0 {
					j.settle()
				}
				j.check()
			}
			if begun < 50 || len(days) < 4 || len(j.over) < 10 {
				t.Errorf("%d turns began on %d days, %d questions are over: too few", begun, len(days), len(j.over))
			}
			t.Logf("%d turns on %d days, %d questions", begun, len(days), len(j.over))
		})
	}
}
