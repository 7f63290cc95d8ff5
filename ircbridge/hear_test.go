package ircbridge_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

func TestTasksAndMentions(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.o.Sign = func(m *dropbox.Message, to string) string { return dropbox.Proof("secret", m, to) }
		s.start()
		s.ready()
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x")

		ann.say("#project-x", "TASK: @coder fix the build, @tester knows why")
		task := s.mail("coder", 1)[0]
		if task.Type != dropbox.Task || string(task.Body) != "[IRC @mention in #project-x] <ann> TASK: @coder fix the build, @tester knows why" {
			t.Errorf("task: %s %q", task.Type, task.Body)
		}
		if n, ok := bridge.OriginOf(task, ircbridge.Name); !ok || n.Channel != "#project-x" || n.Nick != "ann" {
			t.Errorf("note: %+v", n)
		}
		if !dropbox.Proven("secret", task, "coder") || task.Key == "" {
			t.Errorf("proof %q, key %q", task.Proof, task.Key)
		}

		ann.say("#project-x", "coder and tester: who is faster? (not @coders, nor #tester)")
		s.mail("coder", 2)
		if m := s.mail("tester", 1)[0]; m.Type != dropbox.Question {
			t.Errorf("mention: %s", m.Type)
		}
		ann.say("#project-x", "nobody here is meant: coders, tester-2, http://x/coder, coder.go")
		ann.say("swarm", "TASK: coder: privately")
		if m := s.mail("coder", 3)[2]; m.Type != dropbox.Task || string(m.Body) != "[IRC private message] <ann> TASK: coder: privately" {
			t.Errorf("private task: %s %q", m.Type, m.Body)
		}
		ann.say("#project-x", "swarm: coder: by way of the bridge")
		s.mail("coder", 4)
		ann.say("#project-x", "TASK: @codr fix it")
		ann.like("ann: Whose task is that? Name one of: coder, tester")
		ann.say("#project-x", "TASK: @coder")
		ann.like("ann: What is the task? Write it after the name, as in: TASK: @coder fix the build")
		s.mail("tester", 1)

		// The buffer contains all the lines.
		got, err := bridge.Reader{Dir: ircbridge.Folder(s.home), Name: "coder"}.New("#project-x", 0)
		if err != nil || len(got.Lines) < 5 || got.Lines[0].Nick != "ann" {
			t.Errorf("buffer: %+v, %v", got, err)
		}
	})
}

func TestAnswersReachTheQuestion(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		if err := s.store.MakeMailbox(dropbox.Lead); err != nil {
			t.Fatal(err)
		}
		s.start()
		s.ready()
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x")

		t.Run("of the lead", func(t *testing.T) {
			d, err := s.store.Deliver(dropbox.Lead, &dropbox.Message{From: "coder", Type: dropbox.Question, Body: []byte("Delete 47 files?")})
			if err != nil {
				t.Fatal(err)
			}
			s.leave(&dropbox.Message{From: "coder", Type: dropbox.Question, Thread: d.Thread, Body: []byte("Delete 47 files?"),
				Extra: bridge.Origin{Channel: "#project-x", About: d.ID, To: "lead"}.Extra(ircbridge.Name)})
			ann.like("[coder] asks: Delete 47 files?")
			s.state("a question", func(st bridge.State) bool { return len(st.Questions) == 1 })
			ann.say("#project-x", "coder: yes, all of them")
			m := s.mail("coder", 1)[0]
			if m.Type != dropbox.Result || m.ReplyTo != d.ID || m.Thread != d.Thread || string(m.Body) != "[IRC @mention in #project-x] <ann> coder: yes, all of them\n" {
				t.Errorf("answer: %+v\n%s", m, m.Body)
			}
			s.where(d.ID, dropbox.Done)
			s.state("no question", func(st bridge.State) bool { return len(st.Questions) == 0 })
		})
		t.Run("of irc, by its id", func(t *testing.T) {
			id := s.leave(&dropbox.Message{From: "tester", Type: dropbox.Question, Body: []byte("Which port?")})
			ann.like("[tester] asks: Which port?")
			s.state("a question", func(st bridge.State) bool { return len(st.Questions) == 1 })
			if f, err := s.store.Find(id); err != nil || f.State != dropbox.Claimed {
				t.Errorf("the question is %s, %v: the waiting agent would consider it refused", f.State, err)
			}
			// The question survives a bridge restart, and is not asked twice.
			s.stop()
			s.start()
			s.ready()
			ann.say("swarm", "reply "+id[6:]+" port 6667, please")
			m := s.mail("tester", 1)[0]
			if m.ReplyTo != id || string(m.Body) != "[IRC private message] <ann> port 6667, please\n" {
				t.Errorf("answer: %+v\n%s", m, m.Body)
			}
			s.where(id, dropbox.Done)
			ann.say("swarm", "reply "+id[6:]+" no, 6697")
			ann.like("No question " + id[6:] + " is waiting")
			n := 0
			for _, l := range ann.lines() {
				if strings.Contains(l, "Which port?") {
					n++
				}
			}
			if n != 1 {
				t.Errorf("asked %d times, want once", n)
			}
		})
		t.Run("answered elsewhere", func(t *testing.T) {
			d, err := s.store.Deliver(dropbox.Lead, &dropbox.Message{From: "coder", Type: dropbox.Question, Body: []byte("Now?")})
			if err != nil {
				t.Fatal(err)
			}
			s.leave(&dropbox.Message{From: "coder", Type: dropbox.Question, Body: []byte("Now?"), Extra: bridge.Origin{About: d.ID, To: "lead"}.Extra(ircbridge.Name)})
			ann.like("[coder] asks: Now?")
			s.state("a question", func(st bridge.State) bool { return len(st.Questions) == 1 })
			box, _ := s.store.Mailbox(dropbox.Lead)
			if err := box.File(s.where(d.ID, dropbox.Waiting).Entry); err != nil {
				t.Fatal(err)
			}
			ann.say("#project-x", "coder: later")
			ann.like("Another person has already answered " + d.ID + ".")
			s.mail("coder", 1) // the message from the first part of this test
		})
	})
}

// A fakeSwarm is a daemon that records its orders.
type fakeSwarm struct {
	mu     sync.Mutex
	orders []string
	held   map[string]string
}

func (f *fakeSwarm) Status(_ context.Context, agent string) (string, error) {
	if agent != "" {
		return agent + " works on k7f3q9m2xd", nil
	}
	return "coder idle\ntester idle\nlead 2 unread\nirc connected\n", nil
}

func (f *fakeSwarm) Held(_ context.Context, agent string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.held[agent], nil
}

func (f *fakeSwarm) Steer(_ context.Context, order bridge.Order, agent, by string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.orders = append(f.orders, strings.TrimSpace(fmt.Sprintf("%s %s by %s", order, agent, by)))
	if order == bridge.Abort {
		return "", errors.New("tester has no turn\n  try: status tester")
	}
	_, why, _ := strings.Cut(by, ": ")
	return strings.TrimSpace(fmt.Sprintf("done: %s %s%s", order, agent, why)), nil
}

func TestCommands(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		daemon := &fakeSwarm{}
		s.o.Swarm = daemon
		s.start()
		s.ready()
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x")
		joe := newPerson(t, s.o.Server.Addr, "joe", "#project-x")
		var long strings.Builder
		for i := range 25 {
			fmt.Fprintf(&long, "row %d\n", i)
		}
		d, err := s.store.Deliver("coder", &dropbox.Message{From: "tester", Subject: "rows", Type: dropbox.Note, Body: []byte(long.String())})
		if err != nil {
			t.Fatal(err)
		}
		for id, text := range map[string]string{"sameaaaaaa": "first\nof two", "samebbbbbb": "second"} {
			file := filepath.Join(s.store.Dir(), "tester", "new", "1-20261121T045102.123456Z-"+id+".md")
			if err := os.WriteFile(file, []byte("---\nfrom: lead\ntype: note\n---\n"+text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, step := range []struct {
			target, text string
			wants        []string
		}{
			{"#project-x", "swarm: status coder", []string{"#project-x swarm: ann: coder works on k7f3q9m2xd"}},
			{"#project-x", "@swarm, status", []string{"#project-x swarm: ann: I will answer you privately.", "ann swarm: coder idle", "ann swarm: irc connected"}},
			{"swarm", "status", []string{"ann swarm: tester idle"}},
			{"#project-x", "swarm: ??", []string{`#project-x swarm: ann: "coder: how is it going?" asks; "TASK: @coder fix the build" gives a task.`}},
			{"#project-x", "swarm: paus coder", []string{`#project-x swarm: ann: There is no order "paus". Try: swarm: pause coder`}},
			{"#project-x", "swarm: status codr", []string{`#project-x swarm: ann: There is no agent "codr". Did you mean coder?`}},
			{"#project-x", "swarm: pause @coder", []string{"#project-x swarm: ann: done: pause coder"}},
			{"#project-x", "swarm, RESUME coder", []string{"#project-x swarm: ann: done: resume coder"}},
			{"swarm", "abort tester", []string{"ann swarm: tester has no turn", "ann swarm:   try: status tester"}},
			{"swarm", "pause", []string{"ann swarm: Say which agent. The agents are: coder, tester"}},
			{"#project-x", "swarm: halt!", []string{"#project-x swarm: ann: done: halt"}},
			{"#project-x", "swarm: HALT  the disk  is full ", []string{"#project-x swarm: ann: done: halt the disk is full"}},
			{"#project-x", "swarm: unhalt", []string{"#project-x swarm: ann: done: unhalt"}},
			{"#project-x", "swarm: who", []string{"#project-x swarm: ann: Agents: coder, tester"}},
			{"swarm", "read " + d.ID[5:], []string{"ann swarm: row 0", "ann swarm: row 8", "ann swarm: … (16 more lines: more)"}},
			{"swarm", "more", []string{"ann swarm: row 9", "ann swarm: row 18", "ann swarm: … (6 more lines: more)"}},
			{"swarm", "more", []string{"ann swarm: row 24"}},
			{"swarm", "more", []string{"ann swarm: There is no more."}},
			{"swarm", "read " + d.ID[:4], []string{"ann swarm: row 0", "ann swarm: row 8", "ann swarm: … (16 more lines: more)"}},
			{"swarm", "read nosuchid", []string{"ann swarm: There is no message nosuchid. At least 4 characters from the beginning or the end of an id are enough."}},
			{"swarm", "read same", []string{"ann swarm: same matches 2 messages:", "ann swarm: sameaaaaaa from lead to tester, note: first of two", "ann swarm: samebbbbbb from lead to tester, note: second"}},
			{"swarm", "help", []string{"ann swarm: More: swarm: help ORDER, swarm: help all"}},
			{"#project-x", "swarm: help", []string{`#project-x swarm: ann: "coder: how is it going?" asks; "TASK: @coder fix the build" gives a task.`}},
			{"#project-x", "swarm: help halt", []string{"#project-x swarm: ann: swarm: halt [WHY] - no agent starts a new turn (needs the \"control\" right)"}},
			{"swarm", "help all", []string{"ann swarm: swarm: join #CHANNEL - I join a channel (needs the \"control\" right)", "ann swarm: swarm: help [ORDER, or all] - this"}},
			{"#project-x", "swarm: make some coffee", []string{`#project-x swarm: ann: There is no order "make". Try: swarm: help`}},
			{"#project-x", "@coder resume", []string{"#project-x swarm: ann: done: resume coder"}},
		} {
			ann.say(step.target, step.text)
			for _, want := range step.wants {
				ann.sees(want)
			}
		}
		joe.say("#project-x", "swarm: pause coder")
		joe.say("swarm", "TASK: coder: go on")
		joe.say("#project-x", "swarm: status coder") // joe has the "talk" right
		joe.sees("#project-x swarm: joe: coder works on k7f3q9m2xd")
		s.mail("coder", 1) // none of the orders became a message
		daemon.mu.Lock()
		defer daemon.mu.Unlock()
		want := "pause coder by ann on IRC|resume coder by ann on IRC|abort tester by ann on IRC|halt  by ann on IRC|halt  by ann on IRC: the disk is full|unhalt  by ann on IRC|resume coder by ann on IRC"
		if got := strings.Join(daemon.orders, "|"); got != want {
			t.Errorf("orders:\n%s\nwant\n%s", got, want)
		}
	})
}

// A person who writes to an agent that is not working is told why, once for each reason.
func TestWhatHoldsUpAnAgentIsTold(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		daemon := &fakeSwarm{held: map[string]string{"coder": "coder is paused; your message is waiting; next: resume coder"}}
		s.o.Swarm = daemon
		s.start()
		s.ready()
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x")
		joe := newPerson(t, s.o.Server.Addr, "joe", "#project-x")
		ann.say("#project-x", "coder: how is it going?")
		ann.sees("#project-x swarm: ann: coder is paused; your message is waiting; next: swarm: resume coder")
		joe.say("#project-x", "coder, tester: and you?")
		joe.sees("#project-x swarm: joe: coder is paused; your message is waiting; next: swarm: resume coder")
		ann.say("swarm", "coder: are you there?")
		ann.say("swarm", "TASK: tester: go on")
		s.mail("coder", 3)
		s.mail("tester", 2)
		ann.say("swarm", "who")
		ann.like("ann swarm: Agents: coder")
		for _, l := range ann.lines() {
			if strings.HasPrefix(l, "ann swarm: coder is paused") || strings.Contains(l, "tester is") {
				t.Errorf("ann sees %q", l)
			}
		}
	})
}

// A client may split a long message into several lines. The agent gets only the first
// line, and the bridge tells the person so.
func TestTornTextIsTold(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.start()
		s.ready()
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x")
		eve := newPerson(t, s.o.Server.Addr, "eve", "#project-x")
		told := func() (n int) {
			for _, l := range ann.lines() {
				if strings.Contains(l, "got only your first line") {
					n++
				}
			}
			return n
		}
		eve.say("#project-x", "coder: first")
		eve.say("#project-x", "second")
		ann.say("#project-x", "nobody is meant")
		ann.conn.Send("#project-x", "coder: "+strings.Repeat("word ", 80)) // ann sends the next line right after this one
		ann.say("#project-x", "and its end")
		eve.say("#project-x", "what a text")
		ann.sees("#project-x swarm: ann: coder got only your first line: the next one names nobody. Put the name before each line, or use one line of at most 350 characters.")
		ann.say("#project-x", "and more")
		ann.say("#project-x", "coder: once more")
		ann.say("#project-x", "and more")
		ann.say("swarm", "who")
		ann.like("ann swarm: Agents: coder")
		if n := told(); n != 1 {
			t.Errorf("told %d times, want once", n)
		}
		s.mail("coder", 2)
	})
}

func TestWakesAreBounded(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.o.WakesPerMinute = 3
		s.start()
		s.ready()
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x", "#standup-x")
		for i := range 8 {
			ann.say("#project-x", fmt.Sprintf("coder: number %d", i))
		}
		ann.like("coder was not woken: there were 3 messages")
		ann.say("#standup-x", "coder: in another channel")
		s.mail("coder", 4)
		told := 0
		for _, l := range ann.lines() {
			if strings.Contains(l, "was not woken") {
				told++
			}
		}
		if told != 1 {
			t.Errorf("told %d times, want once:\n%s", told, strings.Join(ann.lines(), "\n"))
		}
	})
}

// TestTwoThatMentionEachOtherStop answers every line from the agent with a line that
// mentions the agent, as another bridge would.
func TestTwoThatMentionEachOtherStop(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.o.WakesPerMinute = 5
		s.start()
		s.ready()
		bot := newPerson(t, s.o.Server.Addr, "ann", "#project-x")
		// Lines from our own agents do not wake other agents, and do not become
		// questions.
		s.say("coder", bridge.Origin{}, "tester: what do you think? @tester\n")
		s.say("tester", bridge.Origin{}, "coder: ask coder\n")
		bot.like("[tester] coder: ask coder")

		answered := 0
		bot.say("#project-x", "coder: ping 0")
		for answered < 5 {
			for _, m := range s.mail("coder", answered+1)[answered:] {
				s.leave(&dropbox.Message{From: "coder", Type: dropbox.Result, ReplyTo: m.ID, Body: []byte(fmt.Sprintf("pong %d, coder", answered))})
				bot.like(fmt.Sprintf("pong %d, coder", answered))
				answered++
				bot.say("#project-x", fmt.Sprintf("coder: ping %d", answered))
			}
		}
		bot.like("coder was not woken")
		bot.say("#project-x", "coder: ping again")
		bot.say("swarm", "who")
		bot.like("Agents: coder")
		s.mail("coder", 5)
		s.mail("tester", 0)
	})
}
