package turn

import (
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A session that could not be written down is not begun later either, as if it
// had been: a daemon that starts then would not know of it.
func TestASessionIsDurableOrNotThere(t *testing.T) {
	s, err := journal.OpenSessions(journal.HomeOf(filepath.Join(t.TempDir(), "gone")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := planSession(s, "coder", Settings{}); err == nil {
		t.Fatal("plan wrote into a folder that is not there")
	}
	if got, ok := s.Get("coder"); ok {
		t.Errorf("the session %s is kept", got.ID)
	}
}

// A session belongs to the folder in which it was begun, also when the settings
// change while the turn runs.
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
	planned, err := planSession(s, "coder", spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Learned("coder", planned.ID); err != nil {
		t.Fatal(err)
	}
	if again, err := planSession(s, "coder", spec); err != nil || again.ID != planned.ID || again.How != runner.Resume {
		t.Errorf("plan = %+v (%v), want %s resumed", again, err, planned.ID)
	}
	spec.Client.Dir = "/two"
	if again, err := planSession(s, "coder", spec); err != nil || again.ID == planned.ID {
		t.Errorf("plan = %+v (%v), want another session in another folder", again, err)
	}
}
