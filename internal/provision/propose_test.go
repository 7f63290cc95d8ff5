package provision_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/provision"
)

func TestPropose(t *testing.T) {
	dir := t.TempDir()
	if p := provision.Propose(t.Context(), dir); len(p.Agents) != 0 || p.Config() != "" {
		t.Errorf("without git: %+v, want the template", p)
	}
	folders["a git repository with worktrees"](t, dir)
	git(t, dir, "worktree", "add", "-q", "-b", "Feature/Fast Parser!"[:12], filepath.Join(t.TempDir(), "lead"))
	gone := filepath.Join(t.TempDir(), "gone")
	git(t, dir, "worktree", "add", "-q", "-b", "gone", gone)
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "gemini"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	p := provision.Propose(t.Context(), dir)
	var got []string
	for _, a := range p.Agents {
		got = append(got, a.Name)
	}
	if diff := cmp.Diff([]string{"coder", "reviews", "feature-fast"}, got); diff != "" {
		t.Errorf("agents, -want +got:\n%s", diff)
	}
	if !strings.Contains(strings.Join(p.Programs, " "), "gemini") {
		t.Errorf("programs %v lack gemini", p.Programs)
	}
	r := initIn(t, dir, provision.Options{Config: p.Config()})
	file, err := config.Load(r.Config)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.CheckFolders(); err != nil {
		t.Error(err)
	}
	if a, ok := file.Agent("reviews"); !ok || a.Cwd != filepath.Join(dir, "wt", "reviews") {
		t.Errorf("reviews = %+v, %v", a, ok)
	}
}

func TestProposalConfig(t *testing.T) {
	p := provision.Proposal{Command: "/opt/my claude/bin --flag", PermissionMode: "plan",
		Agents: []provision.Proposed{{Name: "one"}, {Name: "two", Dir: "a folder: odd"}}}
	file, err := config.Parse("/p/claude-swarm.yaml", []byte(p.Config()))
	if err != nil {
		t.Fatalf("%v\n%s", err, p.Config())
	}
	two, _ := file.Agent("two")
	if two.Cwd != "/p/a folder: odd" || two.PermissionMode != "plan" || len(two.Command) != 3 || len(file.Agents) != 2 {
		t.Errorf("two = %+v of %v", two, file.Names())
	}
	if strings.Count(config.Template(), "\nagents:\n") != 1 || strings.Count(config.Template(), "\nlog:\n") != 1 {
		t.Error("the template has changed its shape")
	}
}
