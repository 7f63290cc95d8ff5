package ircbridge_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc/irctest"
)

// Requests that wait for a server to let the bridge in hold up nothing that is said.
func TestJoinsHoldUpNothing(t *testing.T) {
	s := newScene(t, irctest.Ngircd(t, irctest.Unlimited))
	s.o.Server.RetryMin, s.o.Server.RetryMax = 20*time.Second, 20*time.Second // between two tries to get in
	s.start()
	s.ready()
	ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x")
	for i := range 6 {
		channel := fmt.Sprintf("#closed-%d", i)
		ann.raw("JOIN", channel)
		ann.raw("MODE", channel, "+i")
	}
	for i := range 6 {
		eventually(t, "closed", func() bool { _, _, in := ann.conn.Members(fmt.Sprintf("#closed-%d", i)); return in })
	}
	var joins []string
	for i := range 6 {
		joins = append(joins, s.say("coder", ircbridge.Note{Do: ircbridge.DoJoin, Channel: fmt.Sprintf("#closed-%d", i)}, ""))
	}
	for _, id := range joins[:4] {
		s.where(id, dropbox.Claimed)
	}
	s.where(s.say("coder", ircbridge.Note{}, "meanwhile"), dropbox.Done)
	for _, id := range joins {
		s.where(id, dropbox.Claimed) // still
	}
}
