package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/git"
)

// repo makes a repository, and returns its folder and a function that runs git in it.
func repo(t *testing.T) (dir string, run func(args ...string) string) {
	t.Helper()
	dir = t.TempDir()
	run = func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=ann", "-c", "user.email=ann@example.com"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "-q", "-b", "main")
	return dir, run
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The repository's own configuration neither runs a program nor changes the form of a diff.
func TestDiff(t *testing.T) {
	dir, run := repo(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	write(t, in("kept"), "a\nb\nc\n")
	write(t, in("gone"), "x\n")
	write(t, in("moved"), strings.Repeat("same\n", 20))
	write(t, in("picture.bin"), "a\x00b")
	run("add", ".")
	run("commit", "-qm", "one")
	base := run("rev-parse", "HEAD")

	ran := in("ran")
	program := in("program.sh")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+ran+"\ncat \"$1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{
		"diff.external": program, "diff.evil.textconv": program, "diff.evil.command": program, "diff.noprefix": "true", "diff.mnemonicPrefix": "true",
		"color.ui": "always", "diff.renames": "true", "core.pager": program, "core.fsmonitor": program, "diff.context": "0",
	} {
		run("config", key, value)
	}
	write(t, in(".git/info/attributes"), "* diff=evil\n")
	write(t, in("kept"), "a\nB\nc\n")
	write(t, in("odd \"näme\"\n"), "diff --git a/x b/x\n")
	write(t, in("picture.bin"), "a\x00c")
	run("mv", "moved", "there")
	run("rm", "-q", "gone")
	run("add", "kept", "odd*", "picture.bin")
	run("commit", "-qm", "two")
	commit := run("rev-parse", "HEAD")
	os.Remove(ran) // add and commit may have run the person's programs

	g, err := git.Find(t.Context(), "", os.Environ(), dir)
	if err != nil {
		t.Fatal(err)
	}
	files, err := g.Diff(t.Context(), base, commit)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]git.FileDiff{
		"gone": {Status: 'D', Deleted: 1}, "kept": {Status: 'M', Added: 1, Deleted: 1}, "moved": {Status: 'D', Deleted: 20},
		"odd \"näme\"\n": {Status: 'A', Added: 1}, "picture.bin": {Status: 'M', Binary: true}, "there": {Status: 'A', Added: 20},
	}
	if len(files) != len(want) {
		t.Errorf("%d files, want %d", len(files), len(want))
	}
	for _, f := range files {
		patch := f.Patch
		w, ok := want[f.Path]
		w.Path, f.Patch = f.Path, ""
		if !ok || f != w {
			t.Errorf("%+v, want %+v", f, w)
		}
		if !strings.HasPrefix(patch, "diff --git ") || strings.Contains(patch, "\x1b") {
			t.Errorf("patch of %q: %q", f.Path, patch)
		}
		if f.Path == "kept" && !strings.HasSuffix(patch, "--- a/kept\n+++ b/kept\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n") {
			t.Errorf("patch: %q", patch)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the repository ran")
	}

	if same, err := g.Diff(t.Context(), commit, commit); err != nil || len(same) != 0 {
		t.Errorf("nothing changed: %v, %v", same, err)
	}
	for _, bad := range []string{"--output=" + in("out"), "main", "HEAD~1", ""} {
		if _, err := g.Diff(t.Context(), bad, commit); err == nil {
			t.Errorf("the base %q is accepted", bad)
		}
	}
	if _, err := g.Diff(t.Context(), strings.Repeat("a", 40), commit); err == nil {
		t.Error("a commit that does not exist is accepted")
	}
}
