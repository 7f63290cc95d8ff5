package ircbridge_test

import (
	"slices"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
)

// A server may continue to read from a dead connection and post its lines later. The
// history is complete only once the server has closed that connection. Until then, the
// connection's nick stays in the channel.
func TestTheOldConnectionHasItsSay(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := withHistory(t)
	s.start()
	s.ready()
	lost := s.proxy.OnText(irctest.Up, 0, s.proxy.Lose)
	s.drop()
	<-lost
	s.state("back under another nick", func(st bridge.State) bool {
		return st.Connected && st.Nick == "swarm_" && slices.ContainsFunc(st.Channels, func(c bridge.Channel) bool { return c.Name == "#standup-x" && c.Joined })
	})
	// Meanwhile, other messages are posted in other channels. This shows that the bridge
	// had time to resend the message, but waited.
	s.where(s.say("coder", bridge.Origin{Channel: "#standup-x"}, "elsewhere"), dropbox.Done)
	s.proxy.Heal()
	eventually(t, "both are done with", func() bool { return s.finished() == 2 }, s.mailbox)
	s.state("the earlier one is gone", func(st bridge.State) bool { return st.Nick == "swarm" })
	if said := s.out(); !slices.Equal(said, []string{"[coder] drop 0"}) {
		t.Errorf("said: %q, want drop 0 once", said)
	}
}
