package swarm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A record that was truncated by a crash belongs to a client that never got its prompt.
// The message's turn therefore begins as if there were no record.
func TestARecordThatWasCutOff(t *testing.T) {
	for name, left := range map[string]string{"empty": "", "half": `{"v":1,"turn":"k7f3q9`} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "coder")
			id := f.send("coder", "work")
			turn := claim(f, "coder", id)
			writeRecord(f, turn, id, runner.Process{})
			if err := os.WriteFile(filepath.Join(journal.HomeOf(f.dir).Turns(), turn+".json"), []byte(left), 0o600); err != nil {
				t.Fatal(err)
			}
			f.start()
			f.answer(id)
			f.receipt("coder", id)
			if n := len(f.backend.Runs()); n != 1 {
				t.Errorf("%d turns, want 1", n)
			}
		})
	}
}

// Without a durable record the client gets no prompt. The turn begins once the record can
// be written, and no failure is counted.
func TestNothingIsSentWithoutARecord(t *testing.T) {
	f := newField(t, "coder")
	var inTheWay string
	f.before = func(turn runner.Turn) {
		if inTheWay != "" {
			return
		}
		// A file cannot replace a folder that is not empty.
		inTheWay = filepath.Join(journal.HomeOf(f.dir).Turns(), turn.ID+".json")
		if err := os.Remove(inTheWay); err != nil {
			t.Error(err)
		}
		if err := os.MkdirAll(filepath.Join(inTheWay, "x"), 0o700); err != nil {
			t.Error(err)
		}
	}
	f.start()
	id := f.send("coder", "work")
	if st := f.untilState("coder", swarm.Backoff); !strings.Contains(st.Why, "record the turn") {
		t.Errorf("why = %q", st.Why)
	}
	if err := os.RemoveAll(inTheWay); err != nil {
		t.Fatal(err)
	}
	f.answer(id)
	r := f.receipt("coder", id)
	if len(r.Attempts) != 1 || r.Attempts[0].Outcome != string(runner.Done) {
		t.Errorf("attempts = %+v, want one that went well", r.Attempts)
	}
}
