package ircbridge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// A bouncer plays back the whole history each time a client attaches. The bridge does not
// obey these lines and does not store any of them twice. It reports as missed only the
// lines that are new to it.
func TestBouncer(t *testing.T) {
	server := irctest.Ngircd(t, irctest.Unlimited)
	ann := newPerson(t, server, "ann", "#project-x")
	bouncer := irctest.Znc(t, server, "swarm", "pw", "#project-x", "#standup-x", "#alerts", "#errors")
	eventually(t, "the bouncer is there", func() bool {
		nicks, _, _ := ann.conn.Members("#project-x")
		return len(nicks) == 2
	})
	proxy := irctest.NewProxy(t, bouncer)
	s := newScene(t, proxy.Addr)
	s.o.Server.Password = "u/n:pw"
	s.o.Allow = []bridge.Permit{{Mask: "ann!*@127.0.0.1", May: bridge.Rights()}, {Nick: "joe", May: bridge.Rights()}}
	// away sends a line while no client is attached, and waits until the bouncer has
	// received it.
	away := func(target, text string) {
		t.Helper()
		ann.say(target, text)
		eventually(t, "the bouncer has it", func() bool {
			conn, err := irc.Dial(t.Context(), irc.Config{Addr: bouncer, Clear: true, Nick: "swarm", Pass: "u/n:pw", Flood: irc.Flood{Off: true}})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(t.Context(), "")
			for {
				select {
				case m := <-conn.Messages():
					if m.Last() == text && m.Param(0) == target {
						return true
					}
				case <-time.After(100 * time.Millisecond):
					return false // try again
				}
			}
		})
	}
	kept := func(channel string, want ...string) {
		t.Helper()
		var got []string
		eventually(t, "what is kept of "+channel, func() bool {
			got = nil
			lines, err := bridge.Reader{Dir: ircbridge.Folder(s.home)}.Recent(channel, (bridge.Line{}).At, 0)
			for _, l := range lines {
				if l.Nick == "swarm" {
					continue // the bridge quotes the missed lines when it reports them
				}
				got = append([]string{fmt.Sprintf("%s %v %s", l.Nick, l.Replay, l.Text)}, got...)
			}
			return err == nil && len(got) >= len(want)
		}, func() string { return strings.Join(got, "\n") })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("kept of %s (-want +got):\n%s", channel, diff)
		}
	}
	away("#project-x", "coder: before anybody attached")
	s.start()
	s.ready()
	kept("#project-x", "ann true coder: before anybody attached")
	ann.like("I was away when you said that: coder: before anybody attached")

	ann.say("#project-x", "coder: one")
	s.mail("coder", 1)
	ann.say("swarm", "coder: two")
	s.mail("coder", 2)
	s.say("coder", bridge.Origin{}, "an answer\n")
	ann.sees("#project-x swarm: [coder] an answer")
	channel := []string{"ann true coder: before anybody attached", "ann false coder: one", "coder false an answer"}
	private := []string{"ann false coder: two"}
	for round := range 3 {
		if round < 2 {
			proxy.Refuse()
			proxy.Cut()
			s.state("away", func(st bridge.State) bool { return !st.Connected })
		} else {
			s.stop()
		}
		away("#project-x", fmt.Sprintf("coder: away %d", round))
		away("swarm", fmt.Sprintf("coder: away %d", round))
		channel = append(channel, fmt.Sprintf("ann true coder: away %d", round))
		private = append(private, fmt.Sprintf("ann true coder: away %d", round))
		if round < 2 {
			proxy.Heal()
		} else {
			s.start()
		}
		s.ready()
		kept("#project-x", channel...)
		kept("ann", private...)
	}
	s.mail("coder", 2)

	// The bouncer is on this machine, but the server can be anywhere, so a nick is not
	// enough.
	newPerson(t, server, "joe", "#project-x").say("#project-x", "coder: by a nick")
	s.state("joe is denied", func(st bridge.State) bool {
		return st.Denied == 1 && strings.Contains(strings.Join(st.Warnings, "\n"), "nick joe never matches")
	})
	s.mail("coder", 2)
	rep, err := ircbridge.Doctor(t.Context(), s.o)
	if err != nil || !strings.Contains(strings.Join(rep.Problems, "\n"), "nick joe never matches") {
		t.Errorf("doctor: %v, %q", err, rep.Problems)
	}
}
