package ircbridge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

func TestTalk(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		early := s.say("coder", bridge.Origin{}, "said before anybody was there\n")
		ann := newPerson(t, addr, "ann", "#project-x", "#standup-x")
		s.start()
		ann.sees("#project-x swarm: [coder] said before anybody was there")
		s.where(early, dropbox.Done)
		if rec := receiptOf(t, s.store, early); !strings.Contains(rec, "outcome: said") || !strings.Contains(rec, "target: '#project-x'") {
			t.Errorf("receipt:\n%s", rec)
		}

		s.say("coder", bridge.Origin{Channel: "#standup-x", About: "k7f3q9m2xd", To: "coder", Announces: bridge.Ended}, "The build is green.\nIt was the cache.\n")
		ann.sees("#standup-x swarm: [coder] done: The build is green. (swarm: read k7f3q9m2xd)")

		ann.say("#project-x", "coder: how is it going?")
		m := s.mail("coder", 1)[0]
		if want := "[IRC @mention in #project-x] <ann> coder: how is it going?"; string(m.Body) != want || m.Type != dropbox.Question || m.From != "irc" {
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

// The bridge shows the lead under the name from the configuration, and accepts that name.
func TestTheLeadByItsName(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.o.Called = func(mailbox string) string {
			if mailbox == dropbox.Lead {
				return "opus-orange"
			}
			return mailbox
		}
		s.o.Style = ircbridge.StyleRelay // these servers do not support relaying, but the lead's name does not depend on relaying
		ann, joe := newPerson(t, addr, "ann", "#project-x", "#standup-x"), newPerson(t, addr, "joe", "#project-x")
		s.start()
		s.ready()
		s.say(dropbox.Lead, bridge.Origin{}, "hello, all")
		ann.sees("#project-x swarm: [opus-orange] hello, all")
		s.say("coder", bridge.Origin{About: "k7f3q9m2xd", To: dropbox.Lead}, "what now?")
		ann.sees("#project-x swarm: [coder] to opus-orange: what now?")
		s.say(dropbox.Lead, bridge.Origin{Channel: "#standup-x", About: "k7f3q9m2xd", To: "coder", Announces: bridge.Begun}, "fix the build")
		ann.sees("#standup-x swarm: [coder] begins: fix the build (from opus-orange)")
		d, err := s.store.Deliver("coder", &dropbox.Message{From: dropbox.Lead, To: []string{"coder"}, Type: dropbox.Note, Body: []byte("all of it")})
		if err != nil {
			t.Fatal(err)
		}
		ann.say("swarm", "read "+d.ID)
		ann.like("ann swarm: " + d.ID + " from opus-orange to coder, note, ")
		// People address an answer to the lead's question to the configured name or to
		// "lead".
		if err := s.store.MakeMailbox(dropbox.Lead); err != nil {
			t.Fatal(err)
		}
		for i, answer := range []struct{ target, text string }{{"#project-x", "opus-orange: 8080"}, {"#project-x", "lead, 8081"}, {"swarm", "@opus-orange 8082"}} {
			id := s.leave(&dropbox.Message{From: dropbox.Lead, Type: dropbox.Question, Body: fmt.Appendf(nil, "Which port, %d?", i)})
			ann.like(fmt.Sprintf("[opus-orange] asks: Which port, %d?", i))
			ann.sees(fmt.Sprintf(`#project-x swarm: [opus-orange] (answer here with "opus-orange: …", or with: swarm: reply %s …)`, id))
			s.state("a question", func(st bridge.State) bool { return len(st.Questions) == 1 })
			joe.say("#project-x", "lead us not into temptation")
			ann.say(answer.target, answer.text)
			if m := s.mail(dropbox.Lead, i+1)[i]; m.ReplyTo != id || !strings.HasSuffix(string(m.Body), "<ann> "+answer.text+"\n") {
				t.Errorf("answer %d: %+v\n%s", i, m, m.Body)
			}
		}
		ann.say("#project-x", "opus-orange: is anything else?") // no question is open, so this counts as talk between people
		ann.say("#project-x", "TASK: @opus-orange do it yourself")
		ann.like("Whose task is that? Name one of: coder, tester")
		s.mail(dropbox.Lead, 3)
		// The files still contain "lead".
		lines, err := bridge.Reader{Dir: ircbridge.Folder(s.home)}.Recent("#project-x", time.Time{}, 0)
		for _, l := range ann.lines() {
			if strings.Contains(l, " swarm: ") && strings.Contains(l, "lead") {
				t.Errorf("seen: %q", l)
			}
		}
		if err != nil || len(lines) < 2 || lines[len(lines)-1].Nick != dropbox.Lead {
			t.Errorf("kept: %+v, %v", lines, err)
		}
	})
}
