package ircbridge_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

// An agent that has its own channels speaks in them, and people can speak to it there and
// privately.
func TestAnAgentWithChannels(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.o.Channels.Own = map[string][]string{"coder": {"#api", "#local"}}
		s.start()
		s.ready()
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x", "#api", "#local")
		s.say("coder", bridge.Origin{}, "here I am")
		ann.sees("#api swarm: [coder] here I am")
		s.say("tester", bridge.Origin{}, "and I am here")
		ann.sees("#project-x swarm: [tester] and I am here")

		for _, text := range []string{"coder: hello", "TASK: @coder hello again"} {
			ann.say("#project-x", text)
		}
		ann.sees("#project-x swarm: ann: coder does not listen in #project-x. Speak to it in #api or #local, or privately: /msg swarm coder: …")
		ann.say("#local", "coder: and here?")
		ann.say("swarm", "coder: or here?")
		ann.say("#project-x", "coder, tester: and you?")
		s.mail("tester", 1)
		if got := s.mail("coder", 2); string(got[0].Body) != "[IRC @mention in #local] <ann> coder: and here?" {
			t.Errorf("coder got %q", got[0].Body)
		}
		// People answer the agent's question in the channel where it asked.
		id := s.leave(&dropbox.Message{From: "coder", Type: dropbox.Question, Body: []byte("Which port?"), Extra: bridge.Origin{Channel: "#project-x"}.Extra(ircbridge.Name)})
		ann.like("[coder] asks: Which port?")
		s.state("a question", func(st bridge.State) bool { return len(st.Questions) == 1 })
		ann.say("#project-x", "coder: 6667")
		if got := s.mail("coder", 3); got[2].ReplyTo != id {
			t.Errorf("coder got %+v", got[2])
		}
		n := 0
		for _, l := range ann.lines() {
			n += strings.Count(l, "does not listen")
		}
		if n != 1 {
			t.Errorf("told %d times, want once", n)
		}
	})
}

// With a nick for each agent, an agent is only in its own channels.
func TestTheNickOfAnAgentWithChannels(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.o.Style = ircbridge.StyleNicks
		s.o.Channels.Own = map[string][]string{"coder": {"#api"}}
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x", "#api")
		s.start()
		s.ready()
		in := func(channel, nick string) bool {
			nicks, _, _ := ann.conn.Members(channel)
			return slices.Contains(nicks, nick)
		}
		eventually(t, "both are there", func() bool { return in("#api", "coder") && in("#project-x", "tester") })
		eventually(t, "coder speaks there", func() bool {
			s.say("coder", bridge.Origin{}, "by myself")
			return slices.Contains(ann.lines(), "#api coder: by myself")
		})
		if in("#project-x", "coder") {
			t.Error("coder is in the channel of the project, too")
		}
	})
}
