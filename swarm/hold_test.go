package swarm_test

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// Once an agent is stopped or paused, or the daemon is told to end, no turn begins, even
// if the claim of its message was already in progress.
func TestNoTurnBeginsAfterTheAgentWasHeld(t *testing.T) {
	for name, hold := range map[string]func(*field) error{
		"stopped":    func(f *field) error { _, err := f.daemon.StopAgent(f.t.Context(), "coder", "lead", false); return err },
		"paused":     func(f *field) error { return f.daemon.Pause("coder", swarm.PauseOrder{By: "lead"}) },
		"the daemon": func(f *field) error { f.stop(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "coder")
			held := make(chan struct{})
			store, err := dropbox.Open(f.store.Dir(), dropbox.Options{Step: func(st dropbox.Step) error {
				if st.Op == dropbox.OpMove && strings.HasPrefix(st.To, "coder/cur/") {
					err := hold(f)
					close(held)
					return err
				}
				return nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { store.Close() })
			f.store = store
			f.start()
			id := f.send("coder", "work")
			<-held
			f.until("the message waits again", func() bool {
				got := f.files("coder", "new")
				return len(got) == 1 && strings.HasSuffix(got[0], id+".md")
			})
			if n := len(f.backend.Runs()); n != 0 {
				t.Errorf("%d turns", n)
			}
		})
	}
}
