package bridge

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// A question can be answered as the bridge prints it, and in the shorter forms that people
// type, in the channel of the question, in any other channel and privately. The copies are
// those of the daemon: a question or an alert in one channel or in two, or no copy at all,
// because a rule hides it.
func TestEachQuestionCanBeAnsweredAsItIsPrinted(t *testing.T) {
	for asks, from := range map[string]string{
		"the daemon, in a notice":                      dropbox.Swarm,
		"the daemon, as a question":                    dropbox.Swarm,
		"the daemon, without a copy":                   dropbox.Swarm,
		"an agent, as a question":                      "coder",
		"an agent, as a question and in a notice":      "coder",
		"an agent, in a notice":                        "coder",
		"an agent, without a copy":                     "coder",
		"an agent, as a question that lead has opened": "coder",
	} {
		for _, place := range []string{"#project-x", "#alerts", ""} {
			for _, form := range []string{"printed", "reply ID more", "swarm: reply ID more", "reply PART more", "@swarm, Reply PART: more", "name"} {
				t.Run(asks+"/"+place+"/"+form, func(t *testing.T) {
					t.Parallel()
					r, log := newListener(t, "irc.example", Options{Allow: []Permit{{Account: "ann", May: Rights()}, {Account: "joe", May: []Right{Talk, Tasks}}}})
					for _, name := range []string{dropbox.Lead, dropbox.Swarm} {
						if err := r.mail.store.MakeMailbox(name); err != nil {
							t.Fatal(err)
						}
					}
					d, err := r.mail.store.Deliver(dropbox.Lead, &dropbox.Message{From: from, Type: dropbox.Question, Subject: "the day has cost $20", Body: []byte("more?")})
					if err != nil {
						t.Fatal(err)
					}
					if strings.Contains(asks, "opened") {
						box := must(r.mail.store.Mailbox(dropbox.Lead))
						must(box.Claim(must(box.Peek())[0]))
					}
					var copies []*dropbox.Message
					if strings.Contains(asks, "as a question") {
						copies = append(copies, &dropbox.Message{From: from, Type: dropbox.Question, Subject: "the day has cost $20", Body: []byte("more?"),
							Extra: Origin{Channel: "#project-x", About: d.ID, To: dropbox.Lead}.Extra("irc")})
					}
					if strings.Contains(asks, "notice") {
						copies = append(copies, &dropbox.Message{From: from, Type: dropbox.Note, Body: []byte("[BUDGET] coder has spent $20. To answer: reply " + d.ID + " more, stop or end."),
							Extra: Origin{Channel: "#alerts", About: d.ID, To: "coder", Announces: Alert}.Extra("irc")})
					}
					for _, m := range copies {
						must(r.mail.store.Deliver("irc", m))
					}
					r.outbox.plan.lookAgain()
					for range copies {
						w, _, err := r.outbox.plan.next(func(waiter) bool { return true }, false)
						if err != nil {
							t.Fatal(err)
						}
						r.beginNext(t, w)
					}
					said := r.link.(*stubLink).said
					for _, s := range said {
						r.outbox.landed(s, Landing{Fate: Arrived})
					}
					for len(r.outbox.flights) > 0 {
						(<-r.loop.later)()
					}

					text := strings.NewReplacer("ID", d.ID, "PART", d.ID[:5]).Replace(form)
					switch form {
					case "printed":
						if len(said) == 0 {
							t.Skip("nothing is printed")
						}
						found := regexp.MustCompile(`swarm: reply \w{10}`).FindString(said[len(said)-1].Text)
						if found == "" {
							t.Fatalf("%q says no way to answer", said[len(said)-1].Text)
						}
						text = found + " more"
					case "name":
						shown := place == "" && len(said) > 0
						for _, s := range said {
							shown = shown || s.Target == place
						}
						if from == dropbox.Swarm || !shown {
							t.Skip("a name answers an agent's question where it is shown")
						}
						text = "coder: more"
					}
					say := func(who string) {
						line := irc.Text{Time: time.Now(), Target: place, Source: who + "!x@home.example", Nick: who, Account: who, Body: text}
						if place == "" {
							line.Target, line.Private = "swarm", true
						}
						r.listener.hear(onNetwork(line))
					}
					if from == dropbox.Swarm {
						if say("joe"); len(r.waitingFor(from)) > 0 {
							t.Error("a person without the right to control answers the daemon")
						}
					}
					say("ann")
					got := r.waitingFor(from)
					if len(got) != 1 || got[0].ReplyTo != d.ID || got[0].Type != dropbox.Result || !strings.HasSuffix(strings.TrimSpace(string(got[0].Body)), "more") {
						t.Errorf("%q: %s got %d messages %+v; told %q\n%s", text, from, len(got), got, r.link.(*stubLink).told, log)
					}
					if f, _, err := r.mail.find(d.ID); err != nil || from != dropbox.Swarm && f.State != dropbox.Done {
						t.Errorf("the question is %s, %v", f.State, err)
					}
				})
			}
		}
	}
}

// Mail for the lead of another type, a line from a person on IRC and a question among agents
// cannot be answered with reply.
func TestOnlyAQuestionToTheLeadIsAnswered(t *testing.T) {
	r, _ := newListener(t, "irc.example", Options{Allow: []Permit{{Account: "ann", May: Rights()}}})
	if err := r.mail.store.MakeMailbox(dropbox.Lead); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		to string
		m  *dropbox.Message
	}{
		{dropbox.Lead, &dropbox.Message{From: "coder", Type: dropbox.Note, Body: []byte("a note")}},
		{dropbox.Lead, &dropbox.Message{From: "irc", Type: dropbox.Question, Body: []byte("from a person")}},
		{"coder", &dropbox.Message{From: "tester", Type: dropbox.Question, Body: []byte("among agents")}},
	} {
		d := must(r.mail.store.Deliver(c.to, c.m))
		before := len(r.link.(*stubLink).told)
		r.listener.hear(onNetwork(irc.Text{Time: time.Now(), Target: "#project-x", Source: "ann!x@h", Nick: "ann", Account: "ann", Body: "swarm: reply " + d.ID + " yes"}))
		if told := r.link.(*stubLink).told; len(told) != before+1 || !strings.Contains(told[before], "No question "+d.ID) {
			t.Errorf("%s: told %q", c.m.Body, told)
		}
	}
	if n := len(r.waitingFor("coder")); n != 1 {
		t.Errorf("coder has %d messages, want the question of tester alone", n)
	}
}
