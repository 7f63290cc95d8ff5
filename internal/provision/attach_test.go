package provision_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/provision"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

func attachTrip(t *testing.T, way provision.Way) trip {
	program, err := os.Executable() // resolves links, as Check does
	if err != nil {
		t.Fatal(err)
	}
	return trip{
		make: func(dir string, step func(string) error) error {
			if _, err := provision.Init(dir, provision.Options{Step: step}); err != nil {
				return err
			}
			_, err := provision.Attach(dir, provision.AttachOptions{Agent: "ada", Program: program, Way: way, Step: step})
			return err
		},
		remove: initTrip.remove,
	}
}

func TestRemoveUndoesAttach(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const mine = "# mine\nagents:\n    coder:\n        role: x\n"
	ways := map[provision.Way]string{provision.ByPlugin: "empty", provision.BySettings: "somebody's .claude/settings.json", provision.ByTools: "carriage returns"}
	for way, folder := range ways {
		for name, yaml := range map[string]string{"the template": "", "a file of mine": mine, "with carriage returns": strings.ReplaceAll(mine, "\n", "\r\n")} {
			if way != provision.BySettings && name == "with carriage returns" {
				continue
			}
			t.Run(string(way)+", "+name, func(t *testing.T) {
				t.Parallel()
				attachTrip(t, way).test(t, func(t *testing.T, dir string) {
					folders[folder](t, dir)
					put(t, dir, ".mcp.json", "{\"mcpServers\":{\"files\":{\"command\":\"x\"}}}", 0o644)
					if yaml != "" {
						put(t, dir, "claude-swarm.yaml", yaml, 0o640)
					}
				})
			})
		}
	}
}

func attach(t *testing.T, dir string, way provision.Way) (provision.AttachReport, error) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return provision.Attach(dir, provision.AttachOptions{Agent: "ada", Program: program, Way: way, Home: filepath.Join(dir, "home")})
}

func TestDetachOneLeavesTheOthers(t *testing.T) {
	dir := t.TempDir()
	initIn(t, dir, provision.Options{})
	before := snapshot(t, dir)
	if _, err := attach(t, dir, ""); err != nil {
		t.Fatal(err)
	}
	file, err := config.Load(filepath.Join(dir, config.Name))
	if err != nil {
		t.Fatal(err)
	}
	if a, ok := file.Agent("ada"); !ok || !a.Attached || len(file.Agents) != 3 {
		t.Fatalf("agents %v, ada %+v", file.Names(), a)
	}
	if _, err := provision.Remove(dir, provision.RemoveOptions{Agent: "ada"}); err != nil {
		t.Fatal(err)
	}
	after := snapshot(t, dir)
	for name, was := range before {
		if strings.HasSuffix(name, ".json") || name == "claude-swarm.yaml" { // the manifest and the modification time of claude-swarm.yaml change
			continue
		}
		if after[name] != was {
			t.Errorf("%s was %q and is %q", name, was, after[name])
		}
	}
	if text, _ := os.ReadFile(filepath.Join(dir, config.Name)); string(text) != config.Template() {
		t.Errorf("claude-swarm.yaml = %s", text)
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			t.Errorf("%s is left", name)
		}
	}
	if r, err := provision.Check(dir); err != nil || !r.Sound() || r.Items[0].State == provision.Missing {
		t.Errorf("Check = %+v, %v", r, err)
	}
}

func TestAttachTakesOverAnAgent(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, config.Name, "agents:\n  ada:\n    role: x\n", 0o644)
	if _, err := attach(t, dir, ""); err != nil {
		t.Fatal(err)
	}
	want := "agents:\n  ada:\n    # >>> claude-swarm >>>\n    attached: true\n    # <<< claude-swarm <<<\n    role: x\n"
	if text, _ := os.ReadFile(filepath.Join(dir, config.Name)); string(text) != want {
		t.Errorf("claude-swarm.yaml = %s", text)
	}
	dir = t.TempDir()
	put(t, dir, config.Name, "agents: {coder: {}}\n", 0o644)
	_, err := attach(t, dir, "")
	if e, ok := errors.AsType[*provision.EntryError](err); !ok || !strings.Contains(e.Line(), "ada: {attached: true}") {
		t.Errorf("Attach = %v, want an EntryError that says what to write", err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, config.Name)); string(text) != "agents: {coder: {}}\n" {
		t.Errorf("claude-swarm.yaml was changed to %s", text)
	}
}

// A foreign file is not overwritten.
func TestAttachConflicts(t *testing.T) {
	for name, c := range map[string]struct{ file, text string }{
		"somebody's /inbox":      {".claude/commands/inbox.md", "mine"},
		"broken settings":        {".claude/settings.json", "{ // mine\n}"},
		"strange hooks":          {".claude/settings.json", `{"hooks": []}`},
		"strange Stop hooks":     {".claude/settings.json", `{"hooks": {"Stop": {}}}`},
		"a list":                 {".claude/settings.json", `[]`},
		"somebody's own server":  {".mcp.json", `{"mcpServers": {"dead-drop": {}}}`},
		"an empty settings file": {".claude/settings.json", ``},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, config.Name, "agents:\n  ada: {attached: true}\n", 0o644)
			put(t, dir, c.file, c.text, 0o644)
			if _, err := attach(t, dir, provision.BySettings); err == nil {
				t.Error("Attach = nil, want an error")
			}
			if text, _ := os.ReadFile(filepath.Join(dir, c.file)); string(text) != c.text {
				t.Errorf("%s was changed to %s", c.file, text)
			}
		})
	}
}

func TestEntriesInSettings(t *testing.T) {
	for name, before := range map[string]string{
		"empty":      "{}",
		"spaces":     "{\n}\n",
		"others":     `{"a": {"hooks": {"Stop": []}}, "model": "x"}`,
		"no events":  `{"hooks": {}}`,
		"an event":   `{"hooks": {"Stop": []}, "z": [1, 2]}`,
		"their hook": `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}], "PreToolUse": []}}`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, config.Name, "agents:\n  ada: {attached: true}\n", 0o644)
			put(t, dir, ".claude/settings.json", before, 0o644)
			if _, err := attach(t, dir, provision.BySettings); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(dir, ".claude/settings.json"))
			if err != nil {
				t.Fatal(err)
			}
			var was, is struct{ Hooks map[string][]json.RawMessage }
			var all map[string]any
			if err := errors.Join(json.Unmarshal(text, &is), json.Unmarshal(text, &all), json.Unmarshal([]byte(before), &was)); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			for _, event := range []string{"SessionStart", "Stop", "TaskCreated", "TaskCompleted", "SessionEnd"} {
				got := is.Hooks[event]
				if len(got) != len(was.Hooks[event])+1 || !strings.Contains(string(got[0]), "--as ada || exit 1 # >>> claude-swarm >>>") {
					t.Errorf("%s = %s", event, got)
				}
			}
			if strings.Contains(before, "theirs") && !strings.Contains(string(text), "theirs") {
				t.Error("their hook is gone")
			}
		})
	}
}

// A changed plugin is reported; --upgrade keeps it, and --reset recreates it.
func TestAPluginThatDrifted(t *testing.T) {
	dir := t.TempDir()
	initIn(t, dir, provision.Options{})
	if _, err := attach(t, dir, ""); err != nil {
		t.Fatal(err)
	}
	hooks := filepath.Join(dir, ".claude-swarm/attach/ada/hooks/hooks.json")
	good, _ := os.ReadFile(hooks)
	if err := os.WriteFile(hooks, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := provision.Check(dir)
	if err != nil || r.Sound() || !strings.Contains(items(r), "drifted .claude-swarm/attach/ada/hooks/hooks.json") {
		t.Errorf("Check = %s, %v", items(r), err)
	}
	if got := items(initIn(t, dir, provision.Options{Upgrade: true})); !strings.Contains(got, "kept .claude-swarm/attach/ada/hooks/hooks.json") {
		t.Errorf("Upgrade: %s", got)
	}
	if got := items(initIn(t, dir, provision.Options{Reset: true})); !strings.Contains(got, "remade .claude-swarm/attach/ada/hooks/hooks.json") {
		t.Errorf("Reset: %s", got)
	}
	if text, _ := os.ReadFile(hooks); string(text) != string(good) {
		t.Errorf("hooks.json = %s", text)
	}
}

func TestHooksBlocked(t *testing.T) {
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	blocked := claude.Kind().Hooks.Blocked
	if why := blocked(home, dir); why != "" {
		t.Fatal("this machine has a separate policy: " + why)
	}
	put(t, home, ".claude/settings.json", `{"disableAllHooks": true}`, 0o600)
	if why := blocked(home, dir); !strings.Contains(why, "disableAllHooks") {
		t.Errorf("Blocked = %q", why)
	}
	put(t, dir, config.Name, "agents:\n  ada: {attached: true}\n", 0o644)
	r, err := attach(t, dir, "")
	if err != nil || r.Way != provision.ByTools || r.Why == "" {
		t.Errorf("Attach = %+v, %v, want the way without hooks", r, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".claude/settings.json")); err == nil {
		t.Error("settings were made anyway")
	}
}
