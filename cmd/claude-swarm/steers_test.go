package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// Neither an error nor its next step controls the terminal, whatever was typed.
func TestAnErrorDoesNotSteerTheTerminal(t *testing.T) {
	p := shortProject(t)
	t.Chdir(p.dir)
	const word = "\x1b[31mred\x07\u202e\xff"
	for _, line := range [][]string{
		{"send", "coder", "--file", word}, {"send", word, "hi"}, {"send", "coder", "hi", "--type", word}, {"inbox", word}, {"read", word},
		{"trace", word}, {"logs", word}, {"budget", "raise", word, "5"}, {"budget", "raise", "5", word}, {"pause", word}, {"pause", "coder", "--for", word},
		{"halt", "--thread", word, "--agent", word}, {"dead", "retry", word}, {word}, {"help", word}, {"publish", word, "hi"}, {"remove", word},
		{"--config", word, "status"}, {"status", "--" + word}, {"config", word}, {"completion", word}, {"attach", word}, {"irc", word}, {"history", word},
	} {
		var stderr bytes.Buffer
		code := run(append([]string{"claude-swarm"}, line...), strings.NewReader(""), io.Discard, &stderr)
		if said := stderr.String(); code == exitDone || said == "" || screen.Visible(said) != said {
			t.Errorf("%q: %d, %q", line, code, said)
		}
	}
}
