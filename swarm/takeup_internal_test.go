package swarm

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// newIdle is a swarm that does not run, of one agent, coder.
func newIdle(t *testing.T) *Swarm {
	t.Helper()
	project := t.TempDir()
	box := filepath.Join(project, ".dead-drop")
	if err := dropbox.Create(box); err != nil {
		t.Fatal(err)
	}
	store, err := dropbox.Open(box, dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Project: project, Store: store, Plan: Plan{Agents: []Spec{{Name: "coder"}}},
		Backends: map[string]runner.Backend{"scripted": &runnertest.Scripted{}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// claimed delivers a message to an agent and claims it.
func claimed(t *testing.T, a *member, as dropbox.Type) *dropbox.Claim {
	t.Helper()
	m := &dropbox.Message{Type: as, From: dropbox.Lead, Body: []byte("work")}
	if _, err := a.store.Deliver(a.name, m); err != nil {
		t.Fatal(err)
	}
	waiting, err := a.box.List()
	if err != nil || len(waiting) != 1 {
		t.Fatalf("there waits %v, %v", waiting, err)
	}
	c, err := a.box.Claim(waiting[0])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// count says how many messages lie in the folders of a mailbox.
func count(t *testing.T, a *member, want ...int) {
	t.Helper()
	for i, folder := range []string{"coder/new/*.md", "coder/cur/*.md", "coder/done/*/*.md", "lead/new/*.md"} {
		names, err := filepath.Glob(filepath.Join(a.store.Dir(), folder))
		if err != nil || len(names) != want[i] {
			t.Errorf("%s is %q (%v), want %d", folder, names, err, want[i])
		}
	}
}

// A client belongs to an agent as long as one of its turns does: the message of an earlier
// one is done, that of the running one lies in cur/.
func TestAClientOfALaterTurnIsNoOrphan(t *testing.T) {
	s := newIdle(t)
	a := s.agents["coder"]
	first := &journal.Record{V: 1, Turn: "aaaaaaaaaa-1", Agent: "coder", Message: "aaaaaaaaaa"}
	if s.hasClaimed(first) {
		t.Error("cur/ is empty, and the client belongs to the agent")
	}
	now := claimed(t, a, dropbox.Task)
	if s.hasClaimed(first) {
		t.Error("a message without a turn makes the client the agent's")
	}
	later := &journal.Record{V: 1, Turn: journal.TurnID(now.ID, now.Begun, 0), Agent: "coder", Message: now.ID, Client: first.Turn}
	for _, rec := range []*journal.Record{first, later} {
		if err := rec.Write(a.home); err != nil {
			t.Fatal(err)
		}
	}
	if !s.hasClaimed(first) || !s.hasClaimed(later) {
		t.Errorf("the client has a turn: %v by its first record, %v by its last, want both", s.hasClaimed(first), s.hasClaimed(later))
	}
	if s.hasClaimed(&journal.Record{V: 1, Turn: "bbbbbbbbbb-1", Agent: "coder", Message: "bbbbbbbbbb"}) {
		t.Error("another client belongs to the agent")
	}
}

// A turn is not settled before the list of events has its end: nobody would write it there
// after that, and no listener would hear of it.
func TestAListOfEventsThatTakesNothingIsWaitedFor(t *testing.T) {
	refused := func(a *member, f func() error) {
		t.Helper()
		inTheWay := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		events := a.house.events
		a.house.events = journal.Open(filepath.Join(inTheWay, "events"), durable.Files{}, nil)
		err := f()
		a.house.events = events
		if !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("settled with %v, want that the list takes nothing", err)
		}
	}
	t.Run("done", func(t *testing.T) {
		a := newIdle(t).agents["coder"]
		task := claimed(t, a, dropbox.Task)
		r := &journal.Receipt{ID: task.ID, Turn: journal.TurnID(task.ID, task.Begun, 0), Agent: "coder", Outcome: string(runner.Done), Ended: time.Now()}
		data, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := a.box.Commit(task.Entry, data); err != nil {
			t.Fatal(err)
		}
		finish := func() error { return a.finish(task.Entry, task.Message, r) }
		refused(a, finish)
		count(t, a, 0, 1, 0, 0)
		if err := finish(); err != nil {
			t.Error(err)
		}
		count(t, a, 0, 0, 1, 0)
	})
	t.Run("failed", func(t *testing.T) {
		a := newIdle(t).agents["coder"]
		task := claimed(t, a, dropbox.Task)
		rec := &journal.Record{V: 1, Turn: journal.TurnID(task.ID, task.Begun, 0), Agent: "coder", Message: task.ID, Begun: time.Now(), End: runner.Failed, Reason: "no luck", Ended: time.Now(), Counted: true}
		if err := rec.Write(a.home); err != nil {
			t.Fatal(err)
		}
		takeUp := func() error { return a.takeUpOne(t.Context(), task.Entry) }
		refused(a, takeUp)
		count(t, a, 0, 1, 0, 0)
		if err := takeUp(); err != nil {
			t.Error(err)
		}
		count(t, a, 1, 0, 0, 0)
	})
}

// Turns that cannot be looked at are told of: what is left of them may run on.
func TestTurnsThatCannotBeLookedAt(t *testing.T) {
	home := journal.HomeOf(t.TempDir())
	if err := os.MkdirAll(home.Dir(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(home.Turns(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log := new(bytes.Buffer)
	s := &Swarm{}
	s.home, s.log = home, slog.New(slog.NewTextHandler(log, nil))
	s.endOrphans()
	if !strings.Contains(log.String(), "turns could not be looked at") {
		t.Errorf("the log says %q", log)
	}
}
