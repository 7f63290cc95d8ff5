package irc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

const patience = 60 * time.Second

// fast disables the flood limit, for servers that allow this.
var fast = irc.Flood{Off: true}

// dial connects without TLS, and closes the connection when the test ends.
func dial(t *testing.T, cfg irc.Config) *irc.Conn {
	t.Helper()
	cfg.Clear = true
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := irc.Dial(ctx, cfg)
	if err != nil {
		t.Fatalf("Dial: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = c.Close(ctx, "")
	})
	return c
}

// until reads messages until it finds one that matches.
func until(t *testing.T, c *irc.Conn, what string, fits func(irc.Message) bool) irc.Message {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case m, ok := <-c.Messages():
			if !ok {
				t.Fatalf("waiting for %s: the connection ended: %v", what, c.Err())
			}
			if fits(m) {
				return m
			}
		case <-late:
			t.Fatalf("waiting for %s: nothing", what)
		}
	}
}

func is(command string, params ...string) func(irc.Message) bool {
	return func(m irc.Message) bool {
		if m.Command != command {
			return false
		}
		for i, p := range params {
			if m.Param(i) != p {
				return false
			}
		}
		return true
	}
}

// join joins a channel.
func join(t *testing.T, c *irc.Conn, channel string) {
	t.Helper()
	go func() { _, _ = c.Do(t.Context(), irc.Msg("JOIN", channel)) }()
	nick := c.State().Nick
	until(t, c, "own JOIN", func(m irc.Message) bool { return m.Command == "JOIN" && m.Nick() == nick })
}

func delivered(t *testing.T, d *irc.Delivery) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := d.Wait(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		t.Fatal("the delivery does not end")
	}
	return err
}

func onEveryServer(t *testing.T, test func(t *testing.T, addr string)) {
	t.Run("ngircd", func(t *testing.T) { test(t, irctest.Ngircd(t, irctest.Unlimited)) })
	t.Run("inspircd", func(t *testing.T) { test(t, irctest.Inspircd(t, irctest.Unlimited)) })
}

func TestTalk(t *testing.T) {
	onEveryServer(t, func(t *testing.T, addr string) {
		ann := dial(t, irc.Config{Addr: addr, Nick: "ann", Flood: fast})
		bob := dial(t, irc.Config{Addr: addr, Nick: "bob", Flood: fast})
		join(t, ann, "#room")
		join(t, bob, "#room")
		for i, text := range []string{"hello", ":leading colon", "  two  spaces  ", "grüße 👩‍👩‍👧", "one\ntwo\n\nfour"} {
			if err := delivered(t, ann.Send("#room", text)); err != nil {
				t.Fatalf("Send(%q) = %v", text, err)
			}
			var got []string
			for range strings.Count(text, "\n") + 1 {
				m := until(t, bob, "the text", is("PRIVMSG", "#room"))
				if m.Nick() != "ann" {
					t.Errorf("message %d is from %q", i, m.Source)
				}
				got = append(got, m.Last())
			}
			// ngircd strips trailing spaces, which turns a blank line into an empty one.
			want := strings.ReplaceAll(text, "\n\n", "\n \n")
			if joined := strings.Join(got, "\n"); joined != want && joined != strings.TrimRight(text, " ") {
				t.Errorf("bob sees %q, want %q", got, want)
			}
		}
		nicks, _, ok := bob.Members("#ROOM")
		if fmt.Sprint(nicks) != "[ann bob]" || !ok {
			t.Errorf("Members = %v, %v", nicks, ok)
		}
	})
}

// A nick can contain characters that a user name cannot contain.
func TestNicksOfAllSigns(t *testing.T) {
	onEveryServer(t, func(t *testing.T, addr string) {
		for _, nick := range []string{"[swarm]", "a|b^c`d", "{x}_\\", "_"} {
			if got := dial(t, irc.Config{Addr: addr, Nick: nick}).State().Nick; got != nick {
				t.Errorf("asked for the nick %s, got %s", nick, got)
			}
		}
	})
}

// A line of exactly the maximum length arrives intact; a line with one more byte would be
// cut.
func TestLongLinesArriveWhole(t *testing.T) {
	onEveryServer(t, func(t *testing.T, addr string) {
		ann := dial(t, irc.Config{Addr: addr, Nick: "ann", Flood: fast})
		bob := dial(t, irc.Config{Addr: addr, Nick: "bob", Flood: fast})
		join(t, ann, "#room")
		join(t, bob, "#room")
		text := strings.Repeat("€uro and more, ", 200) + strings.Repeat("x", 1500)
		lines := irc.Split(text, ann.Limit(irc.Outgoing{Target: "#room"}))
		if err := delivered(t, ann.Send("#room", text)); err != nil {
			t.Fatal(err)
		}
		got := ""
		for i := range lines {
			m := until(t, bob, "a line", is("PRIVMSG", "#room"))
			got += m.Last()
			if i == len(lines)-2 { // this line consists only of the letter x, so it is full
				if n := len(fmt.Sprintf(":%s PRIVMSG #room :%s\r\n", m.Source, m.Last())); n != 512 {
					t.Errorf("a full line has %d bytes, want 512", n)
				}
			}
		}
		if got != text {
			t.Errorf("the joined lines have %d bytes, want %d", len(got), len(text))
		}
	})
}

func TestRefusedMessagesAreNotProven(t *testing.T) {
	onEveryServer(t, func(t *testing.T, addr string) {
		ann := dial(t, irc.Config{Addr: addr, Nick: "ann", Flood: fast})
		join(t, ann, "#room")
		good := ann.Send("#room", "before")
		bad := ann.Send("nobody", "hello?")
		after := ann.Send("#room", "after")
		if err := errors.Join(delivered(t, good), delivered(t, after)); err != nil {
			t.Errorf("the texts to the channel: %v", err)
		}
		r, ok := errors.AsType[*irc.Rejected](delivered(t, bad))
		if !ok || r.Code != "401" || r.Target != "nobody" {
			t.Errorf("to nobody: %v, want 401", bad.Err())
		}
	})
}
