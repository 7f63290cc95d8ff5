package dropbox_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

func TestDeadLetters(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	d := deliver(t, s, "coder", text("x"))
	c := claim(t, b, list(t, b)[0])
	back, err := b.PutBack(c.Entry, true)
	if err != nil {
		t.Fatal(err)
	}
	c = claim(t, b, back)
	for _, reason := range []string{"failed 3 times:\nno disk\n", "a second reason"} {
		if err := b.Bury(c.Entry, reason); err != nil {
			t.Fatal(err)
		}
	}
	dead := onlyDead(t, b)
	if dead.ID != d.ID || dead.Reason != "failed 3 times:\nno disk" || dead.Name != c.Base()+".md" || dead.Begun != 0 {
		t.Errorf("Dead() = %+v", dead)
	}
	if reason, err := b.Reason(dead.Entry); err != nil || reason != dead.Reason {
		t.Errorf("Reason = %q, %v", reason, err)
	}
	if err := b.Retry(dead); err != nil {
		t.Fatal(err)
	}
	if err := b.Retry(dead); !errors.Is(err, dropbox.ErrGone) {
		t.Errorf("second Retry = %v, want ErrGone", err)
	}
	e := list(t, b)[0]
	if e.Begun != 0 || e.Failed != 0 || e.ID != d.ID {
		t.Errorf("after Retry %+v waits", e)
	}
	if err := b.Cancel(e); err != nil {
		t.Fatal(err)
	}
	if err := b.Cancel(e); !errors.Is(err, dropbox.ErrGone) {
		t.Errorf("second Cancel = %v, want ErrGone", err)
	}
	dead = onlyDead(t, b)
	if dead.Reason != "cancelled while it waited" {
		t.Errorf("reason %q", dead.Reason)
	}
	if err := b.Purge(dead); err != nil {
		t.Fatal(err)
	}
	if err := b.Purge(dead); !errors.Is(err, dropbox.ErrGone) {
		t.Errorf("second Purge = %v, want ErrGone", err)
	}
	if err := b.Bury(e, "gone"); !errors.Is(err, dropbox.ErrGone) {
		t.Errorf("Bury of what is gone = %v, want ErrGone", err)
	}
	if left := tree(t, filepath.Join(s.Dir(), "coder/dead")); len(left) != 0 {
		t.Errorf("left in dead: %v", left)
	}
}
