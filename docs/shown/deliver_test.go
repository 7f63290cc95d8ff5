package shown_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/execfile"
)

// shell writes the shell program from the message format page to a file, and returns
// the path of the file.
func shell(t *testing.T) string {
	t.Helper()
	m := regexp.MustCompile("(?ms)^```sh\n(#!/bin/sh\n.*?)^```$").FindStringSubmatch(read(t, "../dev/message-format.md"))
	if m == nil {
		t.Fatal("message-format.md has no program")
	}
	if n := strings.Count(m[1], "\n"); n > 16 { // including its first line
		t.Errorf("the program has %d lines", n)
	}
	file := filepath.Join(t.TempDir(), "drop.sh")
	if err := execfile.Write(file, []byte(m[1])); err != nil {
		t.Fatal(err)
	}
	return file
}

// The program on the page delivers a message that the library accepts.
func TestShellProgramDelivers(t *testing.T) {
	program, dir := shell(t), t.TempDir()
	box := mailbox(t, filepath.Join(dir, ".dead-drop"), "coder")

	id := drop(t, program, dir, "coder", "Fix the \"build\", 100 % of it")
	entries, err := box.List()
	if err != nil || len(entries) != 1 {
		t.Fatalf("List() = %v, %v, want one message", entries, err)
	}
	claim, err := box.Claim(entries[0])
	if err != nil || claim.Bad != nil {
		t.Fatalf("Claim: %v, %v", err, claim)
	}
	m := claim.Message
	if m.ID != id || m.From != "lead" || m.Type != dropbox.Task || string(m.Body) != "Fix the \"build\", 100 % of it\n" {
		t.Errorf("the message is %+v, body %q; want id %s", m, m.Body, id)
	}
	left, err := os.ReadDir(filepath.Join(dir, ".dead-drop/coder/tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("left in tmp/: %v, %v", left, err)
	}

	for name, prepare := range map[string]func() error{
		"unknown agent": func() error { return os.RemoveAll(filepath.Join(dir, ".dead-drop/coder")) },
		"full mailbox":  func() error { return os.WriteFile(filepath.Join(dir, ".dead-drop/lead/FULL"), nil, 0o600) },
	} {
		if err := prepare(); err != nil {
			t.Fatal(err)
		}
		to := map[string]string{"unknown agent": "coder", "full mailbox": "lead"}[name]
		cmd := exec.CommandContext(t.Context(), program, to, "text")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err == nil {
			t.Errorf("%s: delivered anyway: %s", name, out)
		}
	}
}

// The daemon begins a turn for the message that the program delivers.
func TestShellProgramWakesAnAgent(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	parallel(t)
	program := shell(t)
	c := started(t)
	drop(t, program, c.dir, "reviewer", "Is there a test that greets Ada?")
	c.wait("reviewer")
	out, err := c.run(t.Context(), "claude-swarm history reviewer && claude-swarm inbox && claude-swarm stop")
	if err != nil || !strings.Contains(out, "done") || !strings.Contains(out, "Re: Is there a test") {
		t.Errorf("history and inbox say: %v\n%s", err, out)
	}
}

func drop(t *testing.T, program, dir, to, text string) (id string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, to, text)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("drop.sh %s: %v\n%s", to, err, out)
	}
	return strings.TrimSpace(string(out))
}

func mailbox(t *testing.T, dir, name string) *dropbox.Mailbox {
	t.Helper()
	if err := dropbox.Create(dir); err != nil {
		t.Fatal(err)
	}
	store, err := dropbox.Open(dir, dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	if err := store.MakeMailbox(name); err != nil {
		t.Fatal(err)
	}
	box, err := store.Mailbox(name)
	if err != nil {
		t.Fatal(err)
	}
	return box
}
