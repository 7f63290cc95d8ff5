package budget_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A desk is a book with a clock, plus the ledger and the records from which the book can be
// reopened.
type desk struct {
	t      *testing.T
	home   journal.Home
	rules  budget.Rules
	now    time.Time
	book   *budget.Book
	lines  []journal.LedgerLine
	open   []*journal.Record
	agents []string
}

func newDesk(t *testing.T, r budget.Rules, agents ...string) *desk {
	t.Helper()
	d := &desk{t: t, home: journal.HomeOf(t.TempDir()), rules: r, now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), agents: agents}
	if err := d.home.Make(); err != nil {
		t.Fatal(err)
	}
	d.restart()
	return d
}

// restart reopens the book, as a restarted daemon does.
func (d *desk) restart() {
	d.t.Helper()
	b, err := budget.Open(d.home, d.rules, func() time.Time { return d.now })
	if err != nil {
		d.t.Fatal(err)
	}
	for _, l := range d.lines {
		b.Settle(l)
	}
	for _, rec := range d.open {
		b.Restore(rec)
	}
	d.book = b
}

// begin reserves an amount for a turn and returns the turn's record, or nil if the turn is
// not allowed to begin.
func (d *desk) begin(t budget.Turn, of int) *journal.Record {
	d.t.Helper()
	r, block := d.book.Reserve(t, of)
	if block != nil {
		return nil
	}
	rec := &journal.Record{Turn: t.Message + "-1", Agent: t.Agent, Message: t.Message, Trace: t.Trace, Begun: d.now}
	r.Note(rec)
	d.open = append(d.open, rec)
	return rec
}

// end settles a turn with its cost in US dollars.
func (d *desk) end(rec *journal.Record, usd float64, change ...func(*journal.LedgerLine)) {
	d.t.Helper()
	l := journal.LedgerLine{At: d.now, Turn: rec.Turn, Agent: rec.Agent, Message: rec.Message, Trace: rec.Trace, Outcome: string(runner.Done), CostUSD: usd, ReservedUSD: rec.ReservedUSD}
	for _, c := range change {
		c(&l)
	}
	d.lines = append(d.lines, l)
	d.open = slices.DeleteFunc(d.open, func(r *journal.Record) bool { return r == rec })
	d.book.Settle(l)
	d.book.Release(rec.Agent)
}

// line returns the line of the scope with the given name.
func (d *desk) line(name string) budget.Line {
	d.t.Helper()
	for _, l := range d.book.Lines(d.agents) {
		if l.Scope.String() == name {
			return l
		}
	}
	d.t.Fatalf("no line of %s", name)
	return budget.Line{}
}

func usd(x float64) budget.Amount { return budget.Of(x, 0, 0) }

// TestAThousandTurns begins and ends turns of random cost in random order, with unknown
// costs, overruns and restarts. The sum of the spent and reserved amounts never exceeds a
// cap by more than the overruns, and no turn begins in a scope at its cap.
func TestAThousandTurns(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			const request = 0.07 // US dollars per request; a client checks its cap after each request
			random := rand.New(rand.NewPCG(seed, 1))
			agents := []string{"a", "b", "c", "d", "e", "f"}
			rules := budget.Rules{Swarm: usd(200), Task: usd(9.5), Agents: map[string]budget.AgentRules{}}
			for _, a := range agents {
				rules.Agents[a] = budget.AgentRules{Day: usd(45.25), Turn: usd(2)}
			}
			d := newDesk(t, rules, agents...)
			running := map[string]*journal.Record{}
			over, spent, begun := map[string]float64{}, 0.0, 0
			for step := range 1000 {
				a := agents[random.IntN(len(agents))]
				trace := fmt.Sprintf("task%d", random.IntN(20))
				if rec := running[a]; rec != nil {
					delete(running, a)
					cost := float64(random.IntN(250)) / 100
					change := func(*journal.LedgerLine) {}
					switch {
					case rec.ReservedUSD > 0 && cost > rec.ReservedUSD: // the client ends the turn after the request that exceeds the cap
						cost = rec.ReservedUSD + request*random.Float64()
					case random.IntN(10) == 0:
						change = func(l *journal.LedgerLine) { l.CostUnknown, l.Outcome = true, string(runner.NoResult) }
						cost = min(cost, rec.ReservedUSD)
					}
					d.end(rec, cost, change)
					charged := cost
					if d.lines[len(d.lines)-1].CostUnknown {
						charged = max(cost, rec.ReservedUSD)
					}
					spent += charged
					for _, scope := range []string{"swarm.day", a + ".day", "task." + rec.Trace} {
						over[scope] += max(0, charged-rec.ReservedUSD)
					}
				} else if rec := d.begin(budget.Turn{Agent: a, Message: fmt.Sprintf("m%d", step), Trace: trace}, 1+random.IntN(4)); rec != nil {
					if rec.ReservedUSD < 0.01 || rec.ReservedUSD > 2 {
						t.Fatalf("reserved %v for a turn", rec.ReservedUSD)
					}
					running[a] = rec
					begun++
				}
				if random.IntN(50) == 0 {
					d.restart()
				}
				for _, l := range d.book.Lines(agents) {
					if l.Kind == budget.KindTurn {
						continue
					}
					if sum := l.Spent.Dollars() + l.Reserved.Dollars(); sum > l.Cap.Dollars()+over[l.Scope.String()]+1e-9 {
						t.Fatalf("step %d: %s has spent %v and reserved %v of %v", step, l.Scope, l.Spent.Dollars(), l.Reserved.Dollars(), l.Cap.Dollars())
					}
				}
			}
			for a, rec := range running {
				d.end(rec, rec.ReservedUSD+request)
				spent += rec.ReservedUSD + request
				for _, scope := range []string{"swarm.day", a + ".day", "task." + rec.Trace} {
					over[scope] += request
				}
			}
			d.restart()
			if got := d.line("swarm.day").Spent.Dollars(); got < spent-1e-6 || got > spent+1e-6 {
				t.Errorf("the book says %v, the turns have spent %v", got, spent)
			}
			if begun < 100 {
				t.Errorf("only %d turns began", begun)
			}
		})
	}
}

// TestNothingBeginsAtACap spends the cap of a scope, turn by turn, until no more turns can
// begin.
func TestNothingBeginsAtACap(t *testing.T) {
	d := newDesk(t, budget.Rules{Swarm: usd(0.5)}, "a")
	for n := 0; ; n++ {
		rec := d.begin(budget.Turn{Agent: "a", Message: fmt.Sprint("m", n)}, 4)
		if rec == nil {
			break
		}
		d.end(rec, rec.ReservedUSD)
		if n > 100 {
			t.Fatal("it never ends")
		}
	}
	l := d.line("swarm.day")
	if l.Spent.Dollars() < 0.49 || l.Spent.Dollars() > 0.5 || len(l.Full) != 1 {
		t.Errorf("spent %v, full %v", l.Spent.Dollars(), l.Full)
	}
}

// TestTheRestIsShared checks how much is reserved for one of several turns that may start.
func TestTheRestIsShared(t *testing.T) {
	for _, c := range []struct {
		rules budget.Rules
		of    int
		want  float64
	}{
		{budget.Rules{Swarm: usd(20)}, 4, 5},
		{budget.Rules{Swarm: usd(20)}, 1, 20},
		{budget.Rules{Swarm: usd(20)}, 100, 1.25}, // at least a sixteenth
		{budget.Rules{Swarm: usd(20), Agents: map[string]budget.AgentRules{"a": {Turn: usd(2)}}}, 4, 2},
		{budget.Rules{Swarm: usd(20), Agents: map[string]budget.AgentRules{"a": {Day: usd(3)}}}, 4, 3},
		{budget.Rules{Task: usd(0.01)}, 4, 0.01},
		{budget.Rules{Task: usd(1), Billing: runner.BillingSubscription}, 4, 0},
		{budget.Rules{Task: budget.Of(0, 5, 0)}, 4, 0},
		{budget.Rules{}, 4, 0},
	} {
		d := newDesk(t, c.rules, "a")
		rec := d.begin(budget.Turn{Agent: "a", Message: "m", Trace: "t"}, c.of)
		if rec == nil || rec.ReservedUSD != c.want {
			t.Errorf("%+v of %d: %+v, want %v", c.rules, c.of, rec, c.want)
		}
	}
}

// TestTheJudgeHasAPartOfTheDay checks that other turns cannot use up the swarm's whole
// daily cap when there is a judge. The judge may use the whole daily cap. No part of a
// task's cap is reserved for the judge.
func TestTheJudgeHasAPartOfTheDay(t *testing.T) {
	for _, c := range []struct {
		rules budget.Rules
		agent string
		want  float64
	}{
		{budget.Rules{Swarm: usd(16), Judge: "judge"}, "a", 15},
		{budget.Rules{Swarm: usd(16), Judge: "judge"}, "judge", 16},
		{budget.Rules{Swarm: usd(16)}, "a", 16},
		{budget.Rules{Task: usd(16), Judge: "judge"}, "a", 16},
		{budget.Rules{Swarm: usd(32), Task: usd(16), Judge: "judge"}, "a", 16},
	} {
		d := newDesk(t, c.rules, "a")
		rec := d.begin(budget.Turn{Agent: c.agent, Message: "m", Trace: "t"}, 1)
		if rec == nil || rec.ReservedUSD != c.want {
			t.Errorf("%+v for %s: %+v, want %v", c.rules, c.agent, rec, c.want)
		}
	}
}

// TestAJudgementIsNoTurn checks that judgements count in dollars, do not count toward
// the day's turns, and are possible when no turns remain.
func TestAJudgementIsNoTurn(t *testing.T) {
	d := newDesk(t, budget.Rules{Swarm: budget.Of(16, 2, 0), Judge: "judge"}, "a", "judge")
	for range 2 {
		d.end(d.begin(budget.Turn{Agent: "judge", Message: "j"}, 1), 1)
	}
	for _, message := range []string{"m", "n"} {
		d.end(d.begin(budget.Turn{Agent: "a", Message: message}, 1), 1)
	}
	if _, block := d.book.Reserve(budget.Turn{Agent: "a", Message: "o"}, 1); block == nil || block.Unit != budget.Turns {
		t.Errorf("block %+v, want the turns to be used up", block)
	}
	if rec := d.begin(budget.Turn{Agent: "judge", Message: "k"}, 1); rec == nil || rec.ReservedUSD != 12 {
		t.Errorf("reserved for the judge: %+v, want the 12 dollars that are left", rec)
	}
}

// TestARestThatIsReserved checks that a turn waits while another turn has reserved the
// remaining amount, and can begin once that turn has ended.
func TestARestThatIsReserved(t *testing.T) {
	d := newDesk(t, budget.Rules{Swarm: usd(1)}, "a", "b")
	rec := d.begin(budget.Turn{Agent: "a", Message: "m"}, 1)
	_, block := d.book.Reserve(budget.Turn{Agent: "b", Message: "n"}, 1)
	if block == nil || !block.Waits {
		t.Fatalf("block %+v, want one that waits", block)
	}
	before := d.book.Version()
	d.end(rec, 0.25)
	if d.book.Version() == before {
		t.Error("the version is the same after the rest became free")
	}
	if rec := d.begin(budget.Turn{Agent: "b", Message: "n"}, 1); rec == nil || rec.ReservedUSD != 0.75 {
		t.Errorf("reserved %+v, want 0.75", rec)
	}
}

// TestADayEnds checks that a day ends at midnight in the configured time zone, and what
// changes when the clock jumps.
func TestADayEnds(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, budget.Rules{Swarm: usd(1), Zone: berlin}, "a")
	turn := budget.Turn{Agent: "a", Message: "m"}
	spend := func(at time.Time, want bool) {
		t.Helper()
		d.now = at
		for range 2 { // a restart changes nothing
			if got := d.book.Check(turn) == nil; got != want {
				t.Errorf("%v: may begin: %v, want %v", at, got, want)
			}
			d.restart()
		}
	}
	d.now = time.Date(2026, 11, 22, 22, 50, 0, 0, time.UTC) // 23:50 in Berlin
	d.end(d.begin(turn, 1), 1)
	spend(d.now, false)
	spend(time.Date(2026, 11, 22, 22, 59, 59, 0, time.UTC), false)
	spend(time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC), true)
	// The clock is set back past midnight, so the amounts spent on the previous day count
	// again.
	spend(time.Date(2026, 11, 22, 22, 30, 0, 0, time.UTC), false)
	// The clock jumps a year ahead, money is spent, and the clock jumps back.
	d.now = time.Date(2027, 11, 25, 12, 0, 0, 0, time.UTC)
	d.end(d.begin(turn, 1), 1)
	spend(d.now, false)
	spend(time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC), false)
	spend(time.Date(2026, 11, 22, 22, 30, 0, 0, time.UTC), false)
}

// Release reports whether it ended a reservation, which may let other agents start.
func TestReleaseReportsAReservation(t *testing.T) {
	d := newDesk(t, budget.Rules{Task: usd(1)}, "a")
	if _, block := d.book.Reserve(budget.Turn{Agent: "a", Message: "m", Trace: "t"}, 1); block != nil {
		t.Fatal(block.Scope)
	}
	for _, want := range []struct {
		agent    string
		released bool
	}{{"b", false}, {"a", true}, {"a", false}} {
		if got := d.book.Release(want.agent); got != want.released {
			t.Errorf("Release(%q) = %t", want.agent, got)
		}
	}
}

// TestAnswers checks the three answers, including repeated answers and a restart.
func TestAnswers(t *testing.T) {
	scope := budget.Scope{Kind: budget.KindTask, Name: "t"}
	turn := func(id string) budget.Turn { return budget.Turn{Agent: "a", Message: id, Trace: "t"} }
	for _, answer := range budget.Answers() {
		t.Run(string(answer), func(t *testing.T) {
			d := newDesk(t, budget.Rules{Task: usd(1)}, "a")
			d.end(d.begin(turn("m"), 1), 1.5)
			q := d.book.Question(scope)
			if open, err := d.book.Asked(q); err != nil || !open {
				t.Fatal(open, err)
			}
			waiting := []string{"n"}
			for range 2 { // the second call simulates a daemon that was killed and repeats the answer
				passed, err := d.book.Answer(q, "a", budget.Reply{ID: "r", Answer: answer}, waiting)
				if err != nil || (passed == 1) != (answer == budget.End) {
					t.Fatalf("%d may pass, %v", passed, err)
				}
				d.restart()
				waiting = append(waiting, "o") // a message that arrived in between
			}
			block := d.book.Check(turn("n"))
			switch answer {
			case budget.More:
				if block != nil || d.line("task.t").Cap.Dollars() != 2 || !d.book.NotAsked(d.book.Question(scope)) {
					t.Errorf("block %+v, cap %v", block, d.line("task.t").Cap.Dollars())
				}
				var over *budget.OverError
				if _, err := d.book.Answer(q, "a", budget.Reply{ID: "s", Answer: answer}, nil); !errors.As(err, &over) {
					t.Errorf("a second reply to that question: %v, want an OverError", err)
				}
				return
			case budget.Stop:
				if block == nil || block.Answer != budget.Stop {
					t.Errorf("block %+v", block)
				}
				return
			}
			if block != nil {
				t.Fatalf("the waiting message gets no turn: %+v", block)
			}
			if b := d.book.Check(turn("later")); b == nil || b.Answer != budget.End {
				t.Errorf("a later message: %+v", b)
			}
			d.now = d.now.Add(time.Minute)
			d.end(&journal.Record{Turn: "n-1", Agent: "a", Message: "n", Trace: "t"}, 0.2)
			for range 2 {
				if d.book.Check(turn("n")) == nil {
					t.Error("a message may have a second turn")
				}
				d.restart()
			}
		})
	}
}

// TestAnAnswerOfYesterday checks that an answer about a past day changes nothing.
func TestAnAnswerOfYesterday(t *testing.T) {
	d := newDesk(t, budget.Rules{Swarm: usd(1), Zone: time.UTC}, "a")
	q := d.book.Question(budget.Scope{Kind: budget.KindSwarm})
	d.now = d.now.Add(24 * time.Hour)
	var over *budget.OverError
	if _, err := d.book.Answer(q, "", budget.Reply{ID: "r", Answer: budget.More}, nil); !errors.As(err, &over) {
		t.Errorf("err %v", err)
	}
	if got := d.line("swarm.day").Cap.Dollars(); got != 1 {
		t.Errorf("the cap is %v", got)
	}
}

// TestRaise checks that raises take effect and that they end with the day.
func TestRaise(t *testing.T) {
	d := newDesk(t, budget.Rules{Swarm: budget.Of(1, 10, 0), Zone: time.UTC}, "a")
	scope := budget.Scope{Kind: budget.KindSwarm}
	var none *budget.NoCapError
	if _, err := d.book.Raise(scope, "", budget.Of(0, 0, time.Hour)); !errors.As(err, &none) {
		t.Errorf("err %v, want a NoCapError", err)
	}
	if limit, err := d.book.Raise(scope, "", usd(0.5)); err != nil || limit != budget.Of(1.5, 10, 0) {
		t.Errorf("%v, %v", limit, err)
	}
	d.restart()
	if got := d.line("swarm.day").Cap; got != budget.Of(1.5, 10, 0) {
		t.Errorf("after a restart %v", got)
	}
	d.now = d.now.Add(24 * time.Hour)
	if got := d.line("swarm.day").Cap; got != budget.Of(1, 10, 0) {
		t.Errorf("the next day %v", got)
	}
	if _, err := d.book.Raise(scope, "", usd(2)); err != nil {
		t.Fatal(err)
	}
	for _, day := range []time.Duration{-24, 24, -24} { // the clock is set back past midnight, then forward, then back again
		d.now = d.now.Add(day * time.Hour)
		d.restart()
		want := budget.Of(1.5, 10, 0)
		if day > 0 {
			want = budget.Of(3, 10, 0)
		}
		if got := d.line("swarm.day").Cap; got != want {
			t.Errorf("on %v %v, want %v", d.now, got, want)
		}
		if _, err := d.book.Raise(scope, "", budget.Amount{}); err != nil { // writes an entry for the day
			t.Fatal(err)
		}
	}
}

// TestRaisesWithoutEnd checks that the total of many raises does not overflow.
func TestRaisesWithoutEnd(t *testing.T) {
	d := newDesk(t, budget.Rules{Swarm: budget.Of(1, 1, time.Hour)}, "a")
	scope := budget.Scope{Kind: budget.KindSwarm}
	before := budget.Amount{}
	for range 6 {
		got, err := d.book.Raise(scope, "", budget.Of(4e9, 1<<30, 36500*24*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range budget.Units() {
			if got[u] < before[u] || got[u] <= 0 {
				t.Fatalf("after a raise %v", got)
			}
		}
		before = got
		d.restart()
		if got := d.line("swarm.day").Cap; got[budget.Turns] != before[budget.Turns] || got[budget.Time] != before[budget.Time] || got.Dollars() < 4e9 {
			t.Fatalf("after a restart %v, want %v", got, before)
		}
	}
}

// TestWhatWasSaidIsBounded checks that budget.json keeps the newest entries.
func TestWhatWasSaidIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	d := newDesk(t, budget.Rules{Task: usd(1)}, "a")
	task := func(n int) budget.Scope { return budget.Scope{Kind: budget.KindTask, Name: strconv.Itoa(n)} }
	for n := range 1100 {
		d.now = d.now.Add(time.Second)
		if _, err := d.book.Raise(task(n), "", usd(1)); err != nil {
			t.Fatal(err)
		}
	}
	d.restart()
	if first, last := d.book.Cap(task(0), "").Dollars(), d.book.Cap(task(1099), "").Dollars(); first != 1 || last != 2 {
		t.Errorf("the caps are %v and %v", first, last)
	}
	if info, err := os.Stat(d.home.BudgetFile()); err != nil || info.Size() > 200_000 {
		t.Errorf("%v, %v", info.Size(), err)
	}
	// If the file cannot be written, the oldest entry is kept as well.
	if err := os.Rename(d.home.BudgetFile(), d.home.BudgetFile()+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(d.home.BudgetFile(), 0o700); err != nil {
		t.Fatal(err)
	}
	d.now = d.now.Add(time.Second)
	if _, err := d.book.Raise(task(1100), "", usd(1)); err == nil {
		t.Error("Raise that cannot be written succeeded")
	}
	for n := 100; n < 1100; n++ {
		if got := d.book.Cap(task(n), "").Dollars(); got != 2 {
			t.Errorf("after it, the cap of task %d is %v, want 2", n, got)
		}
	}
	if got := d.book.Cap(task(1100), "").Dollars(); got != 1 {
		t.Errorf("after it, the cap of the new task is %v, want 1", got)
	}
}

// TestWarnings checks that there is one warning for each cap, and another after a raise.
func TestWarnings(t *testing.T) {
	d := newDesk(t, budget.Rules{Task: usd(1), Warn: 0.5}, "a")
	turn := budget.Turn{Agent: "a", Message: "m", Trace: "t"}
	d.end(d.begin(turn, 1), 0.6)
	w := d.book.Warnings(turn)
	if len(w) != 1 {
		t.Fatalf("warnings %+v, want one", w)
	}
	if err := d.book.Warned(w[0]); err != nil {
		t.Fatal(err)
	}
	d.restart()
	if w := d.book.Warnings(turn); len(w) != 0 {
		t.Errorf("told again: %+v", w)
	}
	if _, err := d.book.Raise(budget.Scope{Kind: budget.KindTask, Name: "t"}, "a", usd(0.1)); err != nil {
		t.Fatal(err)
	}
	if w := d.book.Warnings(turn); len(w) != 1 {
		t.Errorf("after a raise %+v, want one", w)
	}
}

// TestADamagedFile checks that the book works when budget.json is damaged.
func TestADamagedFile(t *testing.T) {
	d := newDesk(t, budget.Rules{Swarm: usd(1)}, "a")
	if err := os.WriteFile(filepath.Join(d.home.Dir(), "budget.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := budget.Open(d.home, d.rules, nil)
	var damaged *durable.DamagedError
	if !errors.As(err, &damaged) || b == nil {
		t.Fatalf("Open: %v, %v", b, err)
	}
	if b.Check(budget.Turn{Agent: "a", Message: "m"}) != nil {
		t.Error("nothing may begin")
	}
}

// TestAQuestionIsOver checks when a question no longer needs an answer.
func TestAQuestionIsOver(t *testing.T) {
	scope := budget.Scope{Kind: budget.KindSwarm}
	for want, change := range map[string]func(d *desk){
		"":                 func(*desk) {},
		"that day is over": func(d *desk) { d.now = d.now.Add(24 * time.Hour) },
		"the cap was raised": func(d *desk) {
			if _, err := d.book.Raise(scope, "", usd(1)); err != nil {
				t.Fatal(err)
			}
		},
		"the scope is no longer at its cap": func(d *desk) {
			d.rules.Swarm = usd(10)
			d.book.SetRules(d.rules)
		},
	} {
		d := newDesk(t, budget.Rules{Swarm: usd(1), Zone: time.UTC}, "a")
		d.end(d.begin(budget.Turn{Agent: "a", Message: "m"}, 1), 1.5)
		q := d.book.Question(scope)
		if open, err := d.book.Asked(q); err != nil || !open {
			t.Fatal(open, err)
		}
		change(d)
		if got := d.book.Over(q, "a"); got != want {
			t.Errorf("over: %q, want %q", got, want)
		}
		if err := d.book.Next(q); err != nil {
			t.Fatal(err)
		}
		if next := d.book.Question(scope); next == q || !d.book.NotAsked(next) {
			t.Errorf("%q: the next question is %v, not asked %v", want, next, d.book.NotAsked(next))
		}
	}
}

// TestARecordThatComesLate checks records of questions and warnings that are over by the
// time they are written. They must not suppress the next question or warning.
func TestARecordThatComesLate(t *testing.T) {
	for name, change := range map[string]func(d *desk, q budget.Question) error{
		"another day": func(d *desk, _ budget.Question) error { d.now = d.now.Add(24 * time.Hour); return nil },
		"a raise": func(d *desk, q budget.Question) error {
			_, err := d.book.Raise(q.Scope, "", usd(1))
			return err
		},
		"the next question": func(d *desk, q budget.Question) error { return d.book.Next(q) },
		"an answer": func(d *desk, q budget.Question) error {
			_, err := d.book.Answer(q, "a", budget.Reply{ID: "r", Answer: budget.More}, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, budget.Rules{Swarm: usd(1), Warn: 0.5, Zone: time.UTC}, "a")
			turn := budget.Turn{Agent: "a", Message: "m"}
			d.end(d.begin(turn, 1), 0.6)
			w := d.book.Warnings(turn)
			if len(w) != 1 {
				t.Fatalf("warnings %+v, want one", w)
			}
			q := w[0].Question
			if err := change(d, q); err != nil {
				t.Fatal(err)
			}
			if err := d.book.Warned(w[0]); err != nil {
				t.Fatal(err)
			}
			if open, err := d.book.Asked(q); err != nil || open {
				t.Errorf("the question is still open: %v, %v", open, err)
			}
			if next := d.book.Question(q.Scope); !d.book.NotAsked(next) || d.book.NotAsked(q) {
				t.Errorf("the next question was asked: %v; the old one may be asked: %v", !d.book.NotAsked(next), d.book.NotAsked(q))
			}
			line := d.line("swarm.day")
			d.end(d.begin(turn, 1), line.Cap.Dollars()-line.Spent.Dollars()-0.1)
			if w := d.book.Warnings(turn); len(w) != 1 {
				t.Errorf("warnings %+v, want another", w)
			}
		})
	}
}

func TestParseAmount(t *testing.T) {
	for text, want := range map[string]budget.Amount{
		"5": usd(5), "0.50": usd(0.5), "$5": usd(5), "5usd": usd(5), "5 USD": usd(5), "10turns": budget.Of(0, 10, 0), "1 turn": budget.Of(0, 1, 0),
		"2h": budget.Of(0, 0, 2*time.Hour), "90m": budget.Of(0, 0, 90*time.Minute),
	} {
		if got, err := budget.ParseAmount(text, time.ParseDuration); err != nil || got != want {
			t.Errorf("ParseAmount(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"-5", "-2h", "0", "0.001", "", "x", "0turns", "1.5turns", "0s", "NaN", "Inf", "1e300", "99999999"} {
		if got, err := budget.ParseAmount(text, time.ParseDuration); err == nil {
			t.Errorf("ParseAmount(%q) = %v, want an error", text, got)
		}
	}
	if _, err := budget.ParseAmount("NaN", time.ParseDuration); err == nil || err.Error() != `"NaN" is not an amount` {
		t.Errorf("NaN: %v", err)
	}
}
