package irc_test

import (
	"errors"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// Bytes that were in flight when a silent connection was closed must not arrive later,
// because the same message may have been resent by then.
func TestWhatIsGivenUpIsTakenBack(t *testing.T) {
	s := irctest.NewServer(t, irctest.Features{})
	p := irctest.NewProxy(t, s.Addr)
	watch := run(t, irc.Config{Addr: s.Addr, Nick: "ann"}, irc.Options{Channels: []irc.Channel{{Name: "#room"}}})
	caughtUp(t, watch, "#room")
	cfg := irc.Config{Addr: p.Addr, PingAfter: time.Minute, ProofTimeout: 100 * time.Millisecond}
	c := run(t, cfg, irc.Options{Channels: []irc.Channel{{Name: "#room"}}})
	caughtUp(t, c, "#room")
	p.Stall(irctest.Up)
	if err := delivered(t, c.Post(irc.Outgoing{Target: "#room", Text: "late"})); !errors.Is(err, irc.ErrUnproven) {
		t.Fatalf("Post = %v, want ErrUnproven", err)
	}
	for limit := time.Now().Add(patience); p.Counts().Left == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("the connection is still up")
		}
	}
	p.Heal()
	wait(t, watch, func(e irc.Left) bool { return e.Nick == "swarm" }) // everything that was in flight has arrived
	if said := s.Said("#room"); len(said) != 0 {
		t.Errorf("arrived after the client gave it up: %v", said)
	}
}
