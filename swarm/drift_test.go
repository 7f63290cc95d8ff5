package swarm_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// A repo is a git repository whose commits are made at a chosen time.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T, dir string) repo {
	t.Helper()
	r := repo{t, dir}
	r.git(time.Now(), "init", "-q", "-b", "main")
	r.write("tracked.txt", "one\n", time.Now().Add(-time.Hour))
	r.write(".gitignore", "/ignored.txt\n/.claude-swarm/\n", time.Now().Add(-time.Hour))
	r.commit(time.Now().Add(-time.Hour), "ann")
	return r
}

func (r repo) git(at time.Time, args ...string) {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	stamp := fmt.Sprintf("%d +0000", at.Unix())
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_COMMITTER_DATE="+stamp, "GIT_AUTHOR_DATE="+stamp,
		"GIT_COMMITTER_NAME=c", "GIT_COMMITTER_EMAIL=c@example.com")
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (r repo) commit(at time.Time, author string) {
	r.t.Helper()
	r.git(at, "add", "tracked.txt", ".gitignore")
	r.git(at, "commit", "-qm", "work", "--author", author+" <"+author+"@example.com>")
}

func (r repo) write(name, text string, at time.Time) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		r.t.Fatal(err)
	}
}

// The prompt says what a person has committed, switched and written since the agent's last turn.
func TestDriftIsInThePrompt(t *testing.T) {
	f := newField(t, "coder")
	r := newRepo(t, f.dir)
	f.start()
	f.answer(f.send("coder", "@say first"))
	f.answer(f.send("coder", "@say nothing has changed"))

	later := time.Now().Add(time.Hour) // a reflog and a file's time are exact to a second or so
	r.write("tracked.txt", "two\n", later)
	r.commit(later, "Ann Lee")
	r.write("loose.txt", "x", later)
	r.write("ignored.txt", "x", later)
	f.answer(f.send("coder", "@say third"))

	r.git(later, "switch", "-qc", "other")
	f.answer(f.send("coder", "@say fourth"))
	prompts := f.prompts()
	if len(prompts) != 4 {
		t.Fatalf("%d prompts", len(prompts))
	}
	for _, p := range prompts[:2] {
		if strings.Contains(p, "your folder has changed") {
			t.Errorf("nothing has changed:\n%s", p)
		}
	}
	if !strings.Contains(prompts[2], ` (1 commit by "Ann Lee").`+"\nFiles that were written and not committed: loose.txt.\n\nMessage ") ||
		!strings.HasPrefix(prompts[2], "claude-swarm: turn for coder\n\nSince your last turn ended at ") {
		t.Errorf("the third prompt:\n%s", prompts[2])
	}
	if !strings.Contains(prompts[3], "; the branch was switched from main to other.\n\nMessage ") {
		t.Errorf("the fourth prompt:\n%s", prompts[3])
	}
}

// The prompt names the files that another agent has written meanwhile, once each.
func TestDriftNamesOtherAgents(t *testing.T) {
	f := newField(t, "coder", "reviewer")
	newRepo(t, f.dir)
	f.start()
	f.answer(f.send("coder", "@say first"))
	f.answer(f.send("reviewer", "@write notes.txt fine"))
	f.answer(f.send("coder", "@say second"))
	f.answer(f.send("coder", "@say third"))
	var coder []string
	for _, p := range f.prompts() {
		if strings.HasPrefix(p, "claude-swarm: turn for coder\n") {
			coder = append(coder, p)
		}
	}
	if len(coder) != 3 {
		t.Fatalf("%d prompts", len(coder))
	}
	if !strings.Contains(coder[1], "your folder has changed. Files that other agents wrote: reviewer: notes.txt.\n\nMessage ") {
		t.Errorf("the second prompt:\n%s", coder[1])
	}
	if strings.Contains(coder[2], "your folder has changed") {
		t.Errorf("the third prompt:\n%s", coder[2])
	}
}

// An agent whose sessions are fresh remembers no earlier state, and git is not asked.
func TestDriftIsNotForFreshSessions(t *testing.T) {
	f := newField(t, "coder")
	r := newRepo(t, f.dir)
	f.plan.Agents[0].Session = turn.SessionFresh
	f.start()
	f.answer(f.send("coder", "@say first"))
	later := time.Now().Add(time.Hour)
	r.write("tracked.txt", "two\n", later)
	r.commit(later, "ann")
	f.answer(f.send("coder", "@say second"))
	for _, p := range f.prompts() {
		if strings.Contains(p, "your folder has changed") {
			t.Errorf("the prompt:\n%s", p)
		}
	}
}

// A git that does not answer holds a turn only for a short time, and is logged once.
func TestDriftWithASlowGit(t *testing.T) {
	f := newField(t, "coder")
	r := newRepo(t, f.dir)
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	f.start()
	f.answer(f.send("coder", "@say first"))
	for i := range 2 {
		later := time.Now().Add(time.Duration(i+1) * time.Hour)
		r.write("tracked.txt", fmt.Sprint(i), later)
		r.commit(later, "ann")
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	f.answer(f.send("coder", "@say second"))
	f.answer(f.send("coder", "@say third"))
	prompts := f.prompts()
	if len(prompts) != 3 || !strings.Contains(prompts[1], "your folder has changed. HEAD moved from ") || strings.Contains(prompts[1], "commits by") {
		t.Errorf("the prompts: %q", prompts)
	}
	if n := strings.Count(f.log.String(), "git did not tell in time"); n != 1 {
		t.Errorf("logged %d times", n)
	}
}
