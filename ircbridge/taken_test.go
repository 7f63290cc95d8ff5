package ircbridge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
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

// An alert overtakes other lines, but what it says of a task comes after the line that tells the
// person that the agent has the task.
func TestAnAlertAboutATaskComesAfterItsReceipt(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	srv := irctest.NewServer(t, irctest.Features{Without: []string{"draft/multiline"}})
	s := newScene(t, srv.Addr)
	s.o.Server.Unlimited, s.o.Server.Rate, s.o.Server.Burst = false, 4, 1
	s.start()
	s.ready()
	newPerson(t, srv.Addr, "ann", "#project-x", "#alerts")
	srv.Say("ann", "", "#project-x", "swarm: help all") // a long answer, which takes the next seconds
	srv.Say("ann", "", "#project-x", "TASK: @coder fix it")
	task := s.mail("coder", 1)[0]
	for _, m := range []*dropbox.Message{
		{From: "coder", Trace: task.ID, Body: []byte("[COMPLETE] coder finished it\n")},
		{From: "coder", Body: []byte("[ERROR] another one\n")},
	} {
		m.Extra = bridge.Origin{Channel: "#alerts", Announces: bridge.Alert, About: "aaaaaaaaaa"}.Extra("irc")
		if _, err := s.store.Deliver("irc", m); err != nil {
			t.Fatal(err)
		}
	}
	at := func(channel, word string) (when time.Time) {
		eventually(t, word, func() bool {
			for _, m := range srv.Said(channel) {
				if strings.Contains(m.Text, word) {
					when = m.Time
				}
			}
			return !when.IsZero()
		})
		return when
	}
	has, complete, other := at("#project-x", "coder has it"), at("#alerts", "[COMPLETE]"), at("#alerts", "[ERROR]")
	if complete.Before(has) {
		t.Errorf("the task is complete %v before its agent has it", has.Sub(complete))
	}
	if other.After(has) {
		t.Errorf("another alert waited too, until %v after that", other.Sub(has))
	}
}
