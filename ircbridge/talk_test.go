package ircbridge_test

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

// servers are the two real ones: the old world and the new.
func servers(t *testing.T, test func(t *testing.T, addr string)) {
	t.Run("ngircd", func(t *testing.T) { test(t, irctest.Ngircd(t, false)) })
	t.Run("inspircd", func(t *testing.T) { test(t, irctest.Inspircd(t, false)) })
}

func TestTalk(t *testing.T) {
	servers(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		early := s.say("coder", ircbridge.Note{}, "said before anybody was there\n")
		ann := newPerson(t, addr, "ann", "#project-x", "#standup-x")
		s.start()
		ann.sees("#project-x swarm: [coder] said before anybody was there")
		s.where(early, dropbox.Done)
		if rec := receiptOf(t, s.store, early); !strings.Contains(rec, "outcome: said") || !strings.Contains(rec, "target: '#project-x'") {
			t.Errorf("receipt:\n%s", rec)
		}

		s.say("coder", ircbridge.Note{Channel: "#standup-x", About: "k7f3q9m2xd", To: "coder", Moment: ircbridge.Ended}, "The build is green.\nIt was the cache.\n")
		ann.sees("#standup-x swarm: [coder] done: The build is green. (swarm: read k7f3q9m2xd)")

		ann.say("#project-x", "coder: how far are you?")
		m := s.mail("coder", 1)[0]
		if want := "[IRC @mention in #project-x] <ann> coder: how far are you?"; string(m.Body) != want || m.Type != dropbox.Question || m.From != dropbox.IRC {
			t.Errorf("got %s from %s: %q, want a question: %q", m.Type, m.From, m.Body, want)
		}
		s.leave(&dropbox.Message{From: "coder", Type: dropbox.Result, ReplyTo: m.ID, Thread: m.Thread, Body: []byte("Half way.\n")})
		ann.sees("#project-x swarm: [coder] ann: Half way.")

		ann.say("swarm", "@coder psst")
		m = s.mail("coder", 2)[1]
		if want := "[IRC private message] <ann> @coder psst"; string(m.Body) != want {
			t.Errorf("private: %q, want %q", m.Body, want)
		}
		s.leave(&dropbox.Message{From: "coder", Type: dropbox.Result, ReplyTo: m.ID, Body: []byte("Yes?\n")})
		ann.sees("ann swarm: [coder] Yes?")
	})
}
