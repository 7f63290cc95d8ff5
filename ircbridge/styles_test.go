package ircbridge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

func saidAt(srv *irctest.Server, target string) []string {
	var all []string
	for _, m := range srv.Said(target) {
		nick, _, _ := strings.Cut(m.Source, "!")
		all = append(all, nick+": "+m.Text)
	}
	return all
}

func seesAt(t *testing.T, srv *irctest.Server, target, want string) {
	t.Helper()
	eventually(t, want, func() bool { return slices.Contains(saidAt(srv, target), want) }, func() string { return strings.Join(saidAt(srv, target), "\n") })
}

// A long text in a channel is cut also on a server that offers multiline messages, and is
// sent as one of them.
func TestAMultilineMessageIsCutInAChannel(t *testing.T) {
	srv := irctest.NewServer(t, irctest.Features{})
	s := newScene(t, srv.Addr)
	s.start()
	s.ready()
	var b strings.Builder
	for i := range 47 {
		fmt.Fprintf(&b, "row %d\n", i)
	}
	id := s.say("coder", bridge.Origin{}, b.String())
	seesAt(t, srv, "#project-x", "swarm: [coder] row 0\nrow 1\nrow 2\nrow 3\nrow 4\nrow 5\n… (41 more lines: swarm: read "+id+")")
	s.where(id, dropbox.Done)
	if rec := receiptOf(t, s.store, id); !strings.Contains(rec, "msgids:") {
		t.Errorf("receipt without a msgid:\n%s", rec)
	}
	lines, err := bridge.Reader{Dir: ircbridge.Folder(s.home)}.New("#project-x", 0)
	if err != nil || len(lines.Lines) != 1 || lines.Lines[0].Nick != "coder" || strings.Count(lines.Lines[0].Text, "\n") != 6 {
		t.Errorf("buffer: %+v, %v", lines, err)
	}
}

func TestRelayed(t *testing.T) {
	srv := irctest.NewServer(t, irctest.Features{})
	s := newScene(t, srv.Addr)
	s.o.Style = ircbridge.StyleRelay
	s.o.Allow = []bridge.Permit{{Account: "ann", May: bridge.Rights()}}
	s.start()
	s.ready()
	s.say("coder", bridge.Origin{}, "hello")
	seesAt(t, srv, "#project-x", "coder/swarm: hello")
	s.say("lead", bridge.Origin{}, "hello from the lead")
	seesAt(t, srv, "#project-x", "swarm: [lead] hello from the lead")
	srv.Say("ann", "ann", "#project-x", "coder: hello yourself")
	s.mail("coder", 1)
}

func TestRelayedFallsBack(t *testing.T) {
	srv := irctest.NewServer(t, irctest.Features{Without: []string{"draft/relaymsg"}})
	s := newScene(t, srv.Addr)
	s.o.Style = ircbridge.StyleRelay
	s.start()
	s.ready()
	s.say("coder", bridge.Origin{}, "hello")
	seesAt(t, srv, "#project-x", "swarm: [coder] hello")
	s.state("says why", func(st bridge.State) bool {
		return st.Style == string(ircbridge.StylePrefix) && strings.Contains(st.Instead, "draft/relaymsg")
	})
}

// In a channel where the bridge may not relay, the names are in brackets, and the status
// lists the channel. As an operator, the bridge may relay.
func TestRelayedInSomeChannels(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	srv := irctest.NewServer(t, irctest.Features{NoRelay: []string{"#Alerts"}})
	s := newScene(t, srv.Addr)
	s.o.Style = ircbridge.StyleRelay
	s.start()
	s.ready()
	for _, channel := range []string{"#alerts", "#project-x", "#alerts"} {
		s.where(s.say("coder", bridge.Origin{Channel: channel}, "hello"), dropbox.Done)
	}
	if got := saidAt(srv, "#alerts"); !slices.Equal(got, []string{"swarm: [coder] hello", "swarm: [coder] hello"}) {
		t.Errorf("said in #alerts: %q", got)
	}
	if got := saidAt(srv, "#project-x"); !slices.Equal(got, []string{"coder/swarm: hello"}) {
		t.Errorf("said in #project-x: %q", got)
	}
	st := s.state("says where", func(st bridge.State) bool { return st.Sent == 3 })
	want := "in #alerts nothing is relayed: #alerts: You cannot relay messages to this channel (PRIVS_NEEDED)"
	if st.Style != string(ircbridge.StyleRelay) || st.Instead != "" || !slices.Equal(st.Warnings, []string{want}) {
		t.Errorf("style %s, instead %q, warnings %q", st.Style, st.Instead, st.Warnings)
	}
	for _, c := range st.Channels {
		if (c.NotRelayed != "") != (c.Name == "#alerts") {
			t.Errorf("%s: not relayed: %q", c.Name, c.NotRelayed)
		}
	}
	srv.Op("#alerts", "swarm")
	s.state("all is relayed", func(st bridge.State) bool { return len(st.Warnings) == 0 })
	s.say("coder", bridge.Origin{Channel: "#alerts"}, "as myself")
	seesAt(t, srv, "#alerts", "coder/swarm: as myself")
}

func TestEachAgentItsNick(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.o.Style = ircbridge.StyleNicks
		s.o.Nick = func(agent string) string { return "x-" + agent }
		ann := newPerson(t, addr, "ann", "#project-x")
		s.start()
		s.ready()
		eventually(t, "both are there", func() bool {
			nicks, _, _ := ann.conn.Members("#project-x")
			return slices.Contains(nicks, "x-coder") && slices.Contains(nicks, "x-tester")
		})
		eventually(t, "the bridge knows it", func() bool {
			s.say("coder", bridge.Origin{}, "by myself")
			return slices.Contains(ann.lines(), "#project-x x-coder: by myself")
		})
		ann.say("x-tester", "how is it?")
		m := s.mail("tester", 1)[0]
		if string(m.Body) != "[IRC private message] <ann> how is it?" {
			t.Errorf("private: %q", m.Body)
		}
		s.leave(&dropbox.Message{From: "tester", Type: dropbox.Result, ReplyTo: m.ID, Body: []byte("fine")})
		ann.sees("ann x-tester: fine")
		ann.say("#project-x", "x-coder: by your nick")
		if m := s.mail("coder", 1)[0]; string(m.Body) != "[IRC @mention in #project-x] <ann> x-coder: by your nick" {
			t.Errorf("mention: %q", m.Body)
		}
		// The bridge itself posts an agent's message in a channel that the agent has not
		// joined.
		s.say("coder", bridge.Origin{Channel: "#elsewhere"}, "from afar")
		joe := newPerson(t, addr, "joe", "#elsewhere")
		s.say("coder", bridge.Origin{Channel: "#elsewhere"}, "from afar again")
		joe.sees("#elsewhere swarm: [coder] from afar again")
	})
}

// A person who has an agent's nick receives the private lines meant for that agent, so
// the status contains a warning.
func TestTheNickOfAnAgentIsTaken(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.o.Style = ircbridge.StyleNicks
		taker := newPerson(t, addr, "Coder", "#project-x")
		s.start()
		taken := func(st bridge.State) bool {
			return slices.Contains(st.Warnings, "another user has the nick coder: the agent uses coder_ until it is free")
		}
		if st := s.state("the nick is taken", taken); len(st.Warnings) != 1 {
			t.Errorf("warnings %q", st.Warnings)
		}
		eventually(t, "it speaks by another", func() bool {
			s.say("coder", bridge.Origin{}, "by another nick")
			return slices.Contains(taker.lines(), "#project-x coder_: by another nick")
		})
		taker.raw("NICK", "else")
		s.state("the nick is free", func(st bridge.State) bool { return !taken(st) })
		ann := newPerson(t, addr, "ann", "#project-x")
		s.say("coder", bridge.Origin{}, "by my own")
		ann.sees("#project-x coder: by my own")
	})
}

func TestKickedAndBack(t *testing.T) {
	srv := irctest.NewServer(t, irctest.Features{})
	s := newScene(t, srv.Addr)
	s.start()
	s.ready()
	for i := range 3 {
		srv.Kick("#project-x", "swarm")
		id := s.say("coder", bridge.Origin{}, fmt.Sprintf("after kick %d", i))
		s.where(id, dropbox.Done)
		seesAt(t, srv, "#project-x", fmt.Sprintf("swarm: [coder] after kick %d", i))
	}
}

func TestDoctor(t *testing.T) {
	srv := irctest.NewServer(t, irctest.Features{Without: []string{"account-tag"}})
	s := newScene(t, srv.Addr)
	s.o.Allow = []bridge.Permit{{Account: "ann", May: bridge.Rights()}}
	s.o.Join = []string{"nochannel"}
	rep, err := ircbridge.Doctor(t.Context(), s.o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(rep.Caps, "draft/multiline") || rep.Limits.Text < 300 || rep.Limits.MultilineBytes != 4096 || rep.Nick == "" {
		t.Errorf("report: %+v", rep)
	}
	problems := strings.Join(rep.Problems, "\n")
	for _, want := range []string{"the permit for account ann never matches", "nochannel is not a channel"} {
		if !strings.Contains(problems, want) {
			t.Errorf("problems:\n%s\nwant %q", problems, want)
		}
	}
	if said := srv.Said("#project-x"); len(said) > 0 {
		t.Errorf("doctor said %v", said)
	}
	s.o.Server.Addr = "127.0.0.1:1"
	if _, err := ircbridge.Doctor(t.Context(), s.o); err == nil {
		t.Error("Doctor without a server = nil, want an error")
	}
}

func TestWhatWasSaidWhileAwayIsNotObeyed(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	srv := irctest.NewServer(t, irctest.Features{})
	s := newScene(t, srv.Addr)
	s.o.Allow = []bridge.Permit{{Account: "ann", May: bridge.Rights()}, {Nick: "joe", May: bridge.Rights()}}
	s.start()
	s.ready()
	srv.Say("ann", "ann", "#project-x", "hello")
	eventually(t, "it is heard", func() bool {
		got, err := bridge.Reader{Dir: ircbridge.Folder(s.home), Name: "x"}.New("#project-x", 0)
		return err == nil && len(got.Lines) == 1
	})
	s.stop()
	srv.Say("joe", "", "#project-x", "coder: stop that") // without an account
	srv.Say("joe", "", "#project-x", "TASK: @coder undo it")
	srv.Say("ann", "ann", "#project-x", "TASK: @coder redo it") // said just now, and proven
	s.start()
	s.ready()
	eventually(t, "joe is told", func() bool {
		all := strings.Join(saidAt(srv, "#project-x"), "\n")
		return strings.Contains(all, "swarm: joe: I was away when you said that: coder: stop that")
	})
	srv.Say("ann", "ann", "#project-x", "TASK: @coder undo it, please")
	if all := s.mail("coder", 2); !strings.Contains(string(all[0].Body), "redo") || !strings.Contains(string(all[1].Body), "please") {
		t.Errorf("coder got %q and %q", all[0].Body, all[1].Body)
	}
	got, err := bridge.Reader{Dir: ircbridge.Folder(s.home), Name: "y"}.New("#project-x", 0)
	if err != nil || len(got.Lines) < 3 || !got.Lines[1].Replay || got.Lines[1].Text != "coder: stop that" {
		t.Errorf("buffer: %+v, %v", got, err)
	}
}
