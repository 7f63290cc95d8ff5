package ircbridge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

// heard returns the lines that the bridge keeps for a channel, except those from agents.
func (s *scene) heard(channel string) (all []string) {
	s.Helper()
	lines, err := bridge.Reader{Dir: ircbridge.Folder(s.home)}.Recent(channel, time.Time{}, 0)
	if err != nil {
		s.Fatal(err)
	}
	for _, l := range slices.Backward(lines) {
		if l.Drop == "" && !l.Own {
			all = append(all, l.Nick+": "+l.Text)
		}
	}
	return all
}

// The bridge reads the lines that it missed while it was away. If the server no longer has
// the oldest of them, the log reports that lines may be missing.
func TestAServerThatForgets(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, c := range map[string]struct {
		f       irctest.Features
		restart bool
		said    int
		first   int // the first line that the server still has
	}{
		"restarted":  {restart: true, said: 3},
		"short ring": {f: irctest.Features{Ring: 64}, said: 100, first: 36},
	} {
		t.Run(name, func(t *testing.T) {
			srv := irctest.NewServer(t, c.f)
			s := newScene(t, srv.Addr)
			s.start()
			s.ready()
			srv.Say("eve", "", "#project-x", "before")
			eventually(t, "heard", func() bool { return len(s.heard("#project-x")) == 1 })
			s.stop()
			want := []string{"eve: before"}
			if c.restart {
				srv.Forget()
			}
			for i := range c.said {
				srv.Say("eve", "", "#project-x", fmt.Sprint("line ", i))
				if i >= c.first {
					want = append(want, fmt.Sprint("eve: line ", i))
				}
			}
			if strings.Contains(s.log.String(), "what was said in between is not known") {
				t.Fatal("a gap is logged before there is one")
			}
			s.start()
			s.ready()
			eventually(t, "all that there is", func() bool { return slices.Equal(s.heard("#project-x"), want) }, func() string {
				return strings.Join(s.heard("#project-x"), "\n")
			})
			if n := strings.Count(s.log.String(), "what was said in between is not known"); n != 1 {
				t.Errorf("%d gaps are logged, want 1\n%s", n, s.log.String())
			}
			told := "I do not know what was said here from "
			eventually(t, "people are told", func() bool { return strings.Contains(strings.Join(saidAt(srv, "#project-x"), "\n"), told) })
			for channel, want := range map[string]int{"#project-x": 1, "#alerts": 0, "#standup-x": 0} {
				if all := strings.Join(saidAt(srv, channel), "\n"); strings.Count(all, told) != want {
					t.Errorf("in %s, people were told %d times about a gap, want %d:\n%s", channel, strings.Count(all, told), want, all)
				}
			}
		})
	}
}

// Joins and quits are not talk. A server that keeps them in its history plays them back
// as messages from a service if the client does not request events.
func TestComingsAndGoingsAreNotTalk(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, f := range map[string]irctest.Features{
		"with event-playback":    {Events: true},
		"without event-playback": {Events: true, Without: []string{"draft/event-playback"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := irctest.NewServer(t, f)
			s := newScene(t, srv.Addr)
			s.start()
			s.ready()
			srv.Say("eve", "", "#project-x", "before")
			eventually(t, "heard", func() bool { return len(s.heard("#project-x")) == 1 })
			s.stop()
			bob := newPerson(t, srv.Addr, "coder-bob", "#project-x")
			newPerson(t, srv.Addr, "coder", "#project-x") // as an ordinary line, "coder joined the channel" would address that agent
			bob.say("#project-x", "swarm: joined the channel")
			s.start()
			s.ready()
			want := []string{"eve: before", "coder-bob: swarm: joined the channel"}
			eventually(t, "what was said", func() bool { return len(s.heard("#project-x")) >= 2 })
			srv.Say("eve", "", "#project-x", "after") // by the time this line arrives, the whole history has arrived
			want = append(want, "eve: after")
			eventually(t, "what was said then", func() bool { return slices.Contains(s.heard("#project-x"), "eve: after") })
			if got := s.heard("#project-x"); !slices.Equal(got, want) {
				t.Errorf("kept %q, want %q", got, want)
			}
			if st := s.state("as it stands", func(st bridge.State) bool { return true }); st.Denied > 1 {
				t.Errorf("%d denied", st.Denied)
			}
			if log := s.log.String(); strings.Contains(log, "HistServ") {
				t.Errorf("the log mentions HistServ:\n%s", log)
			}
		})
	}
}

// A bridge that was killed may have delivered a line that it had not yet added to the
// buffer. The next bridge does not ask the person to repeat the line, because the agent
// already has the message.
func TestWhatWasMailedIsNotMissed(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	srv := irctest.NewServer(t, irctest.Features{})
	s := newScene(t, srv.Addr)
	s.start()
	s.ready()
	srv.Say("eve", "", "#project-x", "before")
	eventually(t, "heard", func() bool { return len(s.heard("#project-x")) == 1 })
	s.stop()
	srv.Say("ann", "", "#project-x", "coder: go on")
	srv.Say("ann", "", "#project-x", "coder, tester: and this")
	srv.Say("joe", "", "#project-x", "coder: stop")
	said := srv.Said("#project-x")[1:]
	for i, agents := range [][]string{{"coder"}, {"coder"}} {
		for _, agent := range agents { // like the killed bridge
			m := &dropbox.Message{From: "irc", To: []string{agent}, Type: dropbox.Question, Key: "irc-" + srv.Addr + "-" + said[i].ID, Body: []byte(said[i].Text)}
			if _, err := s.store.Deliver(agent, m); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.start()
	s.ready()
	eventually(t, "all is kept", func() bool { return len(s.heard("#project-x")) >= 4 })
	eventually(t, "those who were not heard are told", func() bool { return len(srv.Said("#project-x")) >= 6 }, func() string { return strings.Join(saidAt(srv, "#project-x"), "\n") })
	told := strings.Join(saidAt(srv, "#project-x"), "\n")
	if !strings.Contains(told, "joe: I was away when you said that: coder: stop") || !strings.Contains(told, "ann: I was away when you said that: coder, tester: and this") {
		t.Errorf("told:\n%s", told)
	}
	if strings.Contains(told, "said that: coder: go on") {
		t.Errorf("a person is asked to repeat a line that was delivered:\n%s", told)
	}
	s.mail("coder", 2)
}
