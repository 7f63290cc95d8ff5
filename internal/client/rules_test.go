package client_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/policy"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Messages that were refused because a conversation was halted are put back when the
// conversation continues. This is true even if the file names a different conversation
// from the one to which the rules assigned it, such as the conversation of the turn that
// wrote the file. Messages that were refused for other reasons stay refused.
func TestUnhaltGivesBackByTheReason(t *testing.T) {
	drop := filepath.Join(t.TempDir(), ".dead-drop")
	if err := dropbox.Create(drop); err != nil {
		t.Fatal(err)
	}
	store, err := dropbox.Open(drop, dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	d := &client.Client{Project: client.Project{Store: store}, Me: journal.Identity{Name: dropbox.Lead}}
	box, err := d.Mailbox("coder")
	if err != nil {
		t.Fatal(err)
	}
	const halted, other = "hhhhhhhhhh", "oooooooooo"
	refuse := func(inFile, counted, why string) string {
		t.Helper()
		m := &dropbox.Message{From: dropbox.Lead, To: []string{"coder"}, Type: dropbox.Task, Thread: inFile, Body: []byte("a task\n")}
		sent, err := store.Send(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		found, err := store.Find(sent[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		one := *m
		one.Thread = counted
		reason := policy.Default().Decide(nil, policy.Question{Message: &one, To: "coder", Proven: true, Now: time.Now(), Halted: why}).String()
		if why == "" {
			reason = "ring: it goes round"
		}
		if err := box.Refuse(found.Entry, reason); err != nil {
			t.Fatal(err)
		}
		return sent[0].ID
	}
	want := map[string]dropbox.State{
		refuse(halted, halted, "by lead"): dropbox.Waiting,
		refuse(other, halted, "by lead"):  dropbox.Waiting,
		refuse(halted, other, "by lead"):  dropbox.Refused,
		refuse(other, other, "by lead"):   dropbox.Refused,
		refuse(halted, halted, ""):        dropbox.Refused,
	}
	if err := d.HaltThread(halted, ""); err != nil {
		t.Fatal(err)
	}
	if back, err := d.UnhaltThread(halted); err != nil || back != 2 {
		t.Errorf("UnhaltThread gives back %d, %v; want 2", back, err)
	}
	for id, state := range want {
		if found, err := store.Find(id); err != nil || found.State != state {
			t.Errorf("%s is %v, %v; want %v", id, found.State, err, state)
		}
	}
}

// A copy is a note, and the rules judge it as one, whatever the message itself is.
func TestACopyIsJudgedAsANote(t *testing.T) {
	s := newSwarm(t, "coder", "tester", "writer")
	s.Rules.Types = []dropbox.Type{dropbox.Task}
	err := s.as(dropbox.Lead).MayPass(&dropbox.Message{From: dropbox.Lead, To: []string{"coder", "writer"}, CC: []string{"tester"}, Type: dropbox.Task, Body: []byte("a task\n")})
	if refused, ok := errors.AsType[*client.RefusedError](err); !ok || refused.To != "tester" || refused.Verdict.Rule != policy.RuleType {
		t.Errorf("MayPass = %v, want that the copy is refused by its type", err)
	}
	s.Rules.Types = []dropbox.Type{dropbox.Task, dropbox.Note}
	if err := s.as(dropbox.Lead).MayPass(&dropbox.Message{From: dropbox.Lead, To: []string{"coder"}, CC: []string{"tester"}, Type: dropbox.Task}); err != nil {
		t.Errorf("MayPass = %v", err)
	}
}
