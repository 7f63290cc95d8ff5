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

// A server may refuse the first line of a message, remove the bridge from the channel, and
// hang up before it confirms the second line. The second line may have arrived, so the
// next attempt marks it.
func TestARefusedLineBeforeAnUnprovenLine(t *testing.T) {
	srv := newRefusingServer(t)
	s := newScene(t, srv.addr)
	s.start()
	s.ready()
	id := s.say("coder", bridge.Origin{Channel: "#project-x"}, "first row\nsecond row")
	s.where(id, dropbox.Done)
	want := []string{"[coder] first row", "[coder] second row", "[coder] (again) first row", "[coder] (again) second row"}
	if got := srv.heard(); !slices.Equal(got, want) {
		t.Errorf("the server received %q, want %q", got, want)
	}
	if r := receiptOf(t, s.store, id); !strings.Contains(r, "again: true") {
		t.Errorf("the receipt does not say that lines were sent again:\n%s", r)
	}
}

// A server may refuse the first line of a message, and remove the bridge from the channel
// after it has accepted the second line. The next attempt sends both lines, with a mark,
// whether or not a history shows the second line.
func TestARefusedLineBeforeAProvenLine(t *testing.T) {
	for name, without := range map[string][]string{
		"with a history":    {"draft/multiline"},
		"without a history": {"draft/multiline", "draft/chathistory"},
		"proven by a PONG":  {"draft/multiline", "draft/chathistory", "labeled-response", "echo-message"},
	} {
		t.Run(name, func(t *testing.T) {
			refused, kicked := false, false
			srv := irctest.NewServer(t, irctest.Features{Without: without, Rule: func(text string) irctest.Ruling {
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
			id := s.say("coder", bridge.Origin{}, "first row\nsecond row")
			s.where(id, dropbox.Done)
			var got []string
			for _, m := range srv.Said("#project-x") {
				got = append(got, m.Text)
			}
			if want := []string{"[coder] second row", "[coder] (again) first row", "[coder] (again) second row"}; !slices.Equal(got, want) {
				t.Errorf("the server accepted %q, want %q", got, want)
			}
			if r := receiptOf(t, s.store, id); !strings.Contains(r, "again: true") {
				t.Errorf("the receipt does not say that lines were sent again:\n%s", r)
			}
		})
	}
}

// A refusingServer has no capabilities. When it has received the first two lines, it
// refuses the first one, kicks the speaker, and hangs up. On later connections it accepts
// everything.
type refusingServer struct {
	addr string

	mu    sync.Mutex
	lines []string
}

func newRefusingServer(t *testing.T) *refusingServer {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &refusingServer{addr: l.Addr().String()}
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
			if !refuses || spoken == 0 {
				send(":s PONG s %s", words[1])
			}
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
			if refuses && spoken == 2 {
				send(":s 404 %s %s :Cannot send to channel", nick, words[1])
				send(":op!u@h KICK %s %s :out", words[1], nick)
				return
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
