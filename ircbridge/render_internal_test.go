package ircbridge

import (
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A task that was given on IRC begins with the words of who gave it.
func TestTheBeginningOfATask(t *testing.T) {
	for _, tc := range []struct{ from, body, want string }{
		{dropbox.IRC, "[IRC @mention in #p] <ann> TASK: @coder fix [it] <now>", "begins: TASK: @coder fix [it] <now> (from ann)"},
		{dropbox.IRC, "[IRC private message] <a]b> go on\nand on", "begins: go on (from a]b, read abc)"},
		{dropbox.IRC, "no frame", "begins: no frame (from irc)"},
		{dropbox.IRC, "[IRC @mention in #p] <> x", "begins: [IRC @mention in #p] <> x (from irc)"},
		{"reviewer", "[IRC @mention in #p] <ann> x", "begins: [IRC @mention in #p] <ann> x (from reviewer)"},
	} {
		m := &dropbox.Message{ID: "abc", From: tc.from, Body: []byte(tc.body)}
		if got := show(m, Note{Moment: Begun, To: "coder"}, place{}); got.text != tc.want || got.name != "coder" {
			t.Errorf("%q from %s: [%s] %q, want %q", tc.body, tc.from, got.name, got.text, tc.want)
		}
	}
}
