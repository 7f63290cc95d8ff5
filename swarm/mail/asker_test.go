package mail_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// A permission question that the disk refused at any step, or that is over, is not open: the
// status does not show it, and a later answer is ordinary mail.
func TestAPermissionQuestionThatWasNotSentIsNotOpen(t *testing.T) {
	errFull, errOver := errors.New("the disk is full"), errors.New("the turn is over")
	for n := 1; ; n++ {
		f := newAsking(t, t.TempDir())
		box := f.mailbox("coder")
		seen := 0
		f.step = func() error {
			if seen++; seen == n {
				return errFull
			}
			return nil
		}
		a := &mail.Asker{Service: f.service, Agent: "coder", Box: box}
		turn := &journal.Record{Turn: "k7f3q9m2xd-1", Agent: "coder"}
		_, err := a.Ask(t.Context(), mail.Question{Turn: turn, To: dropbox.Lead, Number: 1, What: "execute npm test", Text: "May it?\n", Patience: time.Minute, Over: func() error { return errOver }})
		if open := f.service.Home.Asks(turn.Turn).Open(); len(open) != 0 {
			t.Errorf("change %d refused: still open: %+v (%v)", n, open, err)
		}
		if errors.Is(err, errOver) {
			if n < 5 {
				t.Errorf("asked after %d changes", n)
			}
			return
		}
		if !errors.Is(err, errFull) {
			t.Fatalf("change %d refused: %v", n, err)
		}
	}
}

// The lead's answer ends the wait, and is filed. While nobody has answered, the question is open.
func TestAPermissionQuestionIsAnswered(t *testing.T) {
	f := newAsking(t, t.TempDir())
	a := &mail.Asker{Service: f.service, Agent: "coder", Box: f.mailbox("coder")}
	turn := &journal.Record{Turn: "k7f3q9m2xd-1", Agent: "coder"}
	asks := f.service.Home.Asks(turn.Turn)
	answered := false
	over := func() error { // Ask calls it after each look at the mailbox
		if open := asks.Open(); answered || len(open) != 1 || open[0].Call != "execute npm test" {
			return fmt.Errorf("open: %+v", open)
		}
		answered = true
		q := f.question()
		m := &dropbox.Message{From: dropbox.Lead, Type: dropbox.Result, ReplyTo: q.ID, Body: []byte("yes\n")}
		_, err := f.store.DeliverSigned("coder", m, func(m *dropbox.Message) string { return dropbox.Proof(f.tokens.Of(m.From), m, "coder") })
		a.Wake()
		return err
	}
	reply, err := a.Ask(t.Context(), mail.Question{Turn: turn, To: dropbox.Lead, Number: 1, What: "execute npm test", Text: "May it?\n", Patience: time.Minute, Over: over})
	if err != nil || string(reply.Body) != "yes\n" {
		t.Fatalf("Ask = %+v, %v", reply, err)
	}
	if n := len(f.in("coder", dropbox.Done)); n != 1 {
		t.Errorf("%d answers are filed, want 1", n)
	}
	if open := asks.Open(); len(open) != 0 {
		t.Errorf("still open: %+v", open)
	}
}
