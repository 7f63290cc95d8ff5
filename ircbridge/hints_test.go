package ircbridge_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
)

// The bridge's hints work in the channel where it gives them, even while another person
// has the bridge's nick.
func TestHintsWorkAsTheyArePrinted(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.o.Swarm = &fakeSwarm{held: map[string]string{"coder": "coder is paused; your message is waiting; next: resume coder"}}
		taker := newPerson(t, s.o.Server.Addr, "swarm", "#project-x")
		s.start()
		s.ready()
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x")
		hinted := func(line, pattern string) string {
			t.Helper()
			found := regexp.MustCompile(pattern).FindStringSubmatch(line)
			if found == nil {
				t.Fatalf("%q contains no %s", line, pattern)
			}
			return found[1]
		}
		ask := func(text string) (id, hint string) {
			t.Helper()
			id = s.leave(&dropbox.Message{From: "coder", Type: dropbox.Question, Body: []byte(text)})
			ann.like("asks: " + text)
			return id, hinted(ann.like(id), `or with: (.*) …\)`)
		}
		answered := func(id, want string, mails int) {
			t.Helper()
			if m := s.mail("coder", mails)[mails-1]; m.ReplyTo != id || string(m.Body) != "[IRC @mention in #project-x] <ann> "+want+"\n" {
				t.Errorf("answer: %+v\n%s", m, m.Body)
			}
		}

		id, hint := ask("Which port?")
		if want := "swarm_: reply " + id; hint != want {
			t.Errorf("hint %q, want %q", hint, want)
		}
		ann.say("#project-x", hint+" port 6667")
		answered(id, "port 6667", 1)
		taker.raw("NICK", "else")
		s.state("has its nick", func(st bridge.State) bool { return st.Nick == "swarm" })
		id, hint = ask("Which host?")
		if want := "swarm: reply " + id; hint != want {
			t.Errorf("hint %q, want %q", hint, want)
		}
		ann.say("#project-x", hint+" localhost")
		answered(id, "localhost", 2)

		// A person on a phone leaves out the bridge's name and most of the id.
		id, _ = ask("Which user?")
		ann.say("#project-x", "Reply "+id[5:]+": root")
		answered(id, "root", 3)
		id, _ = ask("Which door?")
		ann.say("#project-x", "reply "+id[:5]+" the green one")
		answered(id, "the green one", 4)
		// The bridge tells a person that their answer is too late.
		ann.say("#project-x", "reply "+id[:6]+" the blue one")
		ann.like("ann: No question " + id[:6] + " is waiting for an answer.")
		ann.say("#project-x", "reply to that, somebody")
		ann.say("#project-x", "read this again")

		var long strings.Builder
		for i := range 20 {
			fmt.Fprintf(&long, "row %d\n", i)
		}
		s.say("coder", bridge.Origin{}, long.String())
		hint = hinted(ann.like("more lines: "), `more lines: (.*)\)`)
		ann.say("#project-x", hint)
		ann.sees("ann swarm: row 8")
		_, bare, _ := strings.Cut(hint, ": ")
		ann.say("#project-x", strings.ToUpper(bare[:1])+bare[1:])
		ann.like("#project-x swarm: ann: I will answer you privately.")

		ann.say("#project-x", "coder: how is it going?")
		if hint := hinted(ann.like("coder is paused"), `next: (.*)`); hint != "swarm: resume coder" {
			t.Errorf("next: %q", hint)
		}
		for _, l := range ann.lines() {
			if strings.Contains(l, "There is no message") || strings.Contains(l, "No question") && !strings.Contains(l, id[:6]) {
				t.Errorf("ann sees %q", l)
			}
		}
	})
}
