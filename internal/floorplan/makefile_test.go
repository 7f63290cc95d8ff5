package floorplan_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	claudeswarm "github.com/claude-swarm/claude-swarm"
	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// makeIn runs a Makefile target in a scratch folder. Files of the given sizes replace
// the programs that the target would build.
func makeIn(t *testing.T, sizes map[string]int64, args ...string) (dir, out string, err error) {
	t.Helper()
	need.Program(t, "make")
	dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, size := range sizes {
		path := filepath.Join(dir, "bin", name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho "+name+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if size > 0 {
			if err := os.Truncate(path, size); err != nil {
				t.Fatal(err)
			}
		}
	}
	root := strings.TrimSpace(goList(t, "-m", "-f", "{{.Dir}}"))
	cmd := exec.CommandContext(t.Context(), "make", append([]string{"--no-print-directory", "-C", dir, "-f", filepath.Join(root, "Makefile"), "-o", "build"}, args...)...)
	said, err := cmd.CombinedOutput()
	return dir, string(said), err
}

func TestMakeInstall(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "a prefix")
	_, out, err := makeIn(t, map[string]int64{"claude-swarm": 0}, "install", "PREFIX="+prefix)
	if err != nil {
		t.Fatalf("make install: %v\n%s", err, out)
	}
	said, err := exec.CommandContext(t.Context(), filepath.Join(prefix, "bin", "claude-swarm")).Output()
	if string(said) != "claude-swarm\n" || err != nil {
		t.Errorf("the installed program says %q, %v", said, err)
	}
	if want := `export PATH="` + prefix + `/bin:$PATH"`; !strings.Contains(out, want) {
		t.Errorf("make install into a folder that is not on the PATH does not say %s:\n%s", want, out)
	}
	stage := t.TempDir()
	if _, out, err := makeIn(t, map[string]int64{"claude-swarm": 0}, "install", "PREFIX=/usr/local", "DESTDIR="+stage); err != nil {
		t.Fatalf("make install DESTDIR: %v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(stage, "usr/local/bin/claude-swarm")); err != nil {
		t.Error(err)
	}
}

// The size target fails if the program is larger than the limit.
func TestTheSizeOfTheProgram(t *testing.T) {
	for name, tc := range map[string]struct {
		sizes map[string]int64
		ok    bool
		want  string
	}{
		"as large as it may be": {map[string]int64{"claude-swarm": 24_000_000}, true, "claude-swarm: 24000000 bytes of at most 24000000"},
		"a byte more":           {map[string]int64{"claude-swarm": 24_000_001}, false, "claude-swarm is too large"},
	} {
		_, out, err := makeIn(t, tc.sizes, "size")
		if (err == nil) != tc.ok || !strings.Contains(out, tc.want) {
			t.Errorf("%s: make size ends with %v, want %q:\n%s", name, err, tc.want, out)
		}
	}
}

// The Makefile installs the clients of clients.lock, in their versions.
func TestTheMakefileReadsTheLock(t *testing.T) {
	need.Program(t, "make")
	root := strings.TrimSpace(goList(t, "-m", "-f", "{{.Dir}}"))
	more := filepath.Join(t.TempDir(), "more.mk")
	if err := os.WriteFile(more, []byte("shown:\n\t@echo $(patsubst $(TOOLS)/%,%,$(call CLI_FILE,$(CLI_OLDEST)) $(call CLI_FILE,$(CLI_NEWEST)) $(ACP_FILES))\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "make", "--no-print-directory", "-C", root, "-f", "Makefile", "-f", more, "shown").Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, c := range claudeswarm.Clients() {
		if c.Name == "claude" {
			want = append(want, "claude/"+c.Oldest+"/node_modules/.bin/claude", "claude/"+c.Newest+"/node_modules/.bin/claude")
		} else {
			want = append(want, "acp/"+c.Name+"/"+c.Newest+"/node_modules/.bin/"+c.Program)
		}
	}
	if got := strings.TrimSpace(string(out)); got != strings.Join(want, " ") {
		t.Errorf("make installs\n%s\nwant\n%s", got, strings.Join(want, " "))
	}
}
