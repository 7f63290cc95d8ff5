package git_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/git"
)

// The moves of HEAD are read from the reflog, in the main worktree and in a linked one.
func TestMovesSince(t *testing.T) {
	dir, run := repo(t)
	before := time.Now().Add(-time.Minute)
	write(t, filepath.Join(dir, "a"), "1\n")
	run("add", ".")
	run("commit", "-qm", "one")
	first := run("rev-parse", "HEAD")
	linked := filepath.Join(t.TempDir(), "linked")
	run("worktree", "add", "-q", "-b", "task", linked)
	sub := filepath.Join(dir, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	moves := func(dir string, since time.Time) git.HeadMoves {
		t.Helper()
		m, inTree, err := git.MovesSince(dir, since)
		if err != nil || !inTree {
			t.Fatalf("%s: %t, %v", dir, inTree, err)
		}
		return m
	}
	zero := strings.Repeat("0", 40)
	if m := moves(sub, before); m != (git.HeadMoves{From: zero, To: first, Commits: true}) {
		t.Errorf("a commit: %+v", m)
	}
	if m := moves(dir, time.Now().Add(time.Minute)); m.From != "" || m.To != "" {
		t.Errorf("no move: %+v", m)
	}
	write(t, filepath.Join(linked, "a"), "2\n")
	run("-C", linked, "commit", "-qam", "two")
	second := run("-C", linked, "rev-parse", "HEAD")
	if m := moves(linked, before); m.To != second {
		t.Errorf("in a linked worktree: %+v, want %s", m, second)
	}
	if m := moves(dir, before); m.To != first {
		t.Errorf("in the main one: %+v, want %s", m, first)
	}
	run("switch", "-qc", "x")
	run("merge", "-q", "--ff-only", "task")
	if m := moves(dir, before); m != (git.HeadMoves{From: zero, To: second, FromBranch: "main", ToBranch: "x"}) {
		t.Errorf("a switch and a merge: %+v", m)
	}
	log := filepath.Join(dir, ".git", "logs", "HEAD")
	for name, text := range map[string]string{
		"nothing": "", "rubbish": "x\n\n\t\x00", "half a line": zero + " " + first + " ann <a@b> 99999999999", "no number": zero + " " + first + " a <b> x +0000\tcommit: x\n",
	} {
		write(t, log, text)
		if m := moves(dir, before); m.From != "" {
			t.Errorf("%s in the reflog: %+v", name, m)
		}
	}
	os.Remove(log)
	if m := moves(dir, before); m.From != "" {
		t.Errorf("no reflog: %+v", m)
	}
	if _, inTree, err := git.MovesSince(t.TempDir(), before); inTree || err != nil {
		t.Errorf("outside of a working tree: %t, %v", inTree, err)
	}
}

func TestCommitsBetween(t *testing.T) {
	dir, run := repo(t)
	commit := func(name, author string) string {
		t.Helper()
		write(t, filepath.Join(dir, name), author)
		run("add", ".")
		run("commit", "-qm", "a message\n\nof several lines", "--author", author+" <a@example.com>")
		return run("rev-parse", "HEAD")
	}
	first := commit("a", "ann")
	commit("b\nodd", "Bob Lee")
	last := commit("c", "ann")
	run("config", "log.showSignature", "true")
	run("config", "gpg.program", filepath.Join(dir, "c"))
	authors, paths, err := git.CommitsBetween(t.Context(), os.Environ(), dir, first, last, 10)
	if err != nil || !slices.Equal(authors, []string{"ann", "Bob Lee"}) || len(paths) != 2 || !paths["b\nodd"] || !paths["c"] {
		t.Errorf("%q, %v, %v", authors, paths, err)
	}
	if authors, _, err := git.CommitsBetween(t.Context(), os.Environ(), dir, first, last, 1); err != nil || len(authors) != 1 {
		t.Errorf("at most one: %q, %v", authors, err)
	}
	if _, _, err := git.CommitsBetween(t.Context(), os.Environ(), dir, "--all", last, 1); err == nil {
		t.Error("an option is accepted as a commit")
	}
}

// Files are found by their times, and no filter of the repository runs.
func TestWrittenSince(t *testing.T) {
	dir, run := repo(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	at := time.Now().Add(-time.Hour)
	old := func(names ...string) {
		for _, name := range names {
			if err := os.Chtimes(in(name), at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(t, in("tracked"), "a\n")
	write(t, in("kept"), "a\n")
	write(t, in(".gitignore"), "ignored\n")
	run("add", ".")
	run("commit", "-qm", "one")
	ran, program := in("ignored"), in("kept.sh")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+ran+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	run("config", "filter.evil.clean", program)
	run("config", "core.fsmonitor", program)
	write(t, in(".git/info/attributes"), "* filter=evil\n")
	write(t, in("tracked"), "b\n")
	write(t, in("loose"), "b\n")
	old("kept", ".gitignore", "kept.sh")
	got, err := git.WrittenSince(t.Context(), os.Environ(), dir, at.Add(time.Minute))
	slices.Sort(got)
	if err != nil || !slices.Equal(got, []string{"loose", "tracked"}) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a filter of the repository ran")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := git.WrittenSince(ctx, os.Environ(), dir, at); err == nil {
		t.Error("no time is left, and there is no error")
	}
}
