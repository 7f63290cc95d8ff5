package discovery_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
)

func TestMakeHome(t *testing.T) {
	for name, tc := range map[string]struct{ before, want string }{
		"nothing is there":   {want: discovery.IgnoreText},
		"cut off in writing": {before: "empty", want: discovery.IgnoreText},
		"somebody's own":     {before: "*\n!notes.md\n", want: "*\n!notes.md\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a", discovery.HomeName)
			path := filepath.Join(dir, discovery.IgnoreFile)
			if err := os.Mkdir(filepath.Dir(dir), 0o700); err != nil {
				t.Fatal(err)
			}
			if tc.before != "" {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				text := tc.before
				if text == "empty" {
					text = ""
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if err := discovery.MakeHome(dir); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != tc.want {
				t.Errorf("%s holds %q, %v, want %q", path, got, err, tc.want)
			}
			if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("mode of the folder: %v, %v", info, err)
			}
			if ours := discovery.IsIgnoreFile(path); ours != (tc.want == discovery.IgnoreText) {
				t.Errorf("IsIgnoreFile = %t of %q", ours, tc.want)
			}
		})
	}
}

// Neither the project's folder nor the daemon's folder comes back after it was moved, and no
// folder of another project at the old path is used.
func TestAFolderThatWasMoved(t *testing.T) {
	project := filepath.Join(t.TempDir(), "a")
	home := filepath.Join(project, discovery.HomeName)
	for range 2 {
		if err := discovery.MakeInHome(filepath.Join(home, "irc", "checks")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("MakeInHome without the daemon's folder = %v, want ErrNotExist", err)
		}
		if _, err := os.Stat(home); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the daemon's folder: %v, want ErrNotExist", err)
		}
		if err := os.MkdirAll(project, 0o700); err != nil { // by somebody else, for the second round
			t.Fatal(err)
		}
	}
	if err := os.Remove(project); err != nil {
		t.Fatal(err)
	}
	if err := discovery.MakeHome(home); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("MakeHome without the project = %v, want ErrNotExist", err)
	}
	if err := errors.Join(os.Mkdir(project, 0o700), discovery.MakeHome(home), discovery.MakeInHome(filepath.Join(home, "irc", "checks"))); err != nil {
		t.Error(err)
	}
}
