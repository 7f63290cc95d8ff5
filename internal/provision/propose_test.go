package provision_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/provision"
	"github.com/claude-swarm/claude-swarm/internal/testkit/execfile"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

func TestPropose(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", "/usr/bin:/bin")
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
	if err := execfile.Write(filepath.Join(bin, "gemini"), []byte("#!/bin/sh\n")); err != nil {
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
	if !slices.ContainsFunc(p.Installed, func(k *runner.Kind) bool { return k.Name == "gemini" }) {
		t.Errorf("the installed kinds %v lack gemini", p.Installed)
	}
	r := initIn(t, dir, provision.Options{Config: p.Config()})
	file, err := config.Load(r.Config)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.CheckFolders(); err != nil {
		t.Error(err)
	}
	if a, ok := file.Agent("reviews"); !ok || a.Client.Dir != filepath.Join(dir, "wt", "reviews") {
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
	if two.Client.Dir != "/p/a folder: odd" || two.Client.PermissionMode != "plan" || len(two.Client.Command) != 3 || len(file.Agents) != 2 {
		t.Errorf("two = %+v of %v", two, file.Names())
	}
	// The proposed agents replace only the template's agents.
	section := regexp.MustCompile(`(?m)^#?[a-z_]+:`)
	if diff := cmp.Diff(section.FindAllString(config.Template(), -1), section.FindAllString(p.Config(), -1)); diff != "" {
		t.Errorf("sections, -template +proposal:\n%s", diff)
	}
	if text := p.Config(); strings.Contains(text, "reviewer:\n") || !strings.Contains(text, "permission_mode allows\n\n# Which messages are allowed") {
		t.Errorf("the section of the agents does not end where it should:\n%s", text)
	}
}

// For each kind, the file that init writes is valid and names the other installed kinds.
func TestAProposalOfEachKind(t *testing.T) {
	all := backends.Kinds()
	for _, k := range all {
		p := provision.Proposal{Backend: k.Name, Installed: all[:3]}
		if k.Program() == "" {
			p.Command = "my-agent --acp"
		}
		file, err := config.Parse("/p/claude-swarm.yaml", []byte(p.Config()))
		if err != nil {
			t.Errorf("%s: %v", k.Name, err)
			continue
		}
		coder, _ := file.Agent("coder")
		if coder.Backend != k.Name || len(file.Notes()) != 0 {
			t.Errorf("%s: coder has backend %s; notes %v", k.Name, coder.Backend, file.Notes())
		}
		for _, other := range all[:3] {
			if named := strings.Contains(p.Config(), "# also installed here"); !named || other != k && !strings.Contains(p.Config(), other.Name) {
				t.Errorf("%s: the file does not name %s", k.Name, other.Name)
			}
		}
	}
	for name, c := range map[string]struct {
		p    provision.Proposal
		want string
	}{
		"nothing is installed":   {provision.Proposal{}, "claude"},
		"the first is installed": {provision.Proposal{Installed: all[:2]}, "claude"},
		"it is not":              {provision.Proposal{Installed: all[3:]}, all[3].Name},
		"another is named":       {provision.Proposal{Installed: all[:2], Backend: "cline"}, "cline"},
		"a command is named":     {provision.Proposal{Installed: all[3:], Command: "my-claude"}, "claude"},
	} {
		if got := c.p.Kind().Name; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// git does not list the work trees of a repository that belongs to another user.
func TestProposeInARepositoryOfAnotherUser(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	if err := execfile.Write(filepath.Join(bin, "git"), []byte("#!/bin/sh\nprintf \"fatal: detected dubious ownership in repository at '/a b'\\nTo add an exception\\n\" >&2\nexit 128\n")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	p := provision.Propose(t.Context(), dir)
	if p.Refused == nil || p.Refused.Next() != "git config --global --add safe.directory '/a b'" || len(p.Agents) != 0 {
		t.Errorf("Propose = %+v, %v, want the cure", p, p.Refused)
	}
}
