package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/provision"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// In a terminal, doctor wraps its findings to the terminal's width and loses no words.
// Without a terminal, it does not wrap text.
func TestWriteFindings(t *testing.T) {
	findings := []provision.Finding{
		{Grade: provision.Good, Name: "git", Text: "2.47.1"},
		{Grade: provision.Warn, Name: "login", Text: "nobody is logged in, and no key is in the environment of the agents: coder, reviewer",
			Try: "claude login, or put ANTHROPIC_API_KEY in env: of agents: in claude-swarm.yaml"},
		{Grade: provision.Wrong, Name: "mailboxes", Text: "/home/ann/" + strings.Repeat("folder/", 20) + " cannot be written", Try: "ls -ld /home/ann"},
	}
	words := func(text string) string { return strings.Join(strings.Fields(text), "") }
	var plain bytes.Buffer
	writeFindings(&plain, 0, findings)
	if n := strings.Count(plain.String(), "\n"); n != 5 {
		t.Errorf("without a screen there are %d lines, want 5:\n%s", n, &plain)
	}
	for _, columns := range []int{40, 60, 80} {
		var out bytes.Buffer
		writeFindings(&out, columns, findings)
		for line := range strings.Lines(out.String()) {
			if n := screen.Columns(strings.TrimSuffix(line, "\n")); n > columns {
				t.Errorf("on %d columns a line has %d: %s", columns, n, line)
			}
		}
		if words(out.String()) != words(plain.String()) {
			t.Errorf("on %d columns it says something else:\n%s", columns, &out)
		}
	}
}

// Doctor reports a client that opens a session but never lists our tools.
func TestDoctorGivesUpOnAClientWithoutTools(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), config.Name)
	const text = `agents: {toolless: {backend: acp, command: acp-standin, env: {ACPSTANDIN_QUIRKS: '{"servers":"none"}'}}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	home := map[string]string{"HOME": t.TempDir()}
	findings := provision.Examine(t.Context(), provision.DoctorOptions{
		Config: path, Version: version, Program: ourselves(t), Getenv: func(key string) string { return home[key] }, SpecOf: specOf, ProbeTimeout: 2 * time.Second,
	})
	var out bytes.Buffer
	writeFindings(&out, 0, findings)
	if want := "\nwrong tools: acp-standin cannot begin a turn of toolless: it was not ready within 2s\n"; !strings.Contains(out.String(), want) {
		t.Errorf("doctor does not print %q:\n%s", want, &out)
	}
}
