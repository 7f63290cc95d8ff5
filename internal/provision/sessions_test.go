package provision_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/provision"
)

// examineIn calls Examine on an existing project, with a home folder inside the project.
func examineIn(t *testing.T, dir string, env map[string]string) []provision.Finding {
	t.Helper()
	return provision.Examine(t.Context(), provision.DoctorOptions{
		Config: filepath.Join(dir, "claude-swarm.yaml"), Version: "1.0",
		Getenv: func(name string) string {
			if name == "HOME" {
				return filepath.Join(dir, "home")
			}
			return env[name]
		},
	})
}

func TestLoginHooksAndFolders(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "bin/claude", "#!/bin/sh\necho '2.1.197 (Claude Code)'\n", 0o755)
	put(t, dir, "claude-swarm.yaml", fmt.Sprintf("defaults: {command: %s}\nagents: {one: , two: , ada: {attached: true, cwd: bin}}\n", filepath.Join(dir, "bin/claude")), 0o600)
	initIn(t, dir, provision.Options{})
	expect := func(findings []provision.Finding, name string, grade provision.Grade, text string, n int) {
		t.Helper()
		got := of(findings, name)
		if len(got) != n || n > 0 && (got[0].Grade != grade || !strings.Contains(got[0].Text, text)) {
			t.Errorf("%s: %+v, want %d, %s with %q", name, got, n, grade, text)
		}
		for _, f := range findings {
			if (f.Grade != provision.Good) != (f.Try != "") {
				t.Errorf("%+v: a finding says what to do if, and only if, it is not good", f)
			}
		}
	}
	f := examineIn(t, dir, nil)
	expect(f, "login", provision.Warn, "agents one, two: neither", 1) // the attached agent uses the person's own login
	expect(f, "hooks", provision.Good, "no client setting", 1)
	expect(f, "folders", provision.Good, "one, two share", 1)
	expect(f, "set-up", provision.Good, "everything", 1)
	expect(f, "attached", provision.Good, "no session is running", 1)
	expect(examineIn(t, dir, map[string]string{"ANTHROPIC_API_KEY": "x"}), "login", provision.Good, "agents one, two: by ANTHROPIC_API_KEY", 1)

	put(t, dir, "home/.claude/.credentials.json", "{}", 0o600)
	put(t, dir, "home/.claude/settings.json", `{"disableAllHooks": true}`, 0o600)
	f = examineIn(t, dir, nil)
	expect(f, "login", provision.Good, ".credentials.json", 1)
	expect(f, "hooks", provision.Warn, "disableAllHooks", 1)

	put(t, dir, ".claude-swarm/attached/ada.json", `{"v":1,"agent":"ada","process":{"pid":4194304,"start":1}}`, 0o600)
	expect(examineIn(t, dir, nil), "attached", provision.Warn, "has died", 1)
}

func TestFix(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "claude-swarm.yaml", "agents: {one: {command: no-such-client}}\n", 0o600)
	put(t, dir, ".gitignore", "*.o\n", 0o644)
	initIn(t, dir, provision.Options{})
	err := errors.Join(os.Chmod(filepath.Join(dir, ".dead-drop"), 0o755), os.Chmod(filepath.Join(dir, ".claude-swarm"), 0o755),
		os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*.o\n"), 0o644), os.RemoveAll(filepath.Join(dir, ".dead-drop/one")))
	if err != nil {
		t.Fatal(err)
	}
	fixed := 0
	for _, f := range examineIn(t, dir, nil) {
		if !f.Fixable {
			if err := f.Fix(); err == nil {
				t.Errorf("%+v: Fix returned no error", f)
			}
			continue
		}
		fixed++
		if err := f.Fix(); err != nil {
			t.Errorf("%+v: %v", f, err)
		}
	}
	if fixed < 4 {
		t.Errorf("%d were fixed, want both modes, the mailbox and the line", fixed)
	}
	for _, f := range examineIn(t, dir, nil) {
		if f.Fixable {
			t.Errorf("still to be fixed: %+v", f)
		}
	}
	for _, name := range []string{".dead-drop", ".claude-swarm"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}
