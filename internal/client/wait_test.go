package client_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
)

// A wait keeps the last known state of a message that can no longer be found, and goes on
// waiting, because the answer may still arrive.
func TestAWaitKeepsTheLastKnownState(t *testing.T) {
	s := newSwarm(t, "coder")
	wait, task := waitFor(t, s)
	look := func(what string, want dropbox.State) {
		t.Helper()
		if got, err := wait.Look(time.Now()); got != nil || err != nil || wait.States[task.ID] != want || len(wait.Pending) != 1 {
			t.Errorf("%s: Look = %+v, %v, state %q, %d pending, want no outcome and state %q", what, got, err, wait.States[task.ID], len(wait.Pending), want)
		}
	}
	look("before the turn", dropbox.Waiting)
	found, err := s.Store.Find(task.ID)
	if err != nil {
		t.Fatal(err)
	}
	remove(t, filepath.Join(s.Store.Dir(), found.Path))
	look("when it is gone", dropbox.Waiting)
	answer := s.as("coder").Answer(&dropbox.Message{ID: task.ID, Type: dropbox.Task}, "")
	answer.To, answer.Body = []string{dropbox.Lead}, []byte("Done.\n")
	if _, err := s.as("coder").Send(answer); err != nil {
		t.Fatal(err)
	}
	if got, err := wait.Look(time.Now()); err != nil || got == nil || got.Answer == nil || string(got.Answer.Body) != "Done.\n" || len(wait.Pending) != 0 {
		t.Errorf("Look = %+v, %v, want the answer", got, err)
	}
}

// A message that is refused or becomes a dead letter gets no answer, and the reason is told.
func TestAWaitTellsWhyThereIsNoAnswer(t *testing.T) {
	s := newSwarm(t, "coder")
	box := mailbox(t, s, "coder")
	for state, end := range map[dropbox.State]func(dropbox.Entry) error{
		dropbox.Refused: func(e dropbox.Entry) error { return box.Refuse(e, "ring: it goes round") },
		dropbox.Dead: func(e dropbox.Entry) error {
			claimed, err := box.Claim(e)
			if err != nil {
				return err
			}
			return box.GiveUp(claimed.Entry, "its client crashed")
		},
	} {
		wait, task := waitFor(t, s)
		if err := end(task); err != nil {
			t.Fatal(err)
		}
		want := map[dropbox.State]string{dropbox.Refused: "ring: it goes round", dropbox.Dead: "its client crashed"}[state]
		got, err := wait.Next(t.Context())
		if err != nil || got.None == nil || got.None.State != state || got.None.Reason != want || len(wait.Pending) != 0 {
			t.Errorf("%s: Next = %+v, %v, want the reason %q", state, got, err, want)
		}
	}
}

// The answer of a finished turn may arrive a moment later. After that, the wait ends without one.
func TestAWaitForATurnWithoutAnAnswer(t *testing.T) {
	s := newSwarm(t, "coder")
	box := mailbox(t, s, "coder")
	wait, task := waitFor(t, s)
	claimed, err := box.Claim(task)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(box.Commit(claimed.Entry, []byte("v: 1\n")), box.Finish(claimed.Entry)); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	if got, err := wait.Look(now); got != nil || err != nil || len(wait.Pending) != 1 {
		t.Fatalf("just finished: Look = %+v, %v, want that the answer may still come", got, err)
	}
	got, err := wait.Look(now.Add(time.Minute))
	if err != nil || got == nil || got.None == nil || got.None.State != dropbox.Done || len(wait.Pending) != 0 {
		t.Fatalf("Look = %+v, %v, want that there is no answer", got, err)
	}
	if want := "coder finished " + task.ID + " without an answer"; got.None.Error() != want {
		t.Errorf("it says %q, want %q", got.None, want)
	}
}

// waitFor sends coder a task, and returns the lead's wait for its answer.
func waitFor(t *testing.T, s swarmOf) (*client.Wait, dropbox.Entry) {
	t.Helper()
	lead := s.as(dropbox.Lead)
	sent, err := lead.Send(&dropbox.Message{To: []string{"coder"}, Type: dropbox.Task, Body: []byte("Port it.\n")})
	if err != nil {
		t.Fatal(err)
	}
	wait, err := lead.Wait(sent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { wait.Close() })
	found, err := s.Store.Find(sent[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	return wait, found.Entry
}

func mailbox(t *testing.T, s swarmOf, name string) *dropbox.Mailbox {
	t.Helper()
	box, err := s.Store.Mailbox(name)
	if err != nil {
		t.Fatal(err)
	}
	return box
}
