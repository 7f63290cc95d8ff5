package packages_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A second build has the same bytes, whatever the folder, the home folder, the umask, the
// time zone, the language and a person's settings for Go are.
func TestTwoBuildsHaveTheSameBytes(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	source := filepath.Join(m.dir, "another", "folder", "of the source")
	cloneSource(t, m, source)
	again := filepath.Join(m.dir, "dist")
	env := []string{"TZ=Pacific/Kiritimati", "LC_ALL=tr_TR.UTF-8", "GOFLAGS=-mod=mod", "GOAMD64=v2", "SOURCE_DATE_EPOCH="}
	if full {
		env = append(env, "GOCACHE="+filepath.Join(m.dir, "cache"))
	}
	// make runs in a shell with another umask.
	umask := filepath.Join(m.dir, "bin")
	if err := os.Mkdir(umask, 0o755); err != nil {
		t.Fatal(err)
	}
	real, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(umask, "go"), []byte("#!/bin/sh\numask 077\nexec "+real+" \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := makePackages(t.Context(), source, again, append(env, "PATH="+umask+":"+os.Getenv("PATH"))...); err != nil {
		t.Fatalf("make packages in a clone: %v\n%s", err, out)
	}
	first, second := listing(t, made), listing(t, again)
	if got, want := strings.Join(second, "\n"), strings.Join(first, "\n"); got != want {
		t.Fatalf("the second build made\n%s\nthe first one made\n%s", got, want)
	}
	for _, name := range first {
		if !bytes.Equal(read(t, filepath.Join(made, name)), read(t, filepath.Join(again, name))) {
			t.Errorf("two builds of %s differ", name)
		}
	}

	// The program in a package is the one that make builds.
	if out, err := exec.CommandContext(t.Context(), "make", "--no-print-directory", "-C", source, "build").CombinedOutput(); err != nil {
		t.Fatalf("make build: %v\n%s", err, out)
	}
	packed, err := exec.CommandContext(t.Context(), "tar", "-xzOf", packageFile(".tar.gz"), strings.TrimSuffix(filepath.Base(packageFile("")), "/")+"/bin/claude-swarm").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(packed, read(t, filepath.Join(source, "bin", "claude-swarm"))) {
		t.Error("the program in the package differs from the one that make builds")
	}
}

// cloneSource copies the source with its history, and with the changes that are not committed.
func cloneSource(t *testing.T, m *machine, to string) {
	t.Helper()
	m.run("git", "-c", "safe.directory=*", "clone", "--quiet", "--shared", repository, to)
	changed := m.run("git", "-c", "safe.directory=*", "-C", repository, "ls-files", "-z", "--modified", "--others", "--exclude-standard")
	for _, name := range strings.Split(strings.TrimSuffix(changed, "\x00"), "\x00") {
		if name == "" || strings.HasPrefix(name, ".tools") {
			continue
		}
		from, err := os.Open(filepath.Join(repository, name))
		if os.IsNotExist(err) {
			if err := os.Remove(filepath.Join(to, name)); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(from)
		from.Close()
		if err == nil {
			err = os.MkdirAll(filepath.Join(to, filepath.Dir(name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// checksums.txt names every package, and sha256sum accepts it.
func TestChecksums(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.dir = made
	m.run("sha256sum", "--check", "--strict", "--quiet", "checksums.txt")
	sums := string(read(t, filepath.Join(made, "checksums.txt")))
	notes := string(read(t, filepath.Join(made, "release-notes.md")))
	for _, name := range listing(t, made) {
		if name == "checksums.txt" || name == "release-notes.md" {
			continue
		}
		if line := fmt.Sprintf("%x  %s\n", sha256.Sum256(read(t, filepath.Join(made, name))), name); !strings.Contains(sums, line) {
			t.Errorf("checksums.txt has no line %q:\n%s", line, sums)
		}
		if !strings.Contains(notes, "| `"+name+"` |") {
			t.Errorf("the release notes do not name %s", name)
		}
	}
	if !strings.HasPrefix(notes, "# claude-swarm "+version+"\n") {
		t.Errorf("the release notes begin with %.60q", notes)
	}
}
