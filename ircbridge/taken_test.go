package ircbridge_test

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// When a person gives an agent a task, the bridge tells the person that the agent has
// received it, and how many messages the agent will handle first.
func TestATaskIsTaken(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.start()
		s.ready()
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x", "#standup-x")
		ann.say("#standup-x", "TASK: @tester look at it")
		ann.sees("#standup-x swarm: ann: tester has it.")

		for _, kind := range []dropbox.Type{dropbox.Question, dropbox.Note, dropbox.Task} {
			if _, err := s.store.Deliver("coder", &dropbox.Message{From: "tester", Type: kind, Body: []byte("do it")}); err != nil {
				t.Fatal(err)
			}
		}
		box, err := s.store.Mailbox("coder")
		if err != nil {
			t.Fatal(err)
		}
		entries, err := box.List()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := box.Claim(entries[0]); err != nil {
			t.Fatal(err)
		}
		ann.say("#project-x", "TASK: @coder fix the login page")
		ann.sees("#project-x swarm: ann: coder has it, 2 before it.")
		ann.say("swarm", "TASK: coder: and the other one")
		ann.sees("ann swarm: coder has it, 3 before it.")
		ann.say("#project-x", "coder: how is it going?")
		s.mail("coder", 5)
		ann.say("swarm", "who")
		ann.like("ann swarm: Agents: coder")
		n := 0
		for _, l := range ann.lines() {
			n += strings.Count(l, "has it")
		}
		if n != 3 {
			t.Errorf("told %d times that somebody has it, want 3:\n%s", n, strings.Join(ann.lines(), "\n"))
		}
	})
}
