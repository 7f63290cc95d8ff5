package swarm_test

import (
	"errors"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// An agent that cannot work does not check its mail. Even so, senders are refused when
// too much mail is waiting, and accepted again when there is room.
func TestSendersAreRefusedWhileAnAgentIsHeld(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, tc := range map[string]struct{ hold, let func(*field) error }{
		"halted": {
			func(f *field) error { return f.store.Halt("not yet") },
			func(f *field) error { return f.store.Unhalt() },
		},
		"paused": {
			func(f *field) error { return f.daemon.Pause("coder", swarm.PauseOrder{By: "lead"}) },
			func(f *field) error { return f.daemon.Resume("coder", "lead") },
		},
		"stopped": {
			func(f *field) error { _, err := f.daemon.StopAgent(f.t.Context(), "coder", "lead", false); return err },
			func(f *field) error { return f.daemon.StartAgent("coder", "lead") },
		},
		"at work": {
			func(f *field) error { f.send("coder", "@hang"); f.untilState("coder", swarm.Working); return nil },
			func(f *field) error { _, err := f.daemon.Abort(f.t.Context(), "coder", "lead", ""); return err },
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "coder")
			f.reopen(dropbox.Options{MaxWaiting: 3})
			f.start()
			if err := tc.hold(f); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				f.send("coder", "work")
			}
			box, err := f.store.Mailbox("coder")
			if err != nil {
				t.Fatal(err)
			}
			full := func() bool {
				full, err := box.Full()
				if err != nil {
					t.Fatal(err)
				}
				return full
			}
			f.until("the mailbox is full", full)
			_, err = f.store.Deliver("coder", &dropbox.Message{Type: dropbox.Task, From: dropbox.Lead, Body: []byte("one too many")})
			if !errors.Is(err, dropbox.ErrFull) {
				t.Errorf("Deliver = %v, want ErrFull", err)
			}
			if err := tc.let(f); err != nil {
				t.Fatal(err)
			}
			f.until("there is room", func() bool { return !full() })
			f.send("coder", "work")
		})
	}
}
