package ircbridge_test

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
)

// A server may refuse the first line of a message and remove the bridge from the channel,
// and the second line may have arrived. The next attempt sends both lines, with a mark.
func TestARefusedLineBeforeAnotherLine(t *testing.T) {
	for name, second := range map[string]fate{"cut off": cutOff, "proven": proven, "proven later": provenLater} {
		t.Run(name, func(t *testing.T) {
			srv := newRefusingServer(t, second)
			s := newScene(t, srv.addr)
			s.o.RejoinAfter = []time.Duration{10 * time.Millisecond}
			s.start()
			s.ready()
			id := s.say("coder", bridge.Origin{Channel: "#project-x"}, "first row\nsecond row")
			s.where(id, dropbox.Done)
			want := []string{"[coder] first row", "[coder] second row", "[coder] (again) first row", "[coder] (again) second row"}
			if got := srv.heard(); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("the server received %q, want %q", got, want)
			}
			if r := receiptOf(t, s.store, id); !strings.Contains(r, "again: true") {
				t.Errorf("the receipt does not say that lines were sent again:\n%s", r)
			}
		})
	}
}

// The same is true if the server has a history, which shows the second line.
func TestARefusedLineBeforeALineInTheHistory(t *testing.T) {
	refused, kicked := false, false
	srv := irctest.NewServer(t, irctest.Features{Without: []string{"draft/multiline"}, Rule: func(text string) irctest.Ruling {
		switch {
		case strings.Contains(text, "first row") && !refused:
			refused = true
			return irctest.Refuse
		case strings.Contains(text, "second row") && !kicked:
			kicked = true
			return irctest.Kick
		}
		return irctest.Accept
	}})
	s := newScene(t, srv.Addr)
	s.o.RejoinAfter = []time.Duration{10 * time.Millisecond}
	s.start()
	s.ready()
	s.where(s.say("coder", bridge.Origin{}, "first row\nsecond row"), dropbox.Done)
	var got []string
	for _, m := range srv.Said("#project-x") {
		got = append(got, m.Text)
	}
	if want := []string{"[coder] second row", "[coder] (again) first row", "[coder] (again) second row"}; !slices.Equal(got, want) {
		t.Errorf("the server accepted %q, want %q", got, want)
	}
}

// A fate is what happens to the second line of a message whose first line is refused.
type fate int

const (
	cutOff      fate = iota // the server hangs up before it confirms the line
	proven                  // the server confirms the line immediately after it has refused the first one
	provenLater             // the server confirms the line after the bridge has handled the refusal
)

// A refusingServer has no capabilities. It refuses the first line, and kicks the speaker
// after the second one. After that it accepts everything.
type refusingServer struct {
	addr   string
	second fate

	mu    sync.Mutex
	lines []string
}

func newRefusingServer(t *testing.T, second fate) *refusingServer {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &refusingServer{addr: l.Addr().String(), second: second}
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			client, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { srv.serve(client, n == 0) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
	return srv
}

func (srv *refusingServer) serve(client net.Conn, refuses bool) {
	defer client.Close()
	send := func(format string, args ...any) { fmt.Fprintf(client, format+"\r\n", args...) }
	nick, spoken := "*", 0
	for in := bufio.NewScanner(client); in.Scan(); {
		words := strings.SplitN(in.Text(), " ", 3)
		switch words[0] {
		case "CAP":
			if words[1] == "LS" {
				send(":s CAP * LS :")
			}
		case "NICK":
			nick = strings.TrimPrefix(words[1], ":")
		case "USER":
			send(":s 001 %s :Welcome", nick)
			send(":s 422 %s :no message of the day", nick)
		case "PING":
			if refuses && spoken == 2 {
				refuses = false
				send(":op!u@h KICK #project-x %s :out\r\n:s PONG s %s", nick, words[1])
				continue
			}
			send(":s PONG s %s", words[1])
		case "JOIN":
			for room := range strings.SplitSeq(words[1], ",") {
				send(":%s!u@h JOIN %s", nick, room)
				send(":s 353 %s = %s :%s", nick, room, nick)
				send(":s 366 %s %s :end", nick, room)
			}
		case "PRIVMSG":
			spoken++
			srv.mu.Lock()
			srv.lines = append(srv.lines, strings.TrimPrefix(words[2], ":"))
			srv.mu.Unlock()
			if refuses && (srv.second == cutOff) == (spoken == 2) {
				send(":s 404 %s %s :Cannot send to channel", nick, words[1])
			}
			switch {
			case refuses && srv.second == cutOff && spoken == 2:
				send(":op!u@h KICK %s %s :out", words[1], nick)
				return
			case srv.second == provenLater:
				time.Sleep(50 * time.Millisecond)
			}
		case "QUIT":
			return
		}
	}
}

// heard returns the texts of all lines that the server has received, oldest first.
func (srv *refusingServer) heard() []string {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	return append([]string(nil), srv.lines...)
}
