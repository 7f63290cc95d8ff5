package ircbridge_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
)

// Requests to join channels that are closed to the bridge do not delay messages.
func TestJoinsHoldUpNothing(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.o.Server.RetryMin, s.o.Server.RetryMax = 20*time.Second, 20*time.Second // the pause between two attempts to join
		s.start()
		s.ready()
		const closed = 36 // more than the number of requests that may be pending
		channel := func(i int) string { return fmt.Sprintf("#closed-%d", i) }
		for i := 0; i < closed; i += 9 { // the server lets each person join at most ten channels
			ann := newPerson(t, s.o.Server.Addr, fmt.Sprintf("ann%d", i))
			for j := i; j < i+9; j++ {
				ann.raw("JOIN", channel(j))
				ann.raw("MODE", channel(j), "+i")
			}
			for j := i; j < i+9; j++ {
				eventually(t, "closed", func() bool { _, _, in := ann.conn.Members(channel(j)); return in })
			}
		}
		var joins []string
		for i := range closed {
			joins = append(joins, s.say("coder", bridge.Origin{Do: bridge.DoJoin, Channel: channel(i)}, ""))
		}
		for _, id := range joins[:4] {
			s.where(id, dropbox.Claimed)
		}
		s.where(s.say("coder", bridge.Origin{}, "meanwhile"), dropbox.Done)
		for _, id := range joins[:4] {
			s.where(id, dropbox.Claimed) // the message is still waiting for its channel
		}
	})
}

// After each connection, the project's channel is joined first, and the ranks of the members
// are those that the server sends with a JOIN: they are not requested.
func TestTheProjectsChannelIsJoinedFirst(t *testing.T) {
	srv := irctest.NewServer(t, irctest.Features{})
	proxy := irctest.NewProxy(t, srv.Addr)
	s := newScene(t, proxy.Addr)
	s.o.Join = []string{"#a", "#zz"}
	s.start()
	s.ready()
	proxy.Cut()
	s.state("connected again", func(st bridge.State) bool { return st.Connected && proxy.Connections() > 1 })
	s.ready()
	id := s.say("coder", bridge.Origin{}, "hello") // posted after the history
	s.where(id, dropbox.Done)
	joins := 0
	for _, m := range srv.Commands() {
		switch {
		case m.Command == "NAMES":
			t.Errorf("the bridge sends %v", m.Params)
		case m.Command == "JOIN":
			if joins++; m.Param(0) != "#project-x,#standup-x,#alerts,#errors,#a,#zz" {
				t.Errorf("the bridge joins %s", m.Param(0))
			}
		}
	}
	if joins != 2 {
		t.Errorf("%d JOINs, want 2", joins)
	}
}
