package bridge

import (
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

func TestTaskOf(t *testing.T) {
	for channel, want := range map[string]string{
		"#work-k7f3q9m2xd": "k7f3q9m2xd", "#WORK-K7F3Q9M2XD": "k7f3q9m2xd", "#work-k7f3q9m2x": "", "#work-k7f3q9m2xdd": "",
		"#work-k7f3q9m2x!": "", "#work-": "", "#work-1": "", "#other": "", "k7f3q9m2xd": "",
	} {
		if got := (Channels{Work: "#work-{task-id}"}).taskOf(channel); got != want {
			t.Errorf("taskOf(%q) = %q, want %q", channel, got, want)
		}
	}
	if got := (Channels{Work: "#{task-id}-x"}).taskOf("#k7f3q9m2xd-X"); got != "k7f3q9m2xd" {
		t.Errorf("taskOf = %q", got)
	}
	if got := (Channels{}).taskOf("#k7f3q9m2xd"); got != "" {
		t.Errorf("taskOf without channels for tasks = %q", got)
	}
}

// The bridge leaves a task's channel only when the task's conversation, including
// delegated work, no longer has an open message.
func TestChannelsOfTasksAreLeft(t *testing.T) {
	r, _ := newListener(t, "", Options{Channels: Channels{Work: "#work-{task-id}"}})
	store, link := r.mail.store, r.link.(*stubLink)
	for _, name := range []string{"ramona", "harper", dropbox.Lead} {
		if err := store.MakeMailbox(name); err != nil {
			t.Fatal(err)
		}
	}
	deliver := func(to string, m *dropbox.Message) dropbox.Delivery {
		t.Helper()
		d, err := store.Deliver(to, m)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	finish := func(mailbox string, claim bool) {
		t.Helper()
		box, err := store.Mailbox(mailbox)
		if err != nil {
			t.Fatal(err)
		}
		if claim {
			entries, err := box.List()
			if err != nil || len(entries) != 1 {
				t.Fatalf("%s: %v, %v", mailbox, entries, err)
			}
			if _, err := box.Claim(entries[0]); err != nil {
				t.Fatal(err)
			}
			return
		}
		claimed, err := box.Claimed()
		if err != nil || len(claimed) != 1 {
			t.Fatalf("%s: %v, %v", mailbox, claimed, err)
		}
		if err := box.File(claimed[0]); err != nil {
			t.Fatal(err)
		}
	}
	task := deliver("ramona", &dropbox.Message{From: dropbox.Lead, Type: dropbox.Task, Body: []byte("x")})
	work := "#work-" + task.ID
	for _, name := range []string{"#project-x", "#work-1", "#general", work} {
		link.rooms[name] = &ChannelState{Name: name, Wanted: true, Fixed: name == "#project-x"}
	}
	now := time.Now()
	look := func(what string, want bool) {
		t.Helper()
		for range 3 {
			now = now.Add(sweepEvery)
			r.leaveDone(now)
		}
		if _, known := link.Rooms().Channel(work); known != want {
			t.Errorf("%s: in the channel: %v, want %v", what, known, want)
		}
	}
	look("the task waits", true)
	finish("ramona", true)
	look("it is worked on", true)
	deliver("harper", &dropbox.Message{From: "ramona", Type: dropbox.Task, Thread: task.ID, Body: []byte("part of x")})
	finish("ramona", false)
	look("a part of it waits with another agent", true)
	finish("harper", true)
	deliver("ramona", &dropbox.Message{From: "harper", Type: dropbox.Result, Thread: task.ID, Body: []byte("part of x is done")})
	finish("harper", false)
	look("the part is back", true)
	finish("ramona", true)
	question := deliver(dropbox.Lead, &dropbox.Message{From: "ramona", Type: dropbox.Question, Thread: task.ID, Body: []byte("which?")})
	finish("ramona", false)
	look("the lead is asked", true)
	found, err := store.Find(question.ID)
	if err != nil {
		t.Fatal(err)
	}
	box, err := store.Mailbox(dropbox.Lead)
	if err != nil {
		t.Fatal(err)
	}
	if err := box.File(found.Entry); err != nil {
		t.Fatal(err)
	}
	deliver(dropbox.Lead, &dropbox.Message{From: "ramona", Type: dropbox.Result, Thread: task.ID, Body: []byte("x is done")})
	deliver("harper", &dropbox.Message{From: dropbox.Lead, Type: dropbox.Task, Body: []byte("y")})
	deliver("irc", &dropbox.Message{From: "ramona", Type: dropbox.Result, Thread: task.ID, Body: []byte("x is done"), Extra: Origin{Channel: work, About: task.ID}.Extra("irc")})
	look("the end of it waits to be said", true)
	finish("irc", true)
	finish("irc", false)
	now = now.Add(sweepEvery)
	r.leaveDone(now)
	if _, known := link.Rooms().Channel(work); !known {
		t.Error("it was left at once")
	}
	look("all is done", false)
	for _, name := range []string{"#project-x", "#work-1", "#general"} {
		if _, known := link.Rooms().Channel(name); !known {
			t.Errorf("%s was left", name)
		}
	}
}
