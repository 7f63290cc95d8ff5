package compat

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/execfile"
)

// A result counts for the same file only: not for another content, another command or other
// facts; a new time of the same content does not matter.
func TestAResultCountsForTheSameFile(t *testing.T) {
	dir := t.TempDir()
	program, link := filepath.Join(dir, "client-1"), filepath.Join(dir, "client")
	write := func(text string) {
		t.Helper()
		if err := execfile.Write(program, []byte("#!/bin/sh\n"+text+"\n")); err != nil {
			t.Fatal(err)
		}
	}
	write("echo 1")
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	c := Cache{filepath.Join(dir, "cache", "compat")}
	find := func(what string, want bool, command ...string) {
		t.Helper()
		r, err := c.Find(command)
		if err != nil || (r != nil) != want {
			t.Errorf("%s: %v, %v; want a result: %v", what, r, err, want)
		}
	}
	find("before a test", false, link)
	report := &Report{Version: "9.9.9", Answers: make([]Answer, len(facts))}
	for i := range report.Answers {
		report.Answers[i].State = Yes
	}
	report.Answers[3].State = Differs
	kept, err := c.Keep([]string{link}, report)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := kept.String(), "tested here: 26 of 27, 1 differs"; got != want {
		t.Errorf("the result says %q, want %q", got, want)
	}
	find("by the link", true, link)
	find("by the file", true, program)
	find("with arguments", false, link, "--x")
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(program, later, later); err != nil {
		t.Fatal(err)
	}
	find("with a new time", true, link)
	write("echo 2")
	find("with another content of the same size", false, link)
	write("echo 1")
	find("with the first content again", true, link)
	write("echo 10")
	find("with another size", false, link)
	write("echo 1")
	kept.Facts = "of another version"
	if err := c.write([]string{link}, program, kept); err != nil {
		t.Fatal(err)
	}
	find("with other facts", false, link)
	if err := os.WriteFile(c.name([]string{link}, program), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	find("with a damaged file", false, link)
}

func TestTheWordsOfAResult(t *testing.T) {
	for want, states := range map[string][]State{
		"tested here: 2 of 2":                    {Yes, Yes},
		"tested here: 1 of 4, 1 differs, 2 fail": {Yes, Differs, No, Unknown},
		"tested here: 0 of 3, 2 differ, 1 fails": {Differs, Differs, No},
	} {
		r := &Result{}
		for _, s := range states {
			r.Answers = append(r.Answers, Answer{State: s})
		}
		if got := r.String(); got != want {
			t.Errorf("%q says %q, want %q", states, got, want)
		}
	}
}
