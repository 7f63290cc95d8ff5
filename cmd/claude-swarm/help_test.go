package main

import (
	"io"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// The help for every verb fits the width of a terminal and ends with examples whose verbs
// and flags exist.
func TestHelpEndsWithExamples(t *testing.T) {
	var look func(chain []*cli.Command)
	look = func(chain []*cli.Command) {
		c := chain[len(chain)-1]
		if c.Hidden {
			return
		}
		name := path(chain)
		var out strings.Builder
		writeHelp(&out, newApp(nil, nil, io.Discard, io.Discard), chain)
		for line := range strings.Lines(out.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
		_, list, ok := strings.Cut(c.Description, "\n\nExample")
		if !ok {
			t.Errorf("%s: the help has no example", name)
		}
		lines := strings.Split(strings.TrimSpace(list), "\n")[1:]
		if len(lines) == 0 || len(lines) > 4 {
			t.Errorf("%s: %d examples, want one to four", name, len(lines))
		}
		for _, line := range lines {
			_, line, ok := strings.Cut(line, "claude-swarm ")
			if !ok {
				t.Errorf("%s: the example %q does not call claude-swarm", name, line)
				continue
			}
			line, _, _ = strings.Cut(line, " > ")
			line, _, _ = strings.Cut(line, " | ")
			args := append([]string{"claude-swarm"}, words(strings.TrimSuffix(line, ")"))...)
			if _, err := arrange(newApp(nil, nil, io.Discard, io.Discard), args); err != nil {
				t.Errorf("%s: the example %q: %v", name, line, err)
			}
		}
		for _, sub := range c.Subcommands {
			look(append(chain[:len(chain):len(chain)], sub))
		}
	}
	var out strings.Builder
	app := newApp(nil, nil, io.Discard, io.Discard)
	writeHelp(&out, app, nil)
	for line := range strings.Lines(out.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
			t.Errorf("claude-swarm: %d columns: %s", n, line)
		}
	}
	for _, c := range app.Commands {
		look([]*cli.Command{c})
	}
}

// words splits a command line at spaces outside double quotes.
func words(line string) []string {
	var out []string
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}
