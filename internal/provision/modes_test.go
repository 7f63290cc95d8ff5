package provision_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/provision"
)

// projectVar tells TestFixModes which project to use when it runs in a separate process.
const projectVar = "SWARM_TEST_PROJECT"

// nobody is the id of a user other than root. The test needs it because root may read and
// write everything.
const nobody = 65534

// TestFixModes removes permissions from a project's folders, and lets doctor restore them
// as a user who needs them.
func TestFixModes(t *testing.T) {
	if dir := os.Getenv(projectVar); dir != "" {
		fixModes(t, dir)
		return
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "claude-swarm.yaml"), []byte("agents: {coder: {}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := provision.Init(dir, provision.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, ".claude-swarm"), 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		err := filepath.WalkDir(filepath.Dir(dir), func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, nobody, nobody))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestFixModes$", "-test.v")
	cmd.Env = append(os.Environ(), projectVar+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestFixModes") {
		t.Errorf("%v\n%s", err, out)
	}
}

func fixModes(t *testing.T, dir string) {
	if os.Getuid() == 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
			t.Fatal(err)
		}
	}
	look := func() []provision.Finding {
		return provision.Examine(t.Context(), provision.DoctorOptions{
			Config: filepath.Join(dir, "claude-swarm.yaml"), Version: "1.0",
			Getenv: func(name string) string { return map[string]string{"HOME": "/h"}[name] },
		})
	}
	for _, tc := range []struct {
		path, finding string
		mode          fs.FileMode
	}{
		{".dead-drop/coder/new", "mailboxes", 0},
		{".dead-drop/coder/cur", "mailboxes", 0o555},
		{".dead-drop/coder", "mailboxes", 0},
		{".dead-drop/lead/new", "mailboxes", 0},
		{".dead-drop", "mailboxes", 0},
		{".claude-swarm", "daemon's folder", 0o555},
		{".claude-swarm", "daemon's folder", 0o500},
	} {
		path := filepath.Join(dir, tc.path)
		if err := os.Chmod(path, tc.mode); err != nil {
			t.Fatal(err)
		}
		var bad []provision.Finding
		for _, f := range of(look(), tc.finding) {
			if f.Grade != provision.Good {
				bad = append(bad, f)
			}
		}
		if len(bad) != 1 || bad[0].Grade != provision.Wrong || !strings.Contains(bad[0].Text, path) || !bad[0].Fixable {
			t.Errorf("%s with mode %04o: %+v, want that it is wrong and can be fixed", tc.path, tc.mode, bad)
			continue
		}
		if err := bad[0].Fix(); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s is fixed to %v (%v), want 0700", tc.path, info.Mode(), err)
		}
		for _, f := range of(look(), tc.finding) {
			if f.Grade != provision.Good {
				t.Errorf("%s is fixed: %+v", tc.path, f)
			}
		}
	}
}
