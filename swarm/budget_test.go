package swarm_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// dollars returns a cap in US dollars.
func dollars(usd float64) budget.Amount { return budget.Of(usd, 0, 0) }

// spends makes each request to the model cost the given amount in US dollars. Every turn
// makes one request.
func (f *field) spends(usd float64) {
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.Price(usd), runnertest.Say("did it")}
	}
}

// The log says that a turn cost more than its cap, also if its work was done.
func TestTheLogSaysThatATurnIsOverItsCap(t *testing.T) {
	for usd, over := range map[float64]bool{0.06: true, 0.02: false} {
		f := newField(t, "coder")
		f.plan.Budget = budget.Rules{Agents: map[string]budget.AgentRules{"coder": {Turn: dollars(0.03)}}}
		f.spends(usd)
		f.start()
		f.answer(f.send("coder", "one"))
		f.halt()
		log, err := os.ReadFile(journal.HomeOf(f.dir).AgentLog("coder"))
		f.must(err)
		if got := strings.Contains(string(log), fmt.Sprintf(" %.2f USD, over its cap of 0.03 USD", usd)); got != over {
			t.Errorf("after %v USD, the log says so: %t\n%s", usd, got, log)
		}
	}
}

// Without a daemon the status reports a damaged budget.json and shows everything else,
// whether or not there is a cap.
func TestADamagedBudgetIsNamed(t *testing.T) {
	for name, rules := range map[string]budget.Rules{"no cap": {}, "a cap": {Swarm: dollars(0.5)}} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "coder")
			f.plan.Budget = rules
			home := journal.HomeOf(f.dir)
			if err := errors.Join(home.Make(), os.WriteFile(home.BudgetFile(), []byte("{"), 0o600)); err != nil {
				t.Fatal(err)
			}
			st, err := swarm.Offline(home, f.store, f.plan, f.dir, time.Now())
			if err != nil || len(st.Agents) != 1 || len(st.Trouble) != 1 || !strings.Contains(st.Trouble[0].Why, "budget.json") {
				t.Errorf("%d agents, trouble %+v, %v", len(st.Agents), st.Trouble, err)
			}
		})
	}
}

// TestABudgetParks checks that no turn begins in a scope that has reached its cap, that
// the mail waits, and that a restart does not change this.
func TestABudgetParks(t *testing.T) {
	for name, rules := range map[string]budget.Rules{
		"swarm.day": {Swarm: dollars(0.5)},
		"coder.day": {Agents: map[string]budget.AgentRules{"coder": {Day: dollars(0.5)}}},
		"turns":     {Swarm: budget.Of(0, 2, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "coder")
			f.plan.Budget = rules
			f.spends(0.25)
			f.start()
			f.answer(f.send("coder", "one"))
			f.answer(f.send("coder", "two"))
			third := f.send("coder", "three")
			st := f.untilState("coder", swarm.Parked)
			if !strings.Contains(st.Why, "is at its cap") || !strings.HasPrefix(st.Next, "claude-swarm ") {
				t.Errorf("parked: %q, next %q", st.Why, st.Next)
			}
			if st.Activity != "paused" || st.Waiting.Total() != 1 {
				t.Errorf("activity %s, waiting %d", st.Activity, st.Waiting.Total())
			}
			f.halt()
			f.start()
			f.untilState("coder", swarm.Parked)
			if n := len(f.bodies()); n != 2 {
				t.Errorf("%d turns began, want 2", n)
			}
			if new := f.files("coder", "new"); len(new) != 1 || !strings.Contains(new[0], third) {
				t.Errorf("new/ has %v, want %s", new, third)
			}
		})
	}
}

// TestATaskAtItsCap checks that other work continues when a task has reached its cap, and
// that the client gets the unspent part of the task's cap as its own cap.
func TestATaskAtItsCap(t *testing.T) {
	f := newField(t, "coder")
	f.plan.Budget = budget.Rules{Task: dollars(0.5)}
	f.spends(0.6)
	f.start()
	one := f.send("coder", "one")
	f.answer(one)
	more := f.send("coder", "more", func(m *dropbox.Message) { m.Trace = one })
	f.untilState("coder", swarm.Parked)
	f.answer(f.send("coder", "another task"))
	f.untilState("coder", swarm.Parked)
	if new := f.files("coder", "new"); len(new) != 1 || !strings.Contains(new[0], more) {
		t.Errorf("new/ has %v, want %s", new, more)
	}
	for _, r := range f.backend.Runs() {
		if r.Turn.CapUSD != 0.5 {
			t.Errorf("a turn began with a cap of %v", r.Turn.CapUSD)
		}
	}
}

// TestTimeIsUsedUp checks that the daemon ends a turn whose task has no time left, and that
// the turn's message waits.
func TestTimeIsUsedUp(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	f := newField(t, "coder")
	f.plan.Budget = budget.Rules{Task: budget.Of(0, 0, 300*time.Millisecond)}
	f.backend.Script = func(runner.Turn) []runnertest.Step { return []runnertest.Step{runnertest.Say("begun"), waitFor(nil)} }
	f.start()
	f.send("coder", "endless")
	st := f.untilState("coder", swarm.Parked)
	// The timer and the turn's own figure can differ by milliseconds, so the task may be just
	// below its cap.
	if !strings.Contains(st.Why, "(task.") || !strings.Contains(st.Why, " of 300 ms") {
		t.Errorf("parked: %s", st.Why)
	}
	if n := len(f.files("coder", "new")); n != 1 {
		t.Errorf("%d messages wait, want 1", n)
	}
}

// askedOnce waits until the daemon has exactly one open question to the person.
func (f *field) askedOnce() *dropbox.Message {
	f.t.Helper()
	var found []*dropbox.Message
	f.until("the person is asked", func() bool { found = f.questions(); return len(found) > 0 })
	if len(found) != 1 {
		f.t.Fatalf("the person is asked %d times", len(found))
	}
	return found[0]
}

// questions returns the daemon's open questions to the person.
func (f *field) questions() (list []*dropbox.Message) {
	for _, m := range f.mail(dropbox.Lead) {
		if m.From == dropbox.Swarm && m.Type == dropbox.Question {
			list = append(list, m)
		}
	}
	return list
}

// TestTheAnswersAtACap tests each answer to the question about a scope that has reached
// its cap.
func TestTheAnswersAtACap(t *testing.T) {
	for _, task := range []bool{false, true} {
		for _, word := range []string{"more", "stop", "end"} {
			t.Run(fmt.Sprintf("%s, task %v", word, task), func(t *testing.T) {
				f := newField(t, "coder")
				f.plan.Budget = budget.Rules{Swarm: dollars(0.5)}
				first := ""
				ofTask := func(m *dropbox.Message) {}
				if task {
					f.plan.Budget = budget.Rules{Task: dollars(0.5)}
					ofTask = func(m *dropbox.Message) { m.Trace = first }
				}
				f.spends(0.6)
				f.start()
				first = f.send("coder", "one")
				f.answer(first)
				second := f.send("coder", "two", ofTask)
				q := f.askedOnce()
				f.untilState("coder", swarm.Parked)
				f.until("the status says how to answer", func() bool {
					return strings.HasPrefix(f.status("coder").Next, "claude-swarm reply "+q.ID+" more")
				})
				f.reply(q, word)
				begun := 1
				switch {
				case word == "more", word == "end":
					begun = 2
					f.answer(second)
				case task:
					if got := f.answer(second); !strings.Contains(string(got.Body), "Not done by coder") {
						t.Errorf("answer %q", got.Body)
					}
				}
				f.until("the question is filed", func() bool {
					return !slices.ContainsFunc(f.questions(), func(m *dropbox.Message) bool { return m.ID == q.ID })
				})
				third := f.send("coder", "three", ofTask)
				switch {
				case word == "more": // 1.2 of 1.0 US dollars have been spent
					f.until("another question", func() bool { return len(f.questions()) == 1 })
					f.untilState("coder", swarm.Parked)
				case word == "stop" && task:
					f.answer(third)
				default:
					f.untilState("coder", swarm.Parked)
					f.halt()
					f.start()
					f.untilState("coder", swarm.Parked)
					if n := len(f.questions()); n != 0 {
						t.Errorf("%d questions more", n)
					}
				}
				if n := len(f.bodies()); n != begun {
					t.Errorf("%d turns began, want %d", n, begun)
				}
			})
		}
	}
}

// TestAQuestionThatIsOver checks that a question about a cap disappears from the inbox
// once the cap has been raised, either in the configuration or by an order given just
// before the daemon was killed. When the new cap is reached, the person is asked again.
func TestAQuestionThatIsOver(t *testing.T) {
	for name, raise := range map[string]func(f *field){
		"in the configuration": func(f *field) {
			f.plan.Budget.Swarm = dollars(1)
			if _, err := f.daemon.Reload(f.plan); err != nil {
				t.Fatal(err)
			}
		},
		"by an order before a kill": func(f *field) {
			f.halt()
			book, err := budget.Open(journal.HomeOf(f.dir), f.plan.Budget, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := book.Raise(budget.Scope{Kind: budget.KindSwarm}, "", dollars(0.5)); err != nil {
				t.Fatal(err)
			}
			f.start()
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "coder")
			f.plan.Budget = budget.Rules{Swarm: dollars(0.5)}
			f.spends(0.6)
			f.start()
			f.answer(f.send("coder", "one"))
			second := f.send("coder", "two")
			q := f.askedOnce()
			raise(f)
			f.answer(second)
			f.send("coder", "three") // 1.2 of 1.0 US dollars have been spent
			f.untilState("coder", swarm.Parked)
			f.until("the old question has left the inbox, and another is there", func() bool {
				list := f.questions()
				return len(list) == 1 && list[0].ID != q.ID
			})
		})
	}
}

// TestAQuestionThatIsOverWhenItIsStored checks a question about a cap that is raised while
// the daemon stores the question. The question leaves the inbox, and when the new cap is
// reached, the person is asked again.
func TestAQuestionThatIsOverWhenItIsStored(t *testing.T) {
	for name, raise := range map[string]func(f *field) error{
		"in the configuration": func(f *field) error {
			p := f.plan
			p.Budget.Swarm = dollars(1)
			_, err := f.daemon.Reload(p)
			return err
		},
		"by an order": func(f *field) error {
			_, err := f.daemon.RaiseBudget("swarm.day", dollars(0.5), dropbox.Lead)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "coder")
			f.plan.Budget = budget.Rules{Swarm: dollars(0.5)}
			f.spends(0.6)
			f.once("a question for the person was stored", func() error { return raise(f) })
			f.start()
			f.answer(f.send("coder", "one"))
			f.answer(f.send("coder", "two"))
			f.send("coder", "three") // 1.2 of 1.0 US dollars have been spent
			f.until("the person is asked about the new cap", func() bool {
				list := f.questions()
				return len(list) == 1 && strings.Contains(list[0].Subject, "1.20 USD of 1.00 USD")
			})
		})
	}
}

// TestAWarningComesOnce checks the warning before a cap: a message and a notice for a daily
// cap, but only a notice for a task's cap.
func TestAWarningComesOnce(t *testing.T) {
	f := newField(t, "coder")
	f.announcer = everywhere{}
	f.plan.Budget = budget.Rules{Swarm: dollars(1), Task: dollars(0.5), Warn: 0.5}
	f.spends(0.3)
	f.start()
	for range 3 {
		f.answer(f.send("coder", "work"))
	}
	warnings := func() (n int) {
		for _, m := range f.mail(dropbox.Lead) {
			if strings.Contains(m.Subject, "budget: swarm.day has spent 0.") {
				n++
			}
		}
		return n
	}
	f.until("the lead is told", func() bool { return warnings() > 0 })
	f.halt()
	f.start()
	f.untilState("coder", swarm.Idle)
	if n := warnings(); n != 1 {
		t.Errorf("the lead is told %d times", n)
	}
	for _, m := range f.mail(dropbox.Lead) {
		if strings.Contains(m.Subject, "budget: task.") {
			t.Errorf("the lead has mail about a task: %s", m.Subject)
		}
	}
	tasks := 0
	for _, ev := range f.notices() {
		if ev.Notice.Word == journal.BudgetReached && strings.Contains(ev.Notice.Why, "for the task \"") {
			tasks++
		}
	}
	if tasks != 3 {
		t.Errorf("%d notices about tasks, want one for each of 3", tasks)
	}
}

// askedScope matches the scope that the subject of a question about a cap names.
var askedScope = regexp.MustCompile(`\b(turn|task)\.[a-z0-9-]+|\b[a-z0-9]+\.day\b`)

// TestAThousandTurnsOfASwarm lets six agents run turns of random cost, with restarts that
// interrupt running turns. The swarm exceeds its cap by at most one request per running
// turn, the budget matches the ledger, and no turn begins at the cap.
func TestAThousandTurnsOfASwarm(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	inBubble(t, func(t *testing.T) {
		const request, limit, atOnce = 0.02, 8.0, 4
		names := []string{"a1", "a2", "a3", "a4", "a5", "a6"}
		f := newField(t, names...)
		f.plan.MaxRunning = atOnce
		f.plan.Budget = budget.Rules{Billing: runner.BillingAPI, Swarm: dollars(limit), Agents: map[string]budget.AgentRules{}}
		for _, name := range names {
			f.plan.Budget.Agents[name] = budget.AgentRules{Turn: dollars(0.2), Day: dollars(4)}
		}
		f.backend.Script = func(runner.Turn) []runnertest.Step {
			steps := []runnertest.Step{runnertest.Price(request)}
			for range 1 + rand.IntN(3) {
				steps = append(steps, runnertest.Say("did a part"))
			}
			return steps
		}
		for n := range 1000 {
			f.send(names[n%len(names)], fmt.Sprint("task ", n))
		}
		for _, after := range []int{40, 90, 150} { // the daemon ends after each of these numbers of turns
			f.start()
			f.until("some are done", func() bool { turns, _ := f.ledger(); return len(turns) > after })
			f.halt()
		}
		f.start()
		for _, name := range names {
			f.untilState(name, swarm.Parked)
		}
		st, err := f.daemon.Status()
		if err != nil {
			t.Fatal(err)
		}
		begun := len(f.backend.Runs())
		spent, lines := 0.0, map[string]bool{}
		err = journal.ReadLedger(journal.HomeOf(f.dir).Ledger(), func(l journal.LedgerLine) bool {
			if lines[l.Turn] {
				t.Errorf("turn %s has two lines", l.Turn)
			}
			lines[l.Turn] = true
			if l.CostUnknown {
				spent += max(l.CostUSD, l.ReservedUSD)
			} else {
				spent += l.CostUSD
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		row := st.Budget.Scopes[0]
		if diff := row.Spent.USD - spent; diff > 1e-6 || diff < -1e-6 || row.Reserved.USD != 0 {
			t.Errorf("the budget says %v spent and %v reserved, the ledger %v", row.Spent.USD, row.Reserved.USD, spent)
		}
		if spent > limit+atOnce*request || spent < limit-0.02 {
			t.Errorf("spent %v of %v", spent, limit)
		}
		// An agent can also reach its own cap, and a turn that a restart interrupted counts as
		// having used up its cap.
		asked := map[string]int{}
		for _, m := range f.questions() {
			asked[askedScope.FindString(m.Subject)]++
		}
		for scope, n := range asked {
			if n != 1 {
				t.Errorf("the person is asked %d times about %s", n, scope)
			}
		}
		if asked["swarm.day"] != 1 {
			t.Errorf("the person is asked about %v", asked)
		}
		f.send("a1", "one more")
		time.Sleep(time.Second) // the daemon looks at the message
		if n := len(f.backend.Runs()); n != begun {
			t.Errorf("%d turns began at the cap", n-begun)
		}
	})
}
