package ircbridge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

func TestLongTextIsCutAfterSixLines(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.start()
		s.ready()
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x")
		var b strings.Builder
		for i := range 47 {
			fmt.Fprintf(&b, "row %d\n", i)
		}
		id := s.say("coder", bridge.Origin{}, b.String())
		ann.sees(fmt.Sprintf("#project-x swarm: [coder] … (41 more lines: swarm: read %s)", id))
		ann.sees("#project-x swarm: [coder] row 5")
		s.say("coder", bridge.Origin{}, "one\n\n\ntwo\n3\n4\n5\n6\nseven is no line more than to say that there is one\n")
		ann.like("[coder] seven is no line more")
		for _, l := range ann.lines() {
			if strings.Contains(l, "row 6") || strings.HasSuffix(l, "[coder] ") {
				t.Errorf("said: %q", l)
			}
		}
	})
}

func TestRequests(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.start()
		s.ready()
		ann := newPerson(t, addr, "ann", "#work-k7f3q9m2xd", "#other")
		ann.raw("MODE", "#work-k7f3q9m2xd", "-t") // by default, inspircd allows only operators to set the topic
		join := s.say("swarm", bridge.Origin{Do: bridge.DoJoin, Channel: "#work-k7f3q9m2xd"}, "")
		s.where(join, dropbox.Done)
		topic := s.say("coder", bridge.Origin{Do: bridge.DoTopic, Channel: "#work-k7f3q9m2xd"}, "fix the\nbuild\x01 now\n")
		for i := range 5 {
			s.say("coder", bridge.Origin{Channel: "#work-k7f3q9m2xd"}, fmt.Sprintf("step %d", i))
		}
		part := s.say("swarm", bridge.Origin{Do: bridge.DoPart, Channel: "#work-k7f3q9m2xd"}, "")
		// Without being told to, the bridge joins a channel for which it has a message.
		auto := s.say("coder", bridge.Origin{Channel: "#other"}, "hello others")
		ann.sees("#work-k7f3q9m2xd swarm: [coder] step 4")
		ann.sees("#other swarm: [coder] hello others")
		s.where(topic, dropbox.Done)
		s.where(part, dropbox.Done)
		s.where(auto, dropbox.Done)
		_, set, ok := ann.conn.Members("#work-k7f3q9m2xd")
		if !ok || strings.TrimSpace(set) != "fix the build\uFFFD now" {
			t.Errorf("topic = %q", set)
		}
		s.state("out of the channel", func(st bridge.State) bool {
			for _, c := range st.Channels {
				if c.Name == "#work-k7f3q9m2xd" {
					return false
				}
			}
			return st.Sent == 6
		})
		// After a restart the bridge rejoins the channels that people asked for, but not
		// those that it left.
		s.stop()
		s.start()
		s.ready()
		st := s.state("in the channels", func(st bridge.State) bool { return len(st.Channels) == 5 })
		for _, c := range st.Channels {
			if c.Name == "#other" && c.Joined {
				return
			}
		}
		t.Errorf("channels: %+v", st.Channels)
	})
}

func TestWhatIRCDoesNotTakeIsGivenUp(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		ann := newPerson(t, addr, "ann", "#closed")
		ann.raw("MODE", "#closed", "+i")
		s.start()
		s.ready()
		for name, tc := range map[string]struct {
			m    dropbox.Message
			want string
			next string // the next step for the sender; ID stands for the message's id
		}{
			"nobody": {dropbox.Message{Extra: bridge.Origin{Channel: "nobody"}.Extra(ircbridge.Name), Body: []byte("psst")}, "No such nick",
				`Once nobody is there, try again: claude-swarm dead retry ID`},
			"closed": {dropbox.Message{Extra: bridge.Origin{Channel: "#closed"}.Extra(ircbridge.Name), Body: []byte("x")}, "#closed",
				`Once the channel lets the bridge in, try again: claude-swarm dead retry ID`},
			"a mask": {dropbox.Message{Extra: bridge.Origin{Channel: "ann!u@h"}.Extra(ircbridge.Name), Body: []byte("psst")}, `neither a channel nor a nick: "ann!u@h"`,
				`It can never be posted there. Send it again to a channel that exists (claude-swarm irc channels): claude-swarm read ID --body | claude-swarm irc send CHANNEL -`},
			"two names": {dropbox.Message{Extra: bridge.Origin{Channel: "#a,#b"}.Extra(ircbridge.Name), Body: []byte("x")}, "cannot be the name",
				`It can never be posted there. Send it again to a channel that exists (claude-swarm irc channels): claude-swarm read ID --body | claude-swarm irc send CHANNEL -`},
			"long name": {dropbox.Message{Extra: bridge.Origin{Channel: "#" + strings.Repeat("x", 300)}.Extra(ircbridge.Name), Body: []byte("x")}, "bytes",
				`It can never be posted there. Send it again to a channel that exists (claude-swarm irc channels): claude-swarm read ID --body | claude-swarm irc send CHANNEL -`},
			"no topic": {dropbox.Message{Extra: bridge.Origin{Do: bridge.DoTopic, Channel: "#closed"}.Extra(ircbridge.Name), Body: []byte("x")}, "#closed",
				`Once the bridge is in that channel (claude-swarm irc join "#closed"), try again: claude-swarm dead retry ID`},
			"no order": {dropbox.Message{Extra: bridge.Origin{Do: "quit", Channel: "#a"}.Extra(ircbridge.Name), Body: []byte("x")}, "cannot",
				`The bridge can join or part a channel, or set a topic: claude-swarm irc join, part or topic`},
			"no room": {dropbox.Message{Extra: bridge.Origin{Do: bridge.DoJoin, Channel: "ann"}.Extra(ircbridge.Name), Body: []byte("x")}, "not a channel",
				`Choose a valid channel: claude-swarm irc channels lists those that the bridge has joined`},
			"too late": {dropbox.Message{Expires: time.Now().Add(-time.Second), Body: []byte("x")}, "expired",
				`To have it posted after all, send it again: claude-swarm read ID --body | claude-swarm irc send "#project-x" -`},
		} {
			m := tc.m
			m.From, m.Type, m.Subject = "coder", dropbox.Question, name
			id := s.leave(&m)
			s.where(id, dropbox.Dead)
			var told *dropbox.Message
			eventually(t, "coder is told of "+name, func() bool {
				for _, m := range s.waiting("coder") {
					if m.ReplyTo == id {
						told = m
					}
				}
				return told != nil
			})
			if told.Type != dropbox.Result || told.From != "irc" || !strings.Contains(string(told.Body), tc.want) ||
				!strings.HasSuffix(string(told.Body), "dead show "+id+"\n"+strings.ReplaceAll(tc.next, "ID", id)+"\n") {
				t.Errorf("%s: told %s: %s\nwant %q in it, and %q", name, told.Type, told.Body, tc.want, tc.next)
			}
		}
		// A copy that cannot be posted is filed as not shown.
		id := s.say("coder", bridge.Origin{Channel: "#closed", About: "k7f3q9m2xd", To: "lead"}, "x")
		s.where(id, dropbox.Done)
		if rec := receiptOf(t, s.store, id); !strings.Contains(rec, "outcome: not shown") {
			t.Errorf("receipt of the copy:\n%s", rec)
		}
		// A file that is not a message becomes a dead letter.
		bad := dropbox.Entry{Created: time.Now().UTC().Truncate(time.Microsecond), ID: dropbox.NewID()}
		if err := os.WriteFile(s.store.Dir()+"/irc/new/"+bad.FileName(), []byte("---\nv: [\n---\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s.where(bad.ID, dropbox.Dead)
		after := s.say("coder", bridge.Origin{}, "and on it goes")
		s.where(after, dropbox.Done)
	})
}

func TestAlertsComeFirstAndTargetsInTurn(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.o.Server.Unlimited, s.o.Server.Burst, s.o.Server.Rate = false, 4, 100
		for i := range 60 {
			s.say("coder", bridge.Origin{}, fmt.Sprintf("chatter %d", i))
		}
		s.say("tester", bridge.Origin{Channel: "#standup-x"}, "a word")
		s.say("swarm", bridge.Origin{Channel: "#alerts", Announces: bridge.Alert}, "coder is stopped")
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x", "#standup-x", "#alerts")
		s.start()
		ann.sees("#project-x swarm: [coder] chatter 59")
		at := map[string]int{}
		for i, l := range ann.lines() {
			at[l] = i
		}
		alert, word := at["#alerts swarm: [swarm] coder is stopped"], at["#standup-x swarm: [tester] a word"]
		// The server decides which channel is joined first. Messages for that channel
		// are posted while the bridge is still waiting for the others.
		if alert > 12 || word > 16 {
			t.Errorf("the alert came after %d lines, the other target after %d:\n%s", alert, word, strings.Join(ann.lines()[:20], "\n"))
		}
		for i := range 59 {
			a, b := at[fmt.Sprintf("#project-x swarm: [coder] chatter %d", i)], at[fmt.Sprintf("#project-x swarm: [coder] chatter %d", i+1)]
			if a > b {
				t.Errorf("chatter %d came after %d", i, i+1)
			}
		}
	})
}

// TestARequestKeepsItsPlace fills the mailbox before the bridge starts, so that all
// messages are waiting at the same time.
func TestARequestKeepsItsPlace(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		ann := newPerson(t, s.o.Server.Addr, "ann", "#work-x")
		for i := range 9 {
			s.say("coder", bridge.Origin{Channel: "#work-x"}, fmt.Sprintf("step %d", i))
		}
		part := s.say("swarm", bridge.Origin{Do: bridge.DoPart, Channel: "#work-x"}, "")
		s.start()
		s.where(part, dropbox.Done)
		ann.sees("#work-x swarm: [coder] step 8")
		s.state("out of the channel", func(st bridge.State) bool {
			return st.Sent == 9 && !slices.ContainsFunc(st.Channels, func(c bridge.Channel) bool { return c.Name == "#work-x" })
		})
	})
}

func TestWithoutAServer(t *testing.T) {
	s := newScene(t, "127.0.0.1:1")
	s.start()
	id := s.say("coder", bridge.Origin{}, "is anybody there?")
	st := s.state("no connection", func(st bridge.State) bool { return st.Why != "" && !st.NextTry.IsZero() && st.Waiting == 1 })
	if st.Connected || !st.Running || !strings.Contains(st.Why, "refused") {
		t.Errorf("state: %+v", st)
	}
	s.where(id, dropbox.Waiting)
	s.stop()
	if st, err := bridge.ReadState(ircbridge.Folder(s.home)); err != nil || st.Running || st.Connected {
		t.Errorf("state after the end: %+v, %v", st, err)
	}
}

func TestHaltedSaysNothing(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.start()
		s.ready()
		if err := s.store.Halt("by a test"); err != nil {
			t.Fatal(err)
		}
		id := s.say("coder", bridge.Origin{}, "not now")
		s.state("halted", func(st bridge.State) bool { return st.Halted && st.Waiting == 1 })
		if err := s.store.Unhalt(); err != nil {
			t.Fatal(err)
		}
		s.where(id, dropbox.Done)
	})
}

func TestFilesByHand(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		early := filepath.Join(s.store.Dir(), "irc", "early.md")
		if err := os.WriteFile(early, []byte("lay here before the bridge came\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x", "#standup-x")
		s.start()
		ann.sees("#project-x swarm: [lead] lay here before the bridge came")
		if err := os.WriteFile(filepath.Join(s.store.Dir(), "irc", "hello.md"), []byte("---\nfrom: coder\nirc: {channel: '#standup-x'}\n---\nhello by hand\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		ann.sees("#standup-x swarm: [coder] hello by hand")
		if err := os.WriteFile(filepath.Join(s.store.Dir(), "irc", "broken\n\xff\x02.md"), []byte("---\nfrom: [\n---\nhello\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if told := s.mail(dropbox.Lead, 1)[0]; told.Subject != "not taken in: broken \ufffd\ufffd.md" || !strings.Contains(string(told.Body), "claude-swarm dead list irc") {
			t.Errorf("the lead is told %q: %s", told.Subject, told.Body)
		}
		if _, err := os.Stat(early); !os.IsNotExist(err) {
			t.Errorf("the file is still there: %v", err)
		}
	})
}

// A conversation that has no task, or whose task is over, has no channel. Copies of its
// messages do not open a channel.
func TestNoChannelForMereQuestions(t *testing.T) {
	srv := irctest.NewServer(t, irctest.Features{})
	s := newScene(t, srv.Addr)
	s.start()
	s.ready()
	copied := bridge.Origin{Channel: "#work-k7f3q9m2xd", About: "k7f3q9m2xd", Announces: bridge.Begun, To: "coder"}
	id := s.say("lead", copied, "how is it going?")
	s.where(id, dropbox.Done)
	if rec := receiptOf(t, s.store, id); !strings.Contains(rec, "outcome: not shown") || !strings.Contains(rec, "its conversation has no channel") {
		t.Errorf("receipt:\n%s", rec)
	}
	s.say("swarm", bridge.Origin{Do: bridge.DoJoin, Channel: "#work-k7f3q9m2xd"}, "")
	s.where(s.say("lead", copied, "do it"), dropbox.Done)
	seesAt(t, srv, "#work-k7f3q9m2xd", "swarm: [coder] begins: do it (from lead)")
	if got := saidAt(srv, "#work-k7f3q9m2xd"); len(got) != 1 {
		t.Errorf("said: %q", got)
	}
}
