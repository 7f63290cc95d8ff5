package ircbridge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// As in channels, the bridge keeps private lines that it missed while it was away, but does
// not obey them. The same applies if no private message arrived before the restart, and
// after the connection was cut.
func TestPrivateTalkWhileAway(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	srv := irctest.NewServer(t, irctest.Features{Page: 2})
	proxy := irctest.NewProxy(t, srv.Addr)
	s := newScene(t, proxy.Addr)
	s.o.Allow = []bridge.Permit{{Nick: "ann", May: bridge.Rights()}} // a nick proves nothing in a history
	kept := func(peer string, want ...string) {
		t.Helper()
		var got []string
		eventually(t, "what is kept of "+peer, func() bool {
			lines, err := bridge.Reader{Dir: ircbridge.Folder(s.home)}.Recent(peer, (bridge.Line{}).At, 0)
			if err != nil {
				t.Fatal(err)
			}
			got = nil
			for _, l := range lines {
				if l.Nick == peer {
					got = append([]string{fmt.Sprintf("%v %s", l.Replay, l.Text)}, got...)
				}
			}
			return len(got) >= len(want)
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("kept of %s (-want +got):\n%s", peer, diff)
		}
	}
	toldAnn := func(n int) {
		t.Helper()
		away := func() int {
			return strings.Count(strings.Join(saidAt(srv, "ann"), "\n"), "I was away when you said that")
		}
		eventually(t, "ann is told", func() bool { return away() >= n }, func() string { return s.log.String() })
		if got := away(); got != n {
			t.Errorf("ann was told %d times, want %d", got, n)
		}
	}
	newPersonBy(t, irc.Config{Addr: srv.Addr, Nick: "ann"}) // ann must be online, because otherwise the server cannot deliver the notice
	s.start()
	s.ready()
	s.stop()
	for _, text := range []string{"coder: stop that", "halt", "TASK: coder: undo it"} {
		srv.Say("ann", "ann", "swarm", text)
	}
	srv.Say("bob", "bob", "swarm", "hello, is anybody there?")
	s.start()
	s.ready()
	kept("ann", "true coder: stop that", "true halt", "true TASK: coder: undo it")
	kept("bob", "true hello, is anybody there?")
	toldAnn(1)
	if all := strings.Join(saidAt(srv, "ann"), "\n"); !strings.Contains(all, " UTC), and 2 more. Say it again") {
		t.Errorf("ann is not told how much was missed:\n%s", all)
	}

	proxy.Refuse()
	proxy.Cut()
	eventually(t, "the bridge is away", func() bool { return !srv.Online("swarm") })
	srv.Say("ann", "ann", "swarm", "are you back?")
	proxy.Heal()
	s.ready()
	kept("ann", "true coder: stop that", "true halt", "true TASK: coder: undo it", "true are you back?")
	toldAnn(2)
	kept("bob", "true hello, is anybody there?")

	srv.Say("ann", "ann", "swarm", "coder: go on")
	if m := s.mail("coder", 1)[0]; !strings.HasSuffix(strings.TrimSpace(string(m.Body)), "coder: go on") {
		t.Errorf("coder got %q", m.Body)
	}
	s.stop()
	s.start()
	s.ready()
	eventually(t, "all private talk is known", func() bool { return strings.Count(s.log.String(), "msg=connected") == 4 })
	srv.Say("ann", "ann", "swarm", "and on")
	kept("ann", "true coder: stop that", "true halt", "true TASK: coder: undo it", "true are you back?", "false coder: go on", "false and on")
	s.mail("coder", 1)
}

// A server may keep the history of channels but not report who wrote privately. The
// bridge then reports that it does not know which private lines it missed.
func TestPrivateTalkThatNobodyTells(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	srv := irctest.NewServer(t, irctest.Features{NoTargets: true})
	s := newScene(t, srv.Addr)
	s.start()
	s.ready()
	srv.Say("ann", "ann", "#project-x", "hello")
	eventually(t, "it is heard", func() bool {
		lines, err := bridge.Reader{Dir: ircbridge.Folder(s.home)}.Recent("#project-x", (bridge.Line{}).At, 0)
		return err == nil && len(lines) == 1
	})
	s.stop()
	srv.Say("ann", "ann", "swarm", "coder: stop that")
	srv.Say("ann", "ann", "#project-x", "hello again")
	s.start()
	s.ready()
	eventually(t, "the gap is said", func() bool {
		return strings.Contains(s.log.String(), `msg="what was said privately in between is not known"`) && strings.Contains(s.log.String(), "INVALID_PARAMS")
	}, func() string { return s.log.String() })
	eventually(t, "the channel's history", func() bool {
		lines, err := bridge.Reader{Dir: ircbridge.Folder(s.home)}.Recent("#project-x", (bridge.Line{}).At, 0)
		return err == nil && len(lines) == 2 && lines[0].Replay
	})
	srv.Say("ann", "ann", "#project-x", "coder: go on")
	s.mail("coder", 1)
}
