package swarm_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm"
)

// A copy of a cancelled message does not run under the same name. Under another name the
// copy runs as an unproven message, like any file that a person puts there.
func TestACopyOfACancelledMessage(t *testing.T) {
	f := newField(t, "coder")
	id := f.send("coder", "work", subject("one"))
	box, err := f.store.Mailbox("coder")
	if err != nil {
		t.Fatal(err)
	}
	waiting, err := box.Peek()
	if err != nil || len(waiting) != 1 {
		t.Fatal(waiting, err)
	}
	e := waiting[0]
	fresh := filepath.Join(f.store.Dir(), "coder", "new")
	data, err := os.ReadFile(filepath.Join(fresh, e.Name))
	if err != nil {
		t.Fatal(err)
	}
	if err := box.Cancel(e); err != nil {
		t.Fatal(err)
	}
	f.start()
	lay := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(f.dir, "copy"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(f.dir, "copy"), filepath.Join(fresh, name)); err != nil {
			t.Fatal(err)
		}
	}
	changed := bytes.Replace(data, []byte("subject: one"), []byte("subject: two"), 1)
	if bytes.Equal(changed, data) {
		t.Fatalf("no subject in %s", data)
	}
	for i, copied := range [][]byte{data, changed} {
		lay(e.Name, copied)
		f.until("it is set aside", func() bool { letters, err := box.DeadLetters().List(); return err == nil && len(letters) == 2+i })
	}
	if n := len(f.backend.Runs()); n != 0 {
		t.Errorf("%d turns ran for copies", n)
	}
	if r, err := box.Reason(e); err != nil || !strings.Contains(r, "cancelled") {
		t.Errorf("the dead letter says %q, %v", r, err)
	}

	urgent := e
	urgent.Priority--
	lay(urgent.FileName(), changed)
	f.until("it runs", func() bool { return len(f.backend.Runs()) == 1 })
	f.untilState("coder", swarm.Idle)
	if r := f.receipt("coder", id); r.Proven {
		t.Errorf("a changed copy is proven: %+v", r)
	}

	// A dead letter can be retried.
	letters, err := box.DeadLetters().List()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range letters {
		if l.Original == "" && l.ID == id && l.Priority == e.Priority {
			if err := box.DeadLetters().Retry(l); err != nil {
				t.Fatal(err)
			}
		}
	}
	f.until("it runs", func() bool { return len(f.backend.Runs()) == 2 })
}
