package mail

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Refuse determines whether a message that may pass has a valid proof. The prompt shows
// the result.
func TestRefuseFindsOutTheProof(t *testing.T) {
	in := newInbox(t)
	if err := in.Tokens.Add(dropbox.Lead); err != nil {
		t.Fatal(err)
	}
	for _, signed := range []bool{true, false} {
		m := &dropbox.Message{Type: dropbox.Task, From: dropbox.Lead, Body: []byte("work\n")}
		_, err := in.Store.DeliverSigned(in.Name, m, func(m *dropbox.Message) string {
			if !signed {
				return ""
			}
			return in.Tokens.Sign(m, in.Name)
		})
		if err != nil {
			t.Fatal(err)
		}
		waiting, err := in.Box.List()
		if err != nil || len(waiting) != 1 {
			t.Fatalf("waiting: %v, %v", waiting, err)
		}
		j, err := in.Claim(waiting[0])
		if err != nil || j == nil {
			t.Fatalf("Claim = %v, %v", j, err)
		}
		if refused, err := in.Refuse(j); refused || err != nil {
			t.Fatalf("Refuse = %v, %v", refused, err)
		}
		if j.Proven != signed || j.ByLead() != signed || in.Prompt(j).Message.Proven != signed {
			t.Errorf("signed %v: proven %v, by the lead %v", signed, j.Proven, j.ByLead())
		}
	}
}

// While Refuse cannot determine whether a message was given up before, no turn may start
// with that message.
func TestRefuseNeedsTheDeadLetters(t *testing.T) {
	in := newInbox(t)
	j := &Job{Claim: claimed(t, in, dropbox.Task)}
	dead := filepath.Join(in.Store.Dir(), in.Name, "dead")
	if err := errors.Join(os.RemoveAll(dead), os.WriteFile(dead, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if refused, err := in.Refuse(j); refused || !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("Refuse = %v, %v, want the error %v", refused, err, syscall.ENOTDIR)
	}
}
