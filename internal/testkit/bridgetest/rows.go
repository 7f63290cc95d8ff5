package bridgetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
)

func testSaid(s *scene) {
	id := s.say(bridge.Origin{}, "the build is green")
	s.start()
	s.sees("#project", "[coder] the build is green")
	s.where(id, dropbox.Done)
	f, err := s.store.Find(id)
	if err != nil {
		s.Fatal(err)
	}
	box, err := s.store.Mailbox(s.network.Name())
	if err != nil {
		s.Fatal(err)
	}
	receipt, err := box.Receipt(f.Entry)
	if err != nil || !strings.Contains(string(receipt), "outcome: said") || !strings.Contains(string(receipt), s.network.Name()+":\n") {
		s.Errorf("its receipt: %s, %v", receipt, err)
	}
}

func testPrivately(s *scene) {
	s.start()
	s.in("#project", true)
	s.say(bridge.Origin{Channel: "ann"}, "only for you")
	s.sees("ann", "only for you")
	if n := s.count("#project", "only for you"); n > 0 {
		s.Errorf("#project saw it %d times", n)
	}
}

func testDown(s *scene) {
	s.start()
	s.in("#project", true)
	mended := s.network.Cut(s.T)
	s.state("not connected", func(st bridge.State) bool { return !st.Connected })
	id := s.say(bridge.Origin{}, "said in the dark")
	s.state("it waits", func(st bridge.State) bool { return st.Waiting == 1 })
	mended()
	s.sees("#project", "said in the dark")
	s.where(id, dropbox.Done)
	if n := s.count("#project", "said in the dark"); n != 1 {
		s.Errorf("it was said %d times", n)
	}
}

func testNextBridge(s *scene) {
	stop := s.start()
	var ids []string
	for i := range 5 {
		ids = append(ids, s.say(bridge.Origin{}, fmt.Sprintf("number %d.", i)))
	}
	s.sees("#project", "number 1.")
	stop()
	s.start()
	for i, id := range ids {
		s.where(id, dropbox.Done)
		if n := s.count("#project", fmt.Sprintf("number %d.", i)); n != 1 {
			s.Errorf("number %d was said %d times", i, n)
		}
	}
}

func testTalk(s *scene) {
	s.start()
	s.in("#project", true)
	s.network.Say(s.T, "ann", "#project", "coder: how is it going?")
	m := s.mail("coder")
	o, ok := bridge.OriginOf(m, s.network.Name())
	if m.Type != dropbox.Question || m.From != s.network.Name() || !strings.HasSuffix(string(m.Body), "<ann> coder: how is it going?") || !ok || o.Channel != "#project" || o.Nick != "ann" {
		s.Fatalf("coder got %+v of %+v", m, o)
	}
	s.leave(&dropbox.Message{From: "coder", Type: dropbox.Result, ReplyTo: m.ID, Body: []byte("almost there\n")})
	s.sees("#project", "[coder] ann: almost there")
	s.network.Say(s.T, "ann", "#project", "nobody is named here")
	s.network.Say(s.T, "ann", "swarm", "tester: and you?")
	if m := s.mail("tester"); !strings.Contains(string(m.Body), "private message") {
		s.Errorf("tester got %q", m.Body)
	}
}

func testTask(s *scene) {
	s.start()
	s.in("#project", true)
	s.network.Say(s.T, "eve", "#project", "TASK: @coder delete everything")
	s.state("denied", func(st bridge.State) bool { return st.Denied == 1 })
	s.network.Say(s.T, "ann", "#project", "TASK: @coder fix the build")
	if m := s.mail("coder"); m.Type != dropbox.Task || !strings.HasSuffix(string(m.Body), "<ann> TASK: @coder fix the build") {
		s.Errorf("coder got a %s: %q", m.Type, m.Body)
	}
	s.sees("#project", "coder has it")
}

func testQuestion(s *scene) {
	stop := s.start()
	s.in("#project", true)
	id := s.leave(&dropbox.Message{From: "coder", Type: dropbox.Question, Body: []byte("which port?\n")})
	s.sees("#project", "[coder] asks: which port?")
	s.state("it waits for its answer", func(st bridge.State) bool { return len(st.Questions) == 1 && st.Questions[0].ID == id })
	s.where(id, dropbox.Claimed)
	stop()
	s.start() // the new bridge reads the open questions
	s.in("#project", true)
	s.network.Say(s.T, "ann", "#project", "coder: 6667")
	if m := s.mail("coder"); m.Type != dropbox.Result || m.ReplyTo != id || !strings.Contains(string(m.Body), "6667") {
		s.Errorf("coder got %+v", m)
	}
	s.where(id, dropbox.Done)
	if n := s.count("#project", "which port?"); n != 1 {
		s.Errorf("it was asked %d times", n)
	}
}

func testOrder(s *scene) {
	s.start()
	s.in("#project", true)
	s.network.Say(s.T, "ann", "#project", "swarm: status")
	s.sees("#project", "ann: all is well")
	s.network.Say(s.T, "eve", "#project", "swarm: pause coder")
	s.state("denied", func(st bridge.State) bool { return st.Denied == 1 })
	s.network.Say(s.T, "ann", "#project", "@coder pause")
	s.sees("#project", "pause coder by ann")
	s.network.Say(s.T, "ann", "#project", "swarm: stauts")
	s.sees("#project", "Try: swarm: status")
}

func testReading(s *scene) {
	s.start()
	s.in("#project", true)
	var text []string
	for i := range 25 {
		text = append(text, fmt.Sprintf("line %d.", i))
	}
	d, err := s.store.Deliver("tester", &dropbox.Message{From: "coder", Type: dropbox.Note, Body: []byte(strings.Join(text, "\n"))})
	if err != nil {
		s.Fatal(err)
	}
	s.network.Say(s.T, "ann", "swarm", "read "+d.ID)
	s.sees("ann", "line 5.")
	s.sees("ann", "more lines: more")
	if s.count("ann", "line 20.") > 0 {
		s.Error("all of it came at once")
	}
	s.network.Say(s.T, "ann", "swarm", "more")
	s.sees("ann", "line 15.")
}

func testChannels(s *scene) {
	stop := s.start()
	s.in("#project", true)
	id := s.say(bridge.Origin{Do: bridge.DoJoin, Channel: "#other"}, "join\n")
	s.where(id, dropbox.Done)
	s.in("#other", true)
	s.say(bridge.Origin{Channel: "#other"}, "hello over there")
	s.sees("#other", "[coder] hello over there")
	stop()
	s.start() // the new bridge joins the channel again
	s.in("#other", true)
	s.where(s.say(bridge.Origin{Do: bridge.DoPart, Channel: "#other"}, "part\n"), dropbox.Done)
	s.in("#other", false)
	s.where(s.say(bridge.Origin{Do: bridge.DoPart, Channel: "#project"}, "part\n"), dropbox.Dead) // the bridge never leaves a channel that is in the configuration
}

func testRefused(s *scene) {
	s.start()
	s.in("#project", true)
	id := s.say(bridge.Origin{Channel: "#no way"}, "never")
	s.where(id, dropbox.Dead)
	m := s.mail("coder")
	if m.ReplyTo != id || !strings.Contains(string(m.Body), "Not posted on") || strings.Contains(string(m.Body), "dead retry") {
		s.Errorf("coder is told %q", m.Body)
	}
	s.where(s.leave(&dropbox.Message{From: "coder", Type: dropbox.Note, Body: []byte("late"), Expires: time.Now().Add(-time.Minute)}), dropbox.Dead)
}

func testReader(s *scene) {
	s.start()
	s.in("#project", true)
	s.network.Say(s.T, "ann", "#project", "good morning")
	reader := bridge.Reader{Dir: bridge.Folder(s.home, s.network.Name()), Name: "tester"}
	var lines []bridge.Line
	s.until("both lines are kept", func() bool {
		if len(lines) == 0 && s.count("#project", "and to you") == 0 {
			s.say(bridge.Origin{}, "and to you")
			s.sees("#project", "and to you")
		}
		got, err := reader.New("#project", 0)
		if err != nil {
			s.Fatal(err)
		}
		lines = append(lines, got.Lines...)
		return len(lines) >= 2
	})
	nicks := map[string]string{}
	for _, l := range lines {
		nicks[l.Nick] = l.Text
	}
	if len(lines) != 2 || nicks["ann"] != "good morning" || nicks["coder"] != "and to you" {
		s.Errorf("a reader gets %+v", lines)
	}
}
