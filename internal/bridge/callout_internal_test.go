package bridge

import (
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// An alert that somebody must act on begins with the nick of the person who gave the task.
// If nobody on the network gave it, or if that person may not control the swarm, it names
// those who may. An alert that needs no decision calls nobody.
func TestAnAlertCallsThePeopleWhoShouldAct(t *testing.T) {
	annByAccount := []Permit{{Account: "ann-home", May: Rights()}, {Account: "joe", May: []Right{Talk, Tasks}}, {Mask: "*!*@office.example", May: Rights()}}
	byNick := []Permit{{Nick: "ann", May: Rights()}, {Nick: "bob", May: []Right{Control}}, {Nick: "joe", May: []Right{Talk, Tasks}}}
	for _, c := range []struct {
		what          string
		allow         []Permit
		from          string // the sender of the copy
		giver         string // nick and account of the person who gave the task; "" means the lead
		speaks, calls string
		silent        bool // nobody must act
	}{
		{what: "a task of ann's", allow: byNick, from: dropbox.Swarm, giver: "ann", calls: "ann: "},
		{what: "a task of the lead", allow: byNick, from: dropbox.Swarm, calls: "ann, bob: "},
		{what: "a task of joe's, who cannot resume", allow: byNick, from: dropbox.Swarm, giver: "joe", calls: "joe, ann, bob: "},
		{what: "a question about joe's task", allow: byNick, from: "coder", giver: "joe", calls: "joe: "},
		{what: "a question about the lead's task", allow: byNick, from: "coder", calls: "ann, bob: "},
		{what: "nothing to do", allow: byNick, from: dropbox.Swarm, giver: "ann", silent: true},
		{what: "by accounts, before anybody has spoken", allow: annByAccount, from: dropbox.Swarm, calls: "ann-home: "},
		{what: "by accounts, under another nick", allow: annByAccount, from: dropbox.Swarm, speaks: "anna ann-home", calls: "anna: "},
		{what: "the giver by account", allow: annByAccount, from: dropbox.Swarm, giver: "anna ann-home", calls: "anna: "},
	} {
		t.Run(c.what, func(t *testing.T) {
			r, _ := newListener(t, "127.0.0.1", Options{Allow: c.allow})
			task := &dropbox.Message{From: dropbox.Lead, Type: dropbox.Task, Body: []byte("deploy")}
			if nick, account, _ := strings.Cut(c.giver, " "); nick != "" {
				task.From, task.Extra = "irc", Origin{Channel: "#project-x", Nick: nick, Account: account}.Extra("irc")
			}
			given := must(r.mail.store.Deliver("coder", task))
			if nick, account, _ := strings.Cut(c.speaks, " "); nick != "" {
				r.listener.hear(onNetwork(irc.Text{Time: time.Now(), Target: "#project-x", Source: nick + "!x@home.example", Nick: nick, Account: account, Body: "hello all"}))
			}
			must(r.mail.store.Deliver("irc", &dropbox.Message{From: c.from, Type: dropbox.Note, Trace: given.ID, Body: []byte("[ESCALATION] Agent coder appears stuck."),
				Extra: Origin{Channel: "#alerts", About: given.ID, To: "coder", Announces: Alert, Calls: !c.silent}.Extra("irc")}))
			r.outbox.plan.lookAgain()
			w, _, err := r.outbox.plan.next(func(waiter) bool { return true }, false)
			if err != nil {
				t.Fatal(err)
			}
			r.beginNext(t, w)
			if got, want := r.link.(*stubLink).said[0].Text, c.calls+"[ESCALATION] Agent coder appears stuck."; got != want {
				t.Errorf("said %q, want %q", got, want)
			}
		})
	}
}
