package provision_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/provision"
)

func attachAs(t *testing.T, dir, agent string, way provision.Way) (provision.AttachReport, error) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return provision.Attach(dir, provision.AttachOptions{Agent: agent, Program: program, Way: way, Home: filepath.Join(dir, "home")})
}

// Two agents are attached in each combination of the three ways, in the same folder or in
// two folders. Attaching the second agent overwrites nothing that belongs to the first:
// either both work, or the second is refused without any change. Everything that was created
// can be removed, in any order, without leaving a trace.
func TestTwoAttachedAgents(t *testing.T) {
	const (
		newOnes = "# mine\nagents:\n  coder: {role: coder}\n"
		known   = "agents:\n  bob:\n    role: x\n  coder: {role: coder}\n  cy:\n    role: x\n"
		apart   = "agents:\n  bob:\n    cwd: sub/bob\n  coder: {role: coder}\n  cy:\n    cwd: sub/cy\n"
	)
	for folder, yaml := range map[string]string{"one folder": newOnes, "one folder, known agents": known, "two folders": apart, "the template": ""} {
		for _, first := range provision.Ways {
			for _, second := range provision.Ways {
				t.Run(fmt.Sprintf("%s, %s, %s", folder, first, second), func(t *testing.T) {
					t.Parallel()
					works := folder == "two folders" || first == provision.ByPlugin && second == provision.ByPlugin
					for _, order := range []string{"bob cy", "cy bob", ""} {
						dir := inMemory(t)
						prepareTwo(t, dir, yaml)
						before := snapshot(t, dir)
						initIn(t, dir, provision.Options{})
						mine := files(t, dir)
						tryTwo(t, dir, first, second, works)
						for role := range strings.FieldsSeq(order) {
							if _, err := provision.Remove(dir, provision.RemoveOptions{Agent: role}); err != nil {
								t.Fatal(err)
							}
						}
						if order != "" {
							if diff := cmp.Diff(mine, files(t, dir)); diff != "" {
								t.Errorf("after --role %s, -before +after:\n%s", order, diff)
							}
						}
						if _, err := provision.Remove(dir, provision.RemoveOptions{}); err != nil {
							t.Fatal(err)
						}
						if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
							t.Errorf("removed in the order %q, -before +after:\n%s", order, diff)
						}
					}
				})
			}
		}
	}
}

func prepareTwo(t *testing.T, dir, yaml string) {
	t.Helper()
	put(t, dir, ".gitignore", "*.o\n", 0o644)
	put(t, dir, ".claude/settings.json", "{\"hooks\": {\"Stop\": []}, \"model\": \"opus\"}\n", 0o600)
	put(t, dir, "sub/cy/.mcp.json", "{\"mcpServers\":{\"files\":{\"command\":\"x\"}}}", 0o644)
	put(t, dir, "sub/bob/.claude/commands/mine.md", "mine\n", 0o644)
	if yaml != "" {
		put(t, dir, "claude-swarm.yaml", yaml, 0o640)
	}
}

func tryTwo(t *testing.T, dir string, first, second provision.Way, works bool) {
	t.Helper()
	if _, err := attachAs(t, dir, "bob", first); err != nil {
		t.Fatalf("bob: %v", err)
	}
	alone := snapshot(t, dir)
	_, err := attachAs(t, dir, "cy", second)
	if !works {
		e, ok := errors.AsType[*provision.OccupiedError](err)
		if !ok || e.Agent != "bob" || e.Try == "" {
			t.Errorf("cy: %v, want an OccupiedError that names bob and says what to do", err)
		}
		if diff := cmp.Diff(alone, snapshot(t, dir)); diff != "" {
			t.Errorf("the refused Attach made changes, -before +after:\n%s", diff)
		}
	} else if err != nil {
		t.Fatalf("cy: %v", err)
	}
	if r, err := provision.Check(dir); err != nil || !r.Sound() {
		t.Errorf("Check = %s, %v", items(r), err)
	}
	made := snapshot(t, dir)
	for _, o := range []provision.Options{{Upgrade: true}, {Reset: true}} {
		if r := initIn(t, dir, o); r.Changed() {
			t.Errorf("Init %+v changed %s", o, items(r))
		}
	}
	if diff := cmp.Diff(made, snapshot(t, dir)); diff != "" {
		t.Errorf("init --upgrade and --reset change it, -before +after:\n%s", diff)
	}
}

// When an earlier version attached two agents, it put the entry of the second inside the
// fence of the first, or overwrote the files of the first with those of the second.
func TestTwoThatAnEarlierVersionAttached(t *testing.T) {
	for _, name := range []string{"two-by-plugin", "two-by-settings"} {
		for _, order := range []string{"bob cy", "cy bob", ""} {
			t.Run(name+", "+order, func(t *testing.T) {
				dir := unpack(t, name)
				for role := range strings.FieldsSeq(order) {
					if _, err := provision.Remove(dir, provision.RemoveOptions{Agent: role}); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := provision.Remove(dir, provision.RemoveOptions{}); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(earlier, files(t, dir)); diff != "" {
					t.Errorf("after Remove, -want +got:\n%s", diff)
				}
			})
		}
	}
	// Check reports what was overwritten, and running attach --way plugin for both agents
	// repairs it.
	dir := unpack(t, "two-by-settings")
	initIn(t, dir, provision.Options{Upgrade: true})
	r, err := provision.Check(dir)
	if err != nil || r.Sound() {
		t.Errorf("Check = %s, %v, want what bob lacks", items(r), err)
	}
	for _, agent := range []string{"cy", "bob"} {
		if _, err := attachAs(t, dir, agent, provision.ByPlugin); err != nil {
			t.Fatalf("%s: %v", agent, err)
		}
	}
	if r, err := provision.Check(dir); err != nil || !r.Sound() {
		t.Errorf("Check = %s, %v", items(r), err)
	}
}

// The person's own text around our lines remains, regardless of which of our lines are
// removed.
func TestOneOfTwoIsTakenOutOfAChangedFile(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "claude-swarm.yaml", "agents:\n  bob:\n    role: x\n  cy:\n    role: x\n", 0o644)
	for _, agent := range []string{"bob", "cy"} {
		if _, err := attachAs(t, dir, agent, provision.ByPlugin); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "claude-swarm.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "claude-swarm.yaml", "# mine\n"+string(text)+"  dora: {}\n", 0o644)
	if _, err := provision.Remove(dir, provision.RemoveOptions{Agent: "cy"}); err != nil {
		t.Fatal(err)
	}
	want := "# mine\nagents:\n  bob:\n    # >>> claude-swarm >>>\n    attached: true\n    # <<< claude-swarm <<<\n    role: x\n  cy:\n    role: x\n  dora: {}\n"
	if text, _ := os.ReadFile(path); string(text) != want {
		t.Errorf("without cy:\n%s\nwant\n%s", text, want)
	}
	if _, err := provision.Remove(dir, provision.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	want = "# mine\nagents:\n  bob:\n    role: x\n  cy:\n    role: x\n  dora: {}\n"
	if text, _ := os.ReadFile(path); string(text) != want {
		t.Errorf("without both:\n%s\nwant\n%s", text, want)
	}
}
