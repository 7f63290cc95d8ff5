package swarm

import (
	"slices"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/hours"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Everything keeps the agent from beginning a turn. The first hold is shown; when it is gone,
// the next one is.
func TestTheOrderOfHolds(t *testing.T) {
	dir := t.TempDir()
	home := journal.HomeOf(dir)
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	holds, err := journal.OpenHolds(home)
	if err != nil {
		t.Fatal(err)
	}
	if err := dropbox.Create(dir + "/box"); err != nil {
		t.Fatal(err)
	}
	store, err := dropbox.Open(dir+"/box", dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	unlock, err := store.Lock() // its file shows that a person removed HALT, and no other program all files
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	week, err := hours.Parse("mon 08:00-08:01")
	if err != nil {
		t.Fatal(err)
	}
	book, err := budget.Open(home, budget.Rules{Swarm: budget.Of(0, 1, 0)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	book.Settle(journal.LedgerLine{At: time.Now(), Turn: "t1", Message: "m1", Agent: "coder", Outcome: string(runner.Done)})
	counts := new(journal.TurnCounts)
	counts.Count("coder", now, false)
	atCap := hold.Budget{Book: book, Text: func(b *budget.Block) string { return capText(func(id string) string { return id }, b) }}
	begun := false
	done := false
	on := func(*dropbox.Message) *hold.Dependency {
		if done {
			return nil
		}
		return &hold.Dependency{ID: "m1"}
	}
	waits := hold.List{hold.Draining{Begun: func(string, *dropbox.Message) bool { return begun }}, hold.Depends{On: on}}
	lists := newAdmission(home, holds, counts, hold.NewHalted(store), waits, atCap, accounts{}, func() Plan { return Plan{TurnsPerHour: 1} })

	out := runner.Outcome{End: runner.Limited, Reason: "no credit", Ended: now}
	if _, err := holds.Park("account", journal.LimitFrom("coder", out, time.Second, now), now); err != nil {
		t.Fatal(err)
	}
	if err := store.Halt("all"); err != nil {
		t.Fatal(err)
	}
	q := hold.Query{
		Agent: "coder", Now: now, Attached: true, Account: func() string { return "account" }, Hours: hours.Hours{Week: week, Zone: time.UTC},
		Record:  journal.Hold{Stopped: &journal.Stop{}, Paused: &journal.Pause{}, Until: now.Add(time.Minute), Drain: &journal.Drain{}},
		Message: &dropbox.Message{ID: "m2", DependsOn: []string{"m1"}},
	}
	ends := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range []struct {
		list hold.List
		kind hold.Kind
		end  func()
	}{
		{lists.agent, hold.KindAttached, func() { q.Attached = false }},
		{lists.agent, hold.KindStopped, func() { q.Record.Stopped = nil }},
		{lists.agent, hold.KindPaused, func() { q.Record.Paused = nil }},
		{lists.agent, hold.KindOff, func() { q.Hours = hours.Hours{} }},
		{lists.agent, hold.KindLimited, func() { ends(holds.LiftLimit("account", now)) }},
		{lists.agent, hold.KindBackoff, func() { q.Record.Until = time.Time{} }},
		{lists.agent, hold.KindHalted, func() {
			ends(store.Unhalt())
			lists.agent.First(q) // the removal is believed a little later
			q.Now = now.Add(time.Second)
		}},
		{lists.agent, "", func() {}},
		{lists.message, hold.KindDraining, func() { begun = true }},
		{lists.message, hold.KindDepends, func() { done = true }},
		{lists.message, hold.KindBudget, func() { book.SetRules(budget.Rules{}) }},
		{lists.message, hold.KindTurns, func() { q.ByLead = true }},
		{lists.message, "", func() {}},
	} {
		end, got, held := c.list.Ask(q)
		if end != nil || got.Kind != c.kind || held != (c.kind != "") {
			t.Fatalf("%d: held by %q, want %q (end %v)", i, got.Kind, c.kind, end)
		}
		if first, _ := c.list.First(q); first.Kind != c.kind {
			t.Errorf("%d: the first is %q", i, first.Kind)
		}
		if held && !slices.Contains([]State{Away, Stopped, Paused, Off, Limited, Backoff, Parked, Queued}, State(got.State)) {
			t.Errorf("%s shows the state %q, which is none of a held agent", got.Kind, got.State)
		}
		c.end()
	}
}
