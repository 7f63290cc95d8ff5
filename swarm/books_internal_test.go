package swarm

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A session that could not be written down is not begun later either, as if it
// had been: a daemon that starts then would not know of it.
func TestASessionIsDurableOrNotThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	s, err := openSessions(filepath.Join(dir, "sessions.json"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.plan("coder", Spec{}); err == nil {
		t.Fatal("plan wrote into a folder that is not there")
	}
	if got, ok := s.get("coder"); ok {
		t.Errorf("the session %s is kept", got.ID)
	}
}

// A session belongs to the folder in which it was begun, also when the settings
// change while the turn runs.
func TestASessionKeepsItsFolder(t *testing.T) {
	s, err := openSessions(filepath.Join(t.TempDir(), "sessions.json"))
	if err != nil {
		t.Fatal(err)
	}
	spec := Spec{Client: runner.Spec{Dir: "/one"}}
	planned, err := s.plan("coder", spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.learned("coder", planned.ID); err != nil {
		t.Fatal(err)
	}
	if again, err := s.plan("coder", spec); err != nil || again.ID != planned.ID || again.How != runner.Resume {
		t.Errorf("plan = %+v (%v), want %s resumed", again, err, planned.ID)
	}
	spec.Client.Dir = "/two"
	if again, err := s.plan("coder", spec); err != nil || again.ID == planned.ID {
		t.Errorf("plan = %+v (%v), want another session in another folder", again, err)
	}
}

// What a disk that lost power leaves in a file keeps nobody from reading the rest.
func TestALedgerThatWasSpoiltIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	good := `{"v":1,"turn":"a-1"}` + "\n"
	for name, spoilt := range map[string]string{
		"zeros":          strings.Repeat("\x00", 3<<20) + "\n",
		"a long line":    strings.Repeat("x", maxLedgerLine) + "\n",
		"no line at all": "{\n\n",
		"a torn line":    `{"v":1,"turn":"b`,
	} {
		if err := os.WriteFile(path, []byte(good+spoilt), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := openLedger(path, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := errors.Join(l.add(LedgerLine{Turn: "c-1"}), l.close()); err != nil {
			t.Fatal(err)
		}
		var turns []string
		if err := ReadLedger(path, func(line LedgerLine) bool { turns = append(turns, line.Turn); return true }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := strings.Join(turns, " "); got != "a-1 c-1" {
			t.Errorf("%s: the ledger has %q, want a-1 c-1", name, got)
		}
	}
}

// A line that a full disk cut off takes no other line with it.
func TestALineAfterOneThatWasCutOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	l, err := openLedger(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole := l.file
	l.file, err = os.Open(path) // not for writing
	if err != nil {
		t.Fatal(err)
	}
	if err := l.add(LedgerLine{Turn: "a-1"}); err == nil {
		t.Fatal("add wrote to a file that is open for reading")
	}
	l.file.Close()
	l.file = whole
	if _, err := whole.WriteString(`{"v":1,"turn":"a`); err != nil { // what came of it
		t.Fatal(err)
	}
	if err := l.add(LedgerLine{Turn: "a-1"}); err != nil {
		t.Fatal(err)
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	var turns []string
	if err := ReadLedger(path, func(line LedgerLine) bool { turns = append(turns, line.Turn); return true }); err != nil {
		t.Fatal(err)
	}
	if len(turns) != 1 || turns[0] != "a-1" {
		t.Errorf("the ledger has %q, want the line that was added again", turns)
	}
}
