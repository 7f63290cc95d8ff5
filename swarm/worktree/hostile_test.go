package worktree_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/worktree"
)

// trap makes each command that git can find in the repository leave a file in the returned
// folder.
func (p *project) trap() (sprung string) {
	p.Helper()
	sprung = p.TempDir()
	script := func(name string) string {
		path := filepath.Join(p.TempDir(), name)
		text := fmt.Sprintf("#!/bin/sh\necho \"$@\" >>%s/%s\ncat\nexit 0\n", sprung, name)
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			p.Fatal(err)
		}
		return path
	}
	hooks := filepath.Join(p.dir, ".git/hooks")
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change", "pre-commit", "post-commit", "fsmonitor-watchman"} {
		data, err := os.ReadFile(script("hook-" + hook))
		if err != nil {
			p.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(hooks, hook), data, 0o700); err != nil {
			p.Fatal(err)
		}
	}
	p.git("config", "core.hooksPath", hooks)
	for key, name := range map[string]string{
		"core.fsmonitor": "fsmonitor", "diff.external": "diff-external", "diff.d.textconv": "textconv", "diff.d.command": "diff-command",
		"merge.m.driver": "merge-driver", "core.sshCommand": "ssh", "core.alternateRefsCommand": "alternate-refs", "core.editor": "editor",
		"core.pager": "pager", "gpg.program": "gpg", "hook.h.command": "config-hook", "core.askPass": "askpass", "credential.helper": "credential",
	} {
		p.git("config", key, script(name))
	}
	for _, key := range []string{"alias.status", "alias.worktree", "alias.read-tree"} {
		p.git("config", key, "!"+script(key))
	}
	p.git("config", "hook.h.event", "post-checkout")
	p.git("config", "commit.gpgSign", "true")
	p.git("config", "submodule.recurse", "true")
	// The filters stand in files that the configuration includes, one of them only for the
	// trees, and their names are hard to quote.
	admins := "includeIf.gitdir:" + p.dir + "/.git/worktrees/**.path"
	for file, key := range map[string]string{"all": "include.path", "trees": admins} {
		path := filepath.Join(p.TempDir(), file)
		for _, name := range []string{file, file + "=x"} {
			for _, what := range []string{"clean", "smudge", "process"} {
				p.git("config", "--file", path, "filter."+name+"."+what, script("filter-"+file+"-"+what))
			}
			p.git("config", "--file", path, "filter."+name+".required", "true")
		}
		p.git("config", "--add", key, path)
	}
	return sprung
}

// sprungIn returns the commands that ran.
func (p *project) sprungIn(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		p.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

const attributes = "*.a filter=all diff=d merge=m\n*.b filter=all=x\n*.c filter=trees\n*.d filter=trees=x\n"

// Nothing runs that an agent wrote into the repository's configuration or hooks.
func TestNobodysCodeRuns(t *testing.T) {
	p := newProject(t)
	trees := p.open()
	r := worktree.Request{Agent: "coder", Task: "k7f3q9m2xd"}
	tree := p.make(trees, r)
	dir := trees.Path(tree)
	p.write(tree.Dir+"/.gitattributes", attributes)
	for _, kind := range []string{"a", "b", "c", "d"} {
		p.write(tree.Dir+"/file."+kind, "one\n")
	}
	p.gitIn(dir, "add", ".")
	p.gitIn(dir, "commit", "-q", "-m", "files")
	sprung := p.trap()
	change := func(text string) {
		for _, kind := range []string{"a", "b", "c", "d"} {
			p.write(tree.Dir+"/file."+kind, text)
		}
	}
	change("two\n")
	if l, err := trees.Look(t.Context(), tree); err != nil || len(l.Changed) != 4 {
		t.Errorf("look: %+v, %v", l, err)
	}
	// Without the protection, git runs the filters.
	if commit, kept, err := trees.Incomplete(t.Context(), tree, "work"); err != nil || kept != "" || commit == "" {
		t.Errorf("incomplete: %q, kept %q, %v", commit, kept, err)
	}
	change("six\n") // as long as before, so git must read the files
	change("two\n")
	if kept, err := trees.Remove(t.Context(), tree); err != nil || kept != "" {
		t.Errorf("remove: kept %q, %v", kept, err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder is still there")
	}
	p.make(p.open(), r)
	if data, err := os.ReadFile(filepath.Join(dir, "file.c")); err != nil || string(data) != "two\n" {
		t.Errorf("made again, file.c has %q, %v", data, err)
	}
	if err := p.open().Reconcile(t.Context()); err != nil {
		t.Error(err)
	}
	undo, err := trees.Listed(t.Context(), filepath.Join(p.dir, ".worktrees/gone"))
	if err != nil {
		t.Error(err)
	}
	undo()
	// The tree's own file .git names another repository.
	if err := os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: "+p.TempDir()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := trees.Look(t.Context(), tree); err != nil || l.Branch != tree.Branch {
		t.Errorf("look: %+v, %v", l, err)
	}
	if kept, err := trees.Remove(t.Context(), tree); err != nil || kept == "" {
		t.Errorf("remove with another .git: kept %q, %v", kept, err)
	}
	if got := p.sprungIn(sprung); got != "" {
		t.Fatalf("commands ran: %s", got)
	}
	// The traps work.
	p.gitIn(filepath.Join(p.dir), "status")
	if got := p.sprungIn(sprung); !strings.Contains(got, "fsmonitor") {
		t.Errorf("git itself ran only %q", got)
	}
}
