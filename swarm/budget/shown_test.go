package budget_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// TestFind checks the names that a person may type for a scope.
func TestFind(t *testing.T) {
	d := newDesk(t, budget.Rules{Swarm: usd(9), Task: usd(1)}, "coder", "tester")
	d.end(d.begin(budget.Turn{Agent: "coder", Message: "m1", Trace: "t1"}, 1), 0.1)
	d.end(d.begin(budget.Turn{Agent: "coder", Message: "m2", Trace: "t1"}, 1), 0.1, func(l *journal.LedgerLine) { l.Outcome = "failed" })
	d.begin(budget.Turn{Agent: "tester", Message: "m3", Trace: "t3"}, 1)
	for name, want := range map[string]budget.Scope{
		"swarm": {Kind: budget.KindSwarm}, "swarm.day": {Kind: budget.KindSwarm},
		"coder": {Kind: budget.KindAgent, Name: "coder"}, "tester.day": {Kind: budget.KindAgent, Name: "tester"},
		"t1": {Kind: budget.KindTask, Name: "t1"}, "task.t1": {Kind: budget.KindTask, Name: "t1"},
		"task.t3": {Kind: budget.KindTask, Name: "t3"}, // nothing has been spent yet
		"turn.m2": {Kind: budget.KindTurn, Name: "m2"},
	} {
		if got, err := d.book.Find(name, d.agents); err != nil || got != want {
			t.Errorf("Find(%s) = %v, %v, want %v", name, got, err, want)
		}
	}
	for name, near := range map[string]string{
		"swarn": "swarm.day", "corder": "coder.day", "codre.day": "coder.day", "task.t2": "task.t", "turn.m1": "", "turn.m9": "", "zzzzzzzzzz": "",
	} {
		got, err := d.book.Find(name, d.agents)
		unknown, ok := errors.AsType[*budget.UnknownScopeError](err)
		if !ok || unknown.Name != name {
			t.Errorf("Find(%s) = %v, %v, want an UnknownScopeError", name, got, err)
			continue
		}
		if told := strings.Contains(unknown.Error(), "did you mean"); told != (len(unknown.Near) > 0) {
			t.Errorf("Find(%s) names %q, and says: %v", name, unknown.Near, unknown)
		}
		if first := append(unknown.Near, "")[0]; len(near) > len(first) || near != "" && first[:len(near)] != near {
			t.Errorf("Find(%s) names %q, want %q first", name, unknown.Near, near)
		}
	}
}

// TestCells checks the numbers that are shown to a person.
func TestCells(t *testing.T) {
	d := newDesk(t, budget.Rules{Swarm: budget.Of(10, 3, time.Hour), Agents: map[string]budget.AgentRules{
		"coder": {Day: budget.Of(2, 0, 0)}, "tester": {Day: budget.Of(0, 2, 0), Turn: budget.Of(0, 0, time.Minute)},
	}, Zone: time.UTC}, "coder", "tester")
	d.end(d.begin(budget.Turn{Agent: "coder", Message: "a"}, 1), 2, func(l *journal.LedgerLine) { l.Seconds = 600 })
	d.begin(budget.Turn{Agent: "tester", Message: "b"}, 1)
	report := d.book.Report(d.agents)
	if report == nil || len(report.Scopes) != 3 {
		t.Fatalf("report %+v, want three scopes", report)
	}
	for i, want := range [][]budget.Cell{
		{
			{Spent: "2.00 USD", Reserved: "8.00 USD", Cap: "10.00 USD", Rest: "0.00 USD"},
			{Spent: "1 turn", Reserved: "1 turn", Cap: "3 turns", Rest: "1 turn", Unit: budget.Turns},
			{Spent: "10 min 0 s", Reserved: "1 min 0 s", Cap: "1 h 0 min", Rest: "49 min 0 s", Unit: budget.Time},
		},
		{{Spent: "2.00 USD", Reserved: "-", Cap: "2.00 USD", Rest: "0.00 USD", Full: true}},
		{{Spent: "0 turns", Reserved: "1 turn", Cap: "2 turns", Rest: "1 turn", Unit: budget.Turns}},
	} {
		if got := report.Scopes[i].Cells(report.Digits()); !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %+v", report.Scopes[i].Scope, got, want)
		}
	}
	row := report.Scopes[1]
	if !slices.Equal(row.Full, []string{"usd"}) || row.Cap.Turns != nil || row.Cap.Seconds != nil || row.Cap.USD == nil || *row.Cap.USD != 2 || *row.Rest.USD != 0 || row.Until == nil {
		t.Errorf("row %+v", row)
	}
	if none := newDesk(t, budget.Rules{}).book.Report(nil); none != nil {
		t.Errorf("without a cap: %+v", none)
	}
}

// TestTheTasksThatAreShown checks that running tasks and tasks at their cap are listed
// even if there are many other tasks, and that a message is listed only if its turn used
// up its cap.
func TestTheTasksThatAreShown(t *testing.T) {
	d := newDesk(t, budget.Rules{Task: usd(1), Agents: map[string]budget.AgentRules{"coder": {Turn: usd(1)}}}, "coder")
	task := func(n int) string { return "t" + string(rune('A'+n)) }
	d.end(d.begin(budget.Turn{Agent: "coder", Message: "full", Trace: "tfull"}, 1), 1, func(l *journal.LedgerLine) { l.Outcome = "failed" })
	for n := range 30 {
		d.now = d.now.Add(time.Minute)
		d.end(d.begin(budget.Turn{Agent: "coder", Message: task(n), Trace: task(n)}, 1), 0.1, func(l *journal.LedgerLine) { l.Outcome = "failed" })
	}
	d.now = d.now.Add(time.Minute)
	d.begin(budget.Turn{Agent: "tester", Message: "runs", Trace: "truns"}, 1)
	d.begin(budget.Turn{Agent: "coder", Message: "lone"}, 1) // without a task
	var got []string
	for _, l := range d.book.Lines(d.agents) {
		got = append(got, l.Scope.String())
	}
	if len(got) != 22 || got[0] != "task.truns" || got[1] != "task."+task(29) || got[20] != "task.tfull" || got[21] != "turn.full" {
		t.Errorf("lines: %q, want the one that runs, 19 others, and those at their cap", got)
	}
	if l := d.line("task." + task(29)); l.Rest().Dollars() != 0.9 || l.Rest()[budget.Turns] != 0 {
		t.Errorf("rest: %v", l.Rest())
	}
}

// TestBilling checks that the dollars of a subscription do not count against a cap.
func TestBilling(t *testing.T) {
	d := newDesk(t, budget.Rules{Swarm: usd(1)}, "a", "b")
	d.end(d.begin(budget.Turn{Agent: "a", Message: "m"}, 1), 5, func(l *journal.LedgerLine) { l.Billing = runner.BillingSubscription })
	d.end(d.begin(budget.Turn{Agent: "a", Message: "n"}, 1), 0, func(*journal.LedgerLine) {}) // the client reports no billing
	if l := d.line("swarm.day"); l.Spent.Dollars() != 0 || l.Flat != 5 {
		t.Errorf("spent %v, flat %v, want 0 and 5", l.Spent.Dollars(), l.Flat)
	}
	r, block := d.book.Reserve(budget.Turn{Agent: "a", Message: "o"}, 1)
	if block != nil || r.USD() != 0 {
		t.Errorf("an agent with a subscription gets %v USD, %+v", r.USD(), block)
	}
	if r, block = d.book.Reserve(budget.Turn{Agent: "b", Message: "p"}, 1); block != nil || r.USD() != 1 {
		t.Errorf("another agent gets %v USD, %+v, want 1", r.USD(), block)
	}
	if b := d.book.Check(budget.Turn{Agent: "a", Message: "q"}); b != nil {
		t.Errorf("an agent with a subscription waits for dollars: %+v", b)
	}
	if b := d.book.Check(budget.Turn{Agent: "b", Message: "q"}); b == nil || !b.Waits || b.Unit != budget.USD {
		t.Errorf("another agent: %+v, want a block that waits", b)
	}
}

// TestSettleMeansOneMessage checks that a ledger line reduces only its turn's reservation.
func TestSettleMeansOneMessage(t *testing.T) {
	d := newDesk(t, budget.Rules{Swarm: usd(1)}, "a", "b")
	for _, turn := range []budget.Turn{{Agent: "a", Message: "m"}, {Agent: "b", Message: "n"}} {
		if d.begin(turn, 2) == nil {
			t.Fatalf("%+v may not begin", turn)
		}
	}
	d.restart()
	reserved := func() float64 { return d.line("swarm.day").Reserved.Dollars() }
	unsettled := func() []string { return append(d.book.Unsettled("a"), d.book.Unsettled("b")...) }
	before := reserved()
	for _, l := range []journal.LedgerLine{{Agent: "a", Message: "n"}, {Agent: "b", Message: "m"}} {
		l.At, l.CostUSD = d.now, 0.1
		d.book.Settle(l)
	}
	if got := reserved(); got != before || !slices.Equal(unsettled(), []string{"m-1", "n-1"}) {
		t.Errorf("%v is reserved for %q, want %v", got, unsettled(), before)
	}
	d.book.Settle(journal.LedgerLine{At: d.now, Agent: "a", Message: "m", CostUSD: 0.1})
	if got := reserved(); got >= before || !slices.Equal(unsettled(), []string{"n-1"}) {
		t.Errorf("%v is reserved for %q, want less than %v", got, unsettled(), before)
	}
	var none *budget.Reservation
	if none.Note(nil); none.Time() != 0 {
		t.Error("a nil reservation has a bound")
	}
}

// TestAmountText checks the text of an amount, and the errors for strings that are not
// amounts.
func TestAmountText(t *testing.T) {
	if got := budget.Of(5, 30, 0).Text(); got != "5.00 USD, 30 turns" {
		t.Errorf("Text = %q", got)
	}
	for text, want := range map[string]string{
		"99999999999turns": `"99999999999turns" is not a number of turns`, "0.001": `"0.001" is less than a cent`, "1e300": `"1e300" is too large`,
		"5x": `time: unknown unit "x" in duration "5x"`, "0s": `"0s" is not above 0`, "-1": `"-1" is below zero`,
	} {
		if got, err := budget.ParseAmount(text, time.ParseDuration); err == nil || err.Error() != want {
			t.Errorf("ParseAmount(%q) = %v, %v, want %s", text, got, err, want)
		}
	}
}

// TestTheUnitOfAWarning checks that a warning is about the unit that is nearly used up.
func TestTheUnitOfAWarning(t *testing.T) {
	d := newDesk(t, budget.Rules{Task: budget.Of(0, 10, 0), Warn: 0.5, Agents: map[string]budget.AgentRules{"a": {Turn: usd(1)}}}, "a")
	turn := budget.Turn{Agent: "a", Message: "m", Trace: "t"}
	for n := range 5 {
		if w := d.book.Warnings(turn); len(w) != 0 {
			t.Errorf("after %d turns: %+v", n, w)
		}
		d.end(d.begin(turn, 1), 0.9)
	}
	if w := d.book.Warnings(turn); len(w) != 1 || w[0].Unit != budget.Turns || w[0].Kind != budget.KindTask || w[0].Spent[budget.Turns] != 5 {
		t.Errorf("warnings %+v, want one about the turns of the task", w)
	}
}

// TestAnAnswerThatCannotBeWritten checks that an answer or a raise changes nothing if it
// cannot be written to disk.
func TestAnAnswerThatCannotBeWritten(t *testing.T) {
	d := newDesk(t, budget.Rules{Task: usd(1)}, "a")
	scope := budget.Scope{Kind: budget.KindTask, Name: "t"}
	q := d.book.Question(scope)
	d.end(d.begin(budget.Turn{Agent: "a", Message: "m", Trace: "t"}, 1), 1)
	if err := os.Mkdir(d.home.BudgetFile(), 0o700); err != nil {
		t.Fatal(err)
	}
	if passed, err := d.book.Answer(q, "a", budget.Reply{ID: "r", Answer: budget.End}, []string{"n"}); err == nil || passed != 0 {
		t.Errorf("Answer = %d, %v, want the error", passed, err)
	}
	if limit, err := d.book.Raise(scope, "a", usd(1)); err == nil || limit.Dollars() != 1 {
		t.Errorf("Raise = %v, %v, want the error", limit, err)
	}
	if d.book.Check(budget.Turn{Agent: "a", Message: "n", Trace: "t"}) == nil || d.book.Question(scope) != q {
		t.Error("a message may pass")
	}
	if err := os.Remove(d.home.BudgetFile()); err != nil {
		t.Fatal(err)
	}
	if passed, err := d.book.Answer(q, "a", budget.Reply{ID: "r", Answer: budget.End}, []string{"n"}); err != nil || passed != 1 {
		t.Errorf("Answer on a disk that works again = %d, %v", passed, err)
	}
}

// TestWorker checks that Worker returns the agent whose turn is counted in a scope.
func TestWorker(t *testing.T) {
	d := newDesk(t, budget.Rules{Agents: map[string]budget.AgentRules{"a": {Turn: usd(1)}}}, "a")
	d.end(d.begin(budget.Turn{Agent: "a", Message: "m", Trace: "m"}, 1), 1, func(l *journal.LedgerLine) { l.Outcome = "failed" })
	if got := d.book.Worker(budget.Scope{Kind: budget.KindTurn, Name: "m"}); got != "a" {
		t.Errorf("Worker = %q, want a", got)
	}
	if got := d.book.Worker(budget.Scope{Kind: budget.KindTask, Name: "m"}); got != "" {
		t.Errorf("Worker of a task = %q", got)
	}
}

// TestWhatWasSaidCannotBeRead checks that no book is opened when budget.json exists but
// cannot be read.
func TestWhatWasSaidCannotBeRead(t *testing.T) {
	home := journal.HomeOf(t.TempDir())
	if err := os.MkdirAll(home.BudgetFile(), 0o700); err != nil {
		t.Fatal(err)
	}
	if b, err := budget.Open(home, budget.Rules{Swarm: usd(1)}, nil); b != nil || err == nil {
		t.Errorf("Open = %v, %v, want the error", b, err)
	}
}

// TestAMessageThatIsDoneIsForgotten checks that a message is no longer listed once one of
// its turns is done.
func TestAMessageThatIsDoneIsForgotten(t *testing.T) {
	d := newDesk(t, budget.Rules{Agents: map[string]budget.AgentRules{"a": {Turn: usd(1)}}}, "a")
	failed := func(l *journal.LedgerLine) { l.Outcome = "failed" }
	for _, id := range []string{"m", "n", "o"} {
		d.end(d.begin(budget.Turn{Agent: "a", Message: id, Trace: id}, 1), 1, failed)
	}
	d.end(&journal.Record{Turn: "n-2", Agent: "a", Message: "n", Trace: "n"}, 0.5)
	var got []string
	for _, l := range d.book.Lines(d.agents) {
		got = append(got, l.Scope.String())
	}
	if !slices.Equal(got, []string{"turn.m", "turn.o"}) {
		t.Errorf("lines: %q, want m and o", got)
	}
}
