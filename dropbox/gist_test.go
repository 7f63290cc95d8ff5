package dropbox_test

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

func TestGist(t *testing.T) {
	for name, tc := range map[string]struct {
		from, subject, body, want string
	}{
		"subject":               {"lead", "the\nparser", "Fix it.", "the parser"},
		"text":                  {"lead", "", "Fix it.\n\nAll of it.", "Fix it. All of it."},
		"long":                  {"lead", "", strings.Repeat("ä", 300), strings.Repeat("ä", 200)},
		"nothing":               {"lead", "", "", ""},
		"in a channel":          {"irc", "", "[IRC @mention in #project-x] <ann> TASK: @coder fix <it>\nnow", "TASK: @coder fix <it> now"},
		"in private":            {"irc", "", "[IRC private message] <a]b> go on", "go on"},
		"with a subject":        {"irc", "Re: port", "[IRC private message] <ann> 6667", "Re: port"},
		"the same of another":   {"coder", "", "[IRC private message] <ann> go on", "[IRC private message] <ann> go on"},
		"without who said it":   {"irc", "", "[IRC private message] <> go on", "[IRC private message] <> go on"},
		"other text of the irc": {"irc", "", "hello", "hello"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &dropbox.Message{From: tc.from, Subject: tc.subject, Body: []byte(tc.body)}
			if got := m.Gist(); got != tc.want {
				t.Errorf("Gist() = %q, want %q", got, tc.want)
			}
		})
	}
}
