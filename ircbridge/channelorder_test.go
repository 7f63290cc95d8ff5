package ircbridge_test

import (
	"slices"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
)

// People with the "control" right can make the bridge join and leave channels, and set
// topics.
func TestOrdersAboutChannels(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.start()
		s.ready()
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x", "#shut", "#news")
		joe := newPerson(t, s.o.Server.Addr, "joe", "#project-x")
		ann.raw("MODE", "#shut", "+i")
		ann.raw("MODE", "#news", "-t") // by default, inspircd allows only operators to set topics
		for _, step := range []struct{ say, want string }{
			{"swarm: join #news", "I am in #news now."},
			{"swarm: join news", "I am already in #news."},
			{"swarm: join", "Say which channel. Try: swarm: join #general"},
			{"swarm: topic #news", "The topic of #news: none"},
			{"swarm: topic #news Release on  Friday", "The topic of #news is set."},
			{"swarm: topic #news", "The topic of #news: Release on Friday"},
			{"swarm: topic #else x", "I am not in #else. Try: swarm: join #else"},
			{"swarm: part #else", "I am not in #else. Try: swarm: join #else"},
			{"swarm: part #project-x", "#project-x is a configured channel, and the bridge stays there."},
		} {
			ann.say("#project-x", step.say)
			ann.sees("#project-x swarm: ann: " + step.want)
		}
		left := func() {
			t.Helper()
			s.state("has left", func(st bridge.State) bool {
				return !slices.ContainsFunc(st.Channels, func(c bridge.Channel) bool { return c.Name == "#news" })
			})
		}
		ann.say("swarm", "part #news")
		ann.sees("ann swarm: I have left #news.")
		left()
		ann.say("#project-x", "swarm: join #news")
		s.state("is back", func(st bridge.State) bool {
			return slices.ContainsFunc(st.Channels, func(c bridge.Channel) bool { return c.Name == "#news" && c.Joined })
		})
		ann.say("#news", "swarm: part #news") // the bridge answers before it leaves the channel
		ann.sees("#news swarm: ann: I am leaving #news.")
		left()
		joe.say("#project-x", "swarm: join #news")
		joe.like("joe: To control the swarm, you need the \"control\" right")
		ann.say("#project-x", "swarm: join #shut")
		ann.like("ann: #shut does not let me in: ")
	})
}

// The bridge refuses an order with too many words, because an order to pause for a day
// must not become an endless pause.
func TestAnOrderTakesOneAgent(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.start()
		s.ready()
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x")
		for _, step := range []struct{ say, want string }{
			{"swarm: pause coder 1d", "pause takes one agent and nothing else. Try: swarm: pause coder"},
			{"swarm: resume coder tester", "resume takes one agent and nothing else. Try: swarm: resume coder"},
			{"swarm: abort @coder, tester", "abort takes one agent and nothing else. Try: swarm: abort coder"},
		} {
			ann.say("#project-x", step.say)
			ann.sees("#project-x swarm: ann: " + step.want)
		}
	})
}
