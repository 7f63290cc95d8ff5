package hold_test

import (
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/hours"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// noon is the time of most queries: a Sunday.
var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// at returns how the status shows a time that is the given duration after noon.
func at(d time.Duration) string { return screen.Ahead(noon.Add(d), noon) }

// about returns a query about the agent coder at noon.
func about(record journal.Hold) hold.Query {
	return hold.Query{Agent: "coder", Now: noon, Record: record, Account: func() string { return "account" }}
}

// newStore opens a store whose lock this process holds, as the daemon does.
func newStore(t *testing.T) *dropbox.Store {
	t.Helper()
	dir := t.TempDir()
	if err := dropbox.Create(dir); err != nil {
		t.Fatal(err)
	}
	store, err := dropbox.Open(dir, dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := store.Lock()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unlock(); err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// weekdays are hours that are closed at noon.
func weekdays(t *testing.T) hours.Hours {
	t.Helper()
	week, err := hours.Parse("mon-fri 08:00-20:00")
	if err != nil {
		t.Fatal(err)
	}
	return hours.Hours{Week: week, Zone: time.UTC}
}

// A want is what a test compares of a hold's answer.
type want struct {
	kind      hold.Kind // "" if nothing keeps the agent
	state     hold.State
	since     time.Duration // after noon
	until     time.Duration // after noon; 0 if the hold does not end by itself
	why, next string
}

// check asks a hold, and compares its answer.
func check(t *testing.T, h hold.Hold, q hold.Query, want want) hold.Held {
	t.Helper()
	got, held := h.Now(q)
	if held != (want.kind != "") {
		t.Fatalf("held: %v, want %q", held, want.kind)
	}
	if !held {
		return got
	}
	if got.Kind != want.kind || got.State != want.state || got.Why != want.why || got.Next != want.next {
		t.Errorf("got  %s, %s: %q\n     next %q\nwant %s, %s: %q\n     next %q", got.Kind, got.State, got.Why, got.Next, want.kind, want.state, want.why, want.next)
	}
	var until time.Time
	if want.until != 0 {
		until = noon.Add(want.until)
	}
	if !got.Until.Equal(until) {
		t.Errorf("until %v, want %v", got.Until, until)
	}
	if !got.Since.IsZero() && !got.Since.Equal(noon.Add(want.since)) || got.Since.IsZero() && want.since != 0 {
		t.Errorf("since %v, want %v", got.Since, noon.Add(want.since))
	}
	return got
}

// fixed is a hold that always gives the same answer.
type fixed struct {
	kind hold.Kind
	over bool
	held bool
}

func (f fixed) Over(hold.Query) *hold.End {
	if f.over {
		return &hold.End{Why: string(f.kind)}
	}
	return nil
}

func (f fixed) Now(hold.Query) (hold.Held, bool) { return hold.Held{Kind: f.kind}, f.held }

// The first hold that keeps the agent counts. An end comes before it only if its hold comes
// before it, and only for the agent's loop.
func TestList(t *testing.T) {
	free := func(kind hold.Kind) fixed { return fixed{kind: kind} }
	held := func(kind hold.Kind) fixed { return fixed{kind: kind, held: true} }
	over := func(kind hold.Kind) fixed { return fixed{kind: kind, over: true} }
	for name, c := range map[string]struct {
		list  hold.List
		all   string
		first string
		ask   string // the end's kind with a "!"
	}{
		"nothing":                   {hold.List{free("a"), free("b")}, "", "", ""},
		"no holds":                  {nil, "", "", ""},
		"one":                       {hold.List{free("a"), held("b")}, "b", "b", "b"},
		"two":                       {hold.List{held("a"), free("b"), held("c")}, "a c", "a", "a"},
		"an end before":             {hold.List{over("a"), held("b")}, "b", "b", "!a"},
		"an end behind":             {hold.List{held("a"), over("b")}, "a", "a", "a"},
		"an end of a hold that was": {hold.List{fixed{kind: "a", over: true, held: true}}, "a", "a", "!a"},
		"only an end":               {hold.List{free("a"), over("b"), over("c")}, "", "", "!b"},
	} {
		t.Run(name, func(t *testing.T) {
			var all []string
			for h := range c.list.All(hold.Query{}) {
				all = append(all, string(h.Kind))
			}
			if got := strings.Join(all, " "); got != c.all {
				t.Errorf("all: %q, want %q", got, c.all)
			}
			first, ok := c.list.First(hold.Query{})
			if string(first.Kind) != c.first || ok != (c.first != "") {
				t.Errorf("first: %q, %v, want %q", first.Kind, ok, c.first)
			}
			end, h, ok := c.list.Ask(hold.Query{})
			got := string(h.Kind)
			if end != nil {
				got = "!" + end.Why
			}
			if got != c.ask || ok != (end == nil && c.ask != "") {
				t.Errorf("ask: %q, %v, want %q", got, ok, c.ask)
			}
		})
	}
}

// A caller that stops after the first hold asks no other.
func TestAllStops(t *testing.T) {
	for range (hold.List{fixed{held: true}, asked{t}}).All(hold.Query{}) {
		break
	}
}

// asked is a hold that must not be asked.
type asked struct{ t *testing.T }

func (a asked) Now(hold.Query) (hold.Held, bool) {
	a.t.Error("was asked")
	return hold.Held{}, false
}

// Each end removes its record, unless it was replaced meanwhile.
func TestEnds(t *testing.T) {
	long := journal.Pause{By: "ann", Since: noon.Add(-2 * time.Hour)}
	ended := long
	ended.Until = noon.Add(-time.Hour)
	lasting := long
	lasting.Until = noon.Add(time.Hour)
	asking := long
	asking.Questions = []journal.PauseQuestion{{ID: "q1", Of: "lead"}}
	newer := &journal.Pause{By: "bob", Since: noon}
	overtime := &journal.Overtime{Since: noon.Add(-2 * time.Hour), Until: noon.Add(-time.Minute)}
	for name, c := range map[string]struct {
		of       hold.Ender
		record   journal.Hold
		answered bool
		why      string
		silent   bool // there is an end without words
	}{
		"no pause":                     {of: hold.Paused{}, answered: true},
		"a pause without an end":       {of: hold.Paused{}, record: journal.Hold{Paused: &long}},
		"a pause that lasts":           {of: hold.Paused{}, record: journal.Hold{Paused: &lasting}},
		"a pause whose time is over":   {of: hold.Paused{}, record: journal.Hold{Paused: &ended}, why: "its pause is over"},
		"a question without an answer": {of: hold.Paused{}, record: journal.Hold{Paused: &asking}},
		"a question with an answer":    {of: hold.Paused{}, record: journal.Hold{Paused: &asking}, answered: true, why: "its question has been answered"},
		"no overtime":                  {of: hold.Off{}},
		"overtime":                     {of: hold.Off{}, record: journal.Hold{Overtime: &journal.Overtime{Since: noon.Add(-time.Hour), Until: noon.Add(time.Hour)}}},
		"overtime that is over":        {of: hold.Off{}, record: journal.Hold{Overtime: overtime}, silent: true},
	} {
		t.Run(name, func(t *testing.T) {
			q := about(c.record)
			if c.answered && c.of.Over(q) != nil {
				t.Error("the pause is over, although the caller does not read answers")
			}
			q.Answered = func(p *journal.Pause) bool { return c.answered && p == c.record.Paused }
			end := c.of.Over(q)
			if (end != nil) != (c.why != "" || c.silent) {
				t.Fatalf("end = %+v", end)
			}
			if end == nil {
				return
			}
			if end.Why != c.why || !end.Since.Equal(noon.Add(-2*time.Hour)) {
				t.Errorf("it is over because %q, since %v", end.Why, end.Since)
			}
			record := c.record
			if end.Forget(&record); record.Paused != nil || record.Overtime != nil {
				t.Errorf("the record is still there: %+v", record)
			}
			end.Forget(&record) // somebody else ended it at the same time
			record = journal.Hold{Paused: newer, Overtime: &journal.Overtime{Since: noon}}
			if end.Forget(&record); record.Paused != newer || record.Overtime == nil {
				t.Errorf("a newer order is gone: %+v", record)
			}
		})
	}
}
