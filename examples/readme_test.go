package examples_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// shown matches the first code block of a page, which contains the commands that a person
// types.
var shown = regexp.MustCompile("(?ms)^```\n(.*?)^```$")

// script converts the commands in a README to a script for sh. If a line needs an id, the
// script uses the id of the last message that an earlier line sent.
func script(t *testing.T, name string) (text string, lines int) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(name, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := shown.FindSubmatch(page)
	if block == nil {
		t.Fatalf("the README of %s shows no commands", name)
	}
	var b strings.Builder
	b.WriteString("set -e\n")
	for line := range strings.Lines(string(block[1])) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "   #")
		line = strings.TrimSpace(line)
		fmt.Fprintf(&b, "echo %s\n", "'$ "+strings.ReplaceAll(line, "'", `'\''`)+"'")
		switch {
		case strings.HasPrefix(line, "claude-swarm send "):
			fmt.Fprintf(&b, "out=$(%s)\necho \"$out\"\nID=$(echo \"$out\" | head -n 1)\n", line)
		case strings.HasSuffix(line, " ID"):
			b.WriteString(strings.TrimSuffix(line, "ID") + "$ID\n")
		default:
			b.WriteString(line + "\n")
		}
		lines++
	}
	return b.String(), lines
}

// The commands in each example's README work unchanged in a person's project, with an IRC
// server if the example needs one. The first task gets an answer.
func TestReadmesAreRight(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, agents := range projects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, lines := script(t, name)
			if strings.Contains(text, "--tmux") {
				need.Program(t, "tmux")
			}
			s := copyExample(t, name)
			top := filepath.Dir(s.dir)
			mine := filepath.Join(top, "home", "projects", "mine")
			if err := os.MkdirAll(mine, 0o700); err != nil {
				t.Fatal(err)
			}
			config := filepath.Join(s.dir, "claude-swarm.yaml")
			if yaml, err := os.ReadFile(config); err != nil {
				t.Fatal(err)
			} else if strings.Contains(string(yaml), "server: localhost ") {
				server := irctest.Ngircd(t, irctest.Unlimited)
				changed := strings.Replace(string(yaml), "server: localhost ", "server: "+server+" ", 1)
				if err := os.WriteFile(config, []byte(changed), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			project := s.dir
			if strings.Contains(text, "cd ~/projects/mine") {
				project = mine
			}
			in := *s
			in.dir = project
			t.Cleanup(func() {
				_ = in.command(context.Background(), "stop", "--now").Run()
				tmux := exec.Command("tmux", "kill-server")
				tmux.Env = append(s.env, "TMUX_TMPDIR="+top)
				_ = tmux.Run() // most examples have no session
			})
			ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
			defer cancel()
			cmd := exec.CommandContext(ctx, "sh", "-c", text)
			cmd.Dir, cmd.Env = s.dir, append(s.env, "TMUX_TMPDIR="+top, "LANG=C.UTF-8", "SHELL=/bin/sh")
			out, err := cmd.CombinedOutput()
			if err != nil || lines < 3 {
				t.Fatalf("%d lines of the README of %s: %v\n%s\n%s", lines, name, err, text, out)
			}
			// The first answer has arrived by now, or will arrive before the next one.
			if got := in.run("send", agents[0], "Say hello", "--wait=60s"); !strings.Contains(got, "Done: Say hello") {
				t.Errorf("%s answers %q", agents[0], got)
			}
			if history := in.run("history", agents[0]); !strings.Contains(history, "2 turns") {
				t.Errorf("after the README of %s and one more task %s has this history:\n%s", name, agents[0], history)
			}
			if got := in.run("stop"); got != "stopped\n" {
				t.Errorf("stop prints %q", got)
			}
		})
	}
}

// An agent without a list of tools runs commands without asking, and an agent with a list runs
// only the commands on the list, as solo's README says.
func TestSoloRunsCommands(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := copyExample(t, "solo")
	s.run("init")
	s.run("start")
	s.run("send", "coder", "@sh touch ran", "--wait=30s")
	if _, err := os.Stat(filepath.Join(s.dir, "ran")); err != nil {
		t.Errorf("without a list of tools a command is not run: %v", err)
	}
	page, err := os.ReadFile("solo/README.md")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile("`(allowed_tools: .*)`").FindSubmatch(page)
	if list == nil {
		t.Fatal("the README of solo shows no list of tools")
	}
	config := filepath.Join(s.dir, "claude-swarm.yaml")
	yaml, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	held := strings.Replace(string(yaml), "    role: coder\n", "    role: coder\n    "+string(list[1])+"\n", 1)
	if err := os.WriteFile(config, []byte(held), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run("reload")
	answer := s.ends(7, "send", "coder", "@sh touch again", "--wait=30s") // nothing that the turn tried was permitted
	if _, err := os.Stat(filepath.Join(s.dir, "again")); err == nil {
		t.Errorf("with %s a command that is not on the list was run", list[1])
	}
	if !strings.Contains(answer, "Bash(touch") {
		t.Errorf("the answer does not say what would allow it: %q", answer)
	}
	s.run("stop")
}
