package client_test

import (
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

func TestAnswer(t *testing.T) {
	lead := &client.Client{Me: journal.Identity{Name: dropbox.Lead}}
	agent := &client.Client{Me: journal.Identity{Name: "coder"}}
	for _, tc := range []struct {
		to            dropbox.Type
		lead, program dropbox.Type
	}{
		{dropbox.Task, dropbox.Result, dropbox.Result},
		{dropbox.Question, dropbox.Result, dropbox.Result},
		{dropbox.Result, dropbox.Task, dropbox.Note},
		{dropbox.Status, dropbox.Task, dropbox.Note},
		{dropbox.Handoff, dropbox.Task, dropbox.Note},
		{dropbox.Note, dropbox.Task, dropbox.Note},
	} {
		old := &dropbox.Message{ID: "aaaaaaaaaa", Type: tc.to, Subject: "the parser", Trace: "bbbbbbbbbb"}
		m := lead.Answer(old, "")
		if m.Type != tc.lead || m.ReplyTo != old.ID || m.Thread != old.ID || m.Trace != old.Trace || m.Subject != "Re: the parser" {
			t.Errorf("the lead answers a %s by %+v, want a %s", tc.to, m, tc.lead)
		}
		if m := agent.Answer(old, ""); m.Type != tc.program {
			t.Errorf("an agent answers a %s by a %s, want a %s", tc.to, m.Type, tc.program)
		}
		if m := agent.Answer(old, dropbox.Handoff); m.Type != dropbox.Handoff {
			t.Errorf("an agent that wants a handoff sends a %s", m.Type)
		}
	}
}
