package ircbridge_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
)

// isIn reports whether the bridge is in a channel, according to its state.
func isIn(channel string) func(bridge.State) bool {
	return func(st bridge.State) bool {
		return slices.ContainsFunc(st.Channels, func(c bridge.Channel) bool { return c.Name == channel && c.Joined })
	}
}

// isOut reports whether the bridge is not in a channel and the state contains the reason.
func isOut(channel, why string) func(bridge.State) bool {
	return func(st bridge.State) bool {
		return slices.ContainsFunc(st.Channels, func(c bridge.Channel) bool {
			return c.Name == channel && !c.Joined && strings.Contains(c.Why, why)
		})
	}
}

// The bridge never stops trying to join a channel that may let it in later, and the
// status shows the time of the next attempt.
func TestAChannelThatOpensLater(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		ann := newPerson(t, addr, "ann", "#side")
		ann.raw("MODE", "#side", "+i")
		s := newScene(t, addr)
		s.o.Join = []string{"#side"}
		s.o.RejoinAfter = []time.Duration{10 * time.Millisecond, 300 * time.Millisecond}
		s.start()
		st := s.state("shut out", isOut("#side", "tried "))
		if !slices.ContainsFunc(st.Warnings, func(w string) bool {
			return strings.HasPrefix(w, "not in #side: ") && strings.Count(w, "#side") == 2 && strings.Contains(w, "next try at ") && strings.HasSuffix(w, "or immediately after /invite swarm #side")
		}) {
			t.Errorf("warnings %q", st.Warnings)
		}
		side := func(st bridge.State) bridge.Channel {
			return st.Channels[slices.IndexFunc(st.Channels, func(c bridge.Channel) bool { return c.Name == "#side" })]
		}
		if c := side(st); c.NextTry.IsZero() {
			t.Errorf("the state does not say when: %+v", c)
		}
		tries := make(map[time.Time]bool)
		s.state("more tries than there are delays", func(st bridge.State) bool {
			tries[side(st).NextTry] = true
			return len(tries) > len(s.o.RejoinAfter)+1
		})
		ann.raw("MODE", "#side", "-i")
		st = s.state("in", isIn("#side"))
		if slices.ContainsFunc(st.Warnings, func(w string) bool { return strings.Contains(w, "#side") }) {
			t.Errorf("warnings %q", st.Warnings)
		}
	})
}

// The bridge returns to a channel from which it was kicked, even if an agent had asked
// for that channel.
func TestKickedManyTimes(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		ann := newPerson(t, addr, "ann", "#asked")
		s := newScene(t, addr)
		s.o.RejoinAfter = []time.Duration{200 * time.Millisecond}
		s.start()
		s.where(s.say("coder", bridge.Origin{Do: bridge.DoJoin, Channel: "#asked"}, ""), dropbox.Done)
		for i := range 8 {
			s.state("in", isIn("#asked"))
			eventually(t, "in", func() bool { nicks, _, _ := ann.conn.Members("#asked"); return slices.Contains(nicks, "swarm") })
			ann.raw("KICK", "#asked", "swarm", fmt.Sprint("kick ", i))
			eventually(t, "out", func() bool {
				nicks, _, _ := ann.conn.Members("#asked")
				return !slices.Contains(nicks, "swarm") || i == 7
			})
		}
		s.state("in for good", isIn("#asked"))
	})
}

// Anyone may invite the bridge back to its channels. For other channels, it accepts only
// invitations from people with the "control" right.
func TestInvitations(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		ann, joe := newPerson(t, addr, "ann", "#other"), newPerson(t, addr, "joe", "#joes")
		eve := newPerson(t, addr, "eve", "#side")
		eve.raw("MODE", "#side", "+i")
		s := newScene(t, addr)
		s.o.Join = []string{"#side"}
		s.o.RejoinAfter = []time.Duration{time.Hour}
		s.start()
		s.state("shut out", isOut("#side", "tried "))
		joe.raw("INVITE", "swarm", "#joes")
		ann.raw("INVITE", "swarm", "#other")
		eve.raw("INVITE", "swarm", "#side")
		s.state("in #side", isIn("#side"))
		st := s.state("in #other", isIn("#other"))
		if isIn("#joes")(st) {
			t.Error("somebody who may not control brought the bridge into a channel")
		}
		eventually(t, "the log says so", func() bool { return strings.Contains(s.log.String(), "invitation was not accepted") })
		joined, err := os.ReadFile(filepath.Join(s.home, "irc", "joined.json"))
		if err != nil || strings.TrimSpace(string(joined)) != `["#other"]` {
			t.Errorf("noted for the next start: %s, %v", joined, err)
		}
	})
}

// The bridge joins a channel with its key, and does not show the key to anyone.
func TestAChannelWithAKey(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		ann := newPerson(t, addr, "ann", "#Vault", "#wrong")
		ann.raw("MODE", "#Vault", "+k", "sesame7")
		ann.raw("MODE", "#wrong", "+k", "other8")
		s := newScene(t, addr)
		s.level.Set(slog.LevelDebug)
		s.o.Join = []string{"#vault", "#wrong"}
		s.o.Keys = map[string]string{"#VAULT": "sesame7", "#wrong": "guess99", "#later": "later55"}
		s.o.RejoinAfter = []time.Duration{time.Hour}
		s.start()
		s.state("in", isIn("#vault"))
		s.state("not in", isOut("#wrong", "475"))
		s.where(s.say("coder", bridge.Origin{Do: bridge.DoJoin, Channel: "#later"}, ""), dropbox.Done)
		s.where(s.say("coder", bridge.Origin{Channel: "#vault"}, "the key is sesame7"), dropbox.Done)
		ann.sees("#Vault swarm: [coder] the key is [masked]")
		s.stop()
		told := s.log.String()
		for _, name := range []string{"state.json", "joined.json"} {
			data, err := os.ReadFile(filepath.Join(s.home, "irc", name))
			if err != nil {
				t.Fatal(err)
			}
			told += string(data)
		}
		if !strings.Contains(told, "JOIN #vault") && !strings.Contains(told, "JOIN #Vault") {
			t.Error("the log has no lines")
		}
		for _, key := range s.o.Keys {
			if strings.Contains(told, key) {
				t.Errorf("the key %s is shown", key)
			}
		}
	})
}

// No agent can make the bridge leave a configured channel.
func TestConfiguredChannelsAreNotLeft(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.start()
		s.ready()
		id := s.say("coder", bridge.Origin{Do: bridge.DoPart, Channel: "#PROJECT-x"}, "")
		s.where(id, dropbox.Dead)
		body := string(s.mail("coder", 1)[0].Body)
		for _, want := range []string{"#PROJECT-x is a configured channel", "irc: in claude-swarm.yaml"} {
			if !strings.Contains(body, want) {
				t.Errorf("the sender is told %q, want %q in it", body, want)
			}
		}
		s.state("still in", isIn("#project-x"))
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x")
		ann.say("#project-x", "tester: are you there?")
		s.mail("tester", 1)
	})
}

// A person with the "control" right can also make the bridge stop trying to join a
// channel.
func TestAShutChannelIsGivenUpByOrder(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		ann := newPerson(t, addr, "ann", "#asked")
		s := newScene(t, addr)
		s.o.RejoinAfter = []time.Duration{time.Hour}
		s.start()
		s.where(s.say("coder", bridge.Origin{Do: bridge.DoJoin, Channel: "#asked"}, ""), dropbox.Done)
		ann.raw("MODE", "#asked", "+b", "swarm!*@*")
		ann.raw("KICK", "#asked", "swarm", "out")
		s.state("shut out", isOut("#asked", "tried "))
		ann.say("swarm", "part #asked")
		ann.sees("ann swarm: I have left #asked.")
		s.state("forgotten", func(st bridge.State) bool {
			return !slices.ContainsFunc(st.Channels, func(c bridge.Channel) bool { return c.Name == "#asked" })
		})
	})
}
