package irc_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// A message to a target that is neither a channel nor a nick is not sent, because some
// servers pass it to many people or to a person on another server, and other servers do
// not answer.
func TestTargetsThatAreNone(t *testing.T) {
	c := dial(t, irc.Config{Nick: "ann", Flood: fast, Addr: irctest.Script(t, greet+hello)})
	for _, target := range []string{"$$*", "$*.test", "$a.test", "@#room", "+@#room", "ann!u@h", "ann@h", "u%h", "u%h@a.test", "*", "*status", "b?b", "b,c", "", " ", ":b"} {
		err := delivered(t, c.Send(target, "x"))
		if !errors.Is(err, irc.ErrTarget) && !errors.Is(err, irc.ErrMessage) {
			t.Errorf("Send(%q) = %v, want ErrTarget", target, err)
		}
		if errors.Is(err, irc.ErrTarget) && !strings.Contains(err.Error(), "neither a channel nor a nick") {
			t.Errorf("Send(%q) = %v", target, err)
		}
	}
	for _, target := range []string{"#room", "#*", "#a@b", "bob", "b[o]b", "b{}|b", "`b^_-\\", "coder/swarm", "äöü"} {
		c.Send(target, "x") // this message is sent to the server, but its fate does not matter here
	}
	if n := c.State().Waiting + c.State().Unproven; n != 9 {
		t.Errorf("%d texts are on their way, want 9", n)
	}
}

// A server without labels refuses a message with a numeric that may contain the target in
// a different form, or not at all. The numeric arrives before the PONG. If it is clear
// which message the numeric refuses, that message does not count as delivered.
func TestRefusalsThatNameAnother(t *testing.T) {
	for name, c := range map[string]struct {
		targets []string
		numeric string
		refused []bool
	}{
		"by its target":              {[]string{"bob"}, "401 ann bob :No such nick", []bool{true}},
		"by no target":               {[]string{"#room"}, "481 ann :Permission denied", []bool{true}},
		"by a part of the target":    {[]string{"bobby-tables"}, "401 ann bobby-tab :No such nick", []bool{true}},
		"by a server":                {[]string{"bob"}, "402 ann h :No such server", []bool{true}},
		"he is hidden":               {[]string{"bob"}, "716 ann bob :is in +g mode", []bool{true}},
		"by the target of the other": {[]string{"bob", "#room"}, "404 ann #room :Cannot send", []bool{false, true}},
		"it is open which":           {[]string{"bob", "#room"}, "481 ann :Permission denied", []bool{false, false}},
		"part of one of two":         {[]string{"bob", "annabella"}, "401 ann annabel :No such nick", []bool{false, true}},
		"of another command":         {[]string{"#room"}, "433 ann ann_ :Nickname is in use", []bool{false}},
		"a reply":                    {[]string{"bob"}, "301 ann bob :I am away", []bool{false}},
	} {
		t.Run(name, func(t *testing.T) {
			script := strings.Replace(greet, "LS :batch\n> CAP REQ batch\n< :s CAP * ACK :batch", "LS :x", 1) + hello
			for _, target := range c.targets {
				script += "> PRIVMSG " + target + " x\n"
			}
			script += "> PING :(a)\n< :s " + c.numeric + "\n< :s PONG s :(a)\n"
			conn := dial(t, irc.Config{Nick: "ann", Flood: irc.Flood{Rate: 100}, Addr: irctest.Script(t, script)})
			var sent []*irc.Delivery
			for _, target := range c.targets {
				sent = append(sent, conn.Send(target, "x"))
			}
			for i, d := range sent {
				err := delivered(t, d)
				if _, refused := errors.AsType[*irc.Rejected](err); refused != c.refused[i] {
					t.Errorf("%s: %v, want refused %v", c.targets[i], err, c.refused[i])
				}
			}
		})
	}
}
