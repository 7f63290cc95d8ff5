package swarm_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A claimed note that has expired and could not be set aside does not remain in cur/
// until the next start.
func TestANoteThatCannotBeSetAsideIsNotForgotten(t *testing.T) {
	f := newField(t, "coder")
	once := false
	store, err := dropbox.Open(f.store.Dir(), dropbox.Options{Step: func(st dropbox.Step) error {
		if !once && strings.HasPrefix(st.To, "coder/dead/") {
			once = true
			return syscall.ENOSPC
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	late := f.send("coder", "too late", func(m *dropbox.Message) { m.Type, m.Expires = dropbox.Note, time.Now().Add(-time.Hour) })
	id := f.send("coder", "work")
	f.store = store
	f.start()
	f.answer(id)
	f.until("the note waits again", func() bool { return len(f.files("coder", "new")) == 1 && len(f.files("coder", "cur")) == 0 })
	f.answer(f.send("coder", "more work"))
	f.until("the note is set aside", func() bool { return strings.Contains(strings.Join(f.files("coder", "dead"), " "), late) })
	f.untilState("coder", swarm.Idle)
	f.nothingLeft("coder")
}
