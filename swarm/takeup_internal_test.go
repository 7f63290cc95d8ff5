package swarm

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// newIdle returns a swarm that is not running and has one agent, coder.
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
	if _, err := a.files.store.Deliver(a.name, m); err != nil {
		t.Fatal(err)
	}
	waiting, err := a.inbox.Box.List()
	if err != nil || len(waiting) != 1 {
		t.Fatalf("List = %v, %v, want one message", waiting, err)
	}
	c, err := a.inbox.Box.Claim(waiting[0])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A client belongs to an agent as long as one of the client's turns belongs to the agent.
// In this test, the message of the client's earlier turn is done, and the message of the
// running turn is in cur/.
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
		if err := rec.Write(a.files.home); err != nil {
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

// If the daemon cannot list the turn records at startup, it reports this, because
// processes of those turns may still be running.
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
	if !strings.Contains(log.String(), "turn records could not be read") {
		t.Errorf("the log says %q", log)
	}
}
