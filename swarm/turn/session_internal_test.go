package turn

import (
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

var kind = new(runnertest.Scripted).Kind()

// A session that could not be saved is not used later, because the next daemon would not
// find it.
func TestASessionIsDurableOrNotThere(t *testing.T) {
	s, err := journal.OpenSessions(journal.HomeOf(filepath.Join(t.TempDir(), "gone")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := planSession(s, kind, "coder", Settings{}); err == nil {
		t.Fatal("plan wrote into a folder that does not exist")
	}
	if got, ok := s.Get("coder"); ok {
		t.Errorf("the session %s is kept", got.ID)
	}
}

// A session belongs to the folder in which it began, even if the settings change while
// the turn is running.
func TestASessionKeepsItsFolder(t *testing.T) {
	home := journal.HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	s, err := journal.OpenSessions(home)
	if err != nil {
		t.Fatal(err)
	}
	spec := Settings{Client: runner.Spec{Dir: "/one"}}
	planned, err := planSession(s, kind, "coder", spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Learned("coder", planned.ID); err != nil {
		t.Fatal(err)
	}
	if again, err := planSession(s, kind, "coder", spec); err != nil || again.ID != planned.ID || again.How != runner.Resume {
		t.Errorf("plan = %+v (%v), want %s resumed", again, err, planned.ID)
	}
	spec.Client.Dir = "/two"
	if again, err := planSession(s, kind, "coder", spec); err != nil || again.ID == planned.ID {
		t.Errorf("plan = %+v (%v), want another session in another folder", again, err)
	}
}

// A client that refuses a new session is told to resume that session, if the client can
// resume sessions. Otherwise, it gets another new session. Only a conversation that can
// be resumed can be compacted.
func TestARefusedSessionIsResumedWhereTheClientCan(t *testing.T) {
	home := journal.HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	all, err := journal.OpenSessions(home)
	if err != nil {
		t.Fatal(err)
	}
	for plain, want := range map[bool]runner.How{false: runner.Resume, true: runner.New} {
		turns := NewTurns(&Deps{Home: home, Sessions: all, Backends: map[string]runner.Backend{"scripted": &runnertest.Scripted{Plain: plain}}},
			"coder", nil, nil, nil, nil)
		got, err := turns.session(Settings{}, 1, &journal.Record{Session: "refused", How: string(runner.New)})
		if err != nil || got.How != want || (got.ID == "refused") == plain {
			t.Errorf("plain client %v: the session is %+v (%v), want %s", plain, got, err, want)
		}
		if err := all.Learned("coder", got.ID); err != nil {
			t.Fatal(err)
		}
		if _, ok := turns.oldSession(Settings{}); ok == plain {
			t.Errorf("plain client %v: there is an old session: %v", plain, ok)
		}
	}
}
