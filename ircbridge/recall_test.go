package ircbridge_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
)

// A message that an earlier bridge began to send is sent before later messages, even
// though the bridge first asks the server how much of it was sent.
func TestOrderBehindALookUp(t *testing.T) {
	srv := irctest.NewServer(t, irctest.Features{})
	s := newScene(t, srv.Addr)
	var ids []string
	for i := range 4 {
		ids = append(ids, s.say("coder", bridge.Origin{}, fmt.Sprintf("line %d", i)))
	}
	box, err := s.store.Mailbox("irc")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := box.List()
	if err != nil {
		t.Fatal(err)
	}
	c, err := box.Claim(entries[0]) // like a bridge that is then killed
	if err != nil {
		t.Fatal(err)
	}
	if _, err := box.PutBack(c.Entry, false); err != nil {
		t.Fatal(err)
	}
	s.start()
	for _, id := range ids {
		s.where(id, dropbox.Done)
	}
	want := []string{"swarm: [coder] (again) line 0", "swarm: [coder] line 1", "swarm: [coder] line 2", "swarm: [coder] line 3"}
	if got := saidAt(srv, "#project-x"); !slices.Equal(got, want) {
		t.Errorf("said %q, want %q", got, want)
	}
}
