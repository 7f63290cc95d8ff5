package mailslot

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

var sample = Digest{
	Store: "/a/b \"c\"\n/.dead-drop", Options: dropbox.Options{MaxBody: 8192, MaxWaiting: 10_000, MaxHops: -1},
	Tasks: true, Stop: "<<<HALT>>>", Agents: []string{"coder", "reviewer"},
}

func kept(t *testing.T, d Digest, content string) (home string) {
	t.Helper()
	home = t.TempDir()
	if err := d.Keep(home, "/a/claude-swarm.yaml", []byte(content)); err != nil {
		t.Fatal(err)
	}
	return home
}

func TestDigestComesBack(t *testing.T) {
	for _, want := range []Digest{sample, {Store: "/x"}} {
		home := kept(t, want, "agents: {}\n")
		got, ok := readDigest(home, "/a/claude-swarm.yaml", []byte("agents: {}\n"))
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(dropbox.Options{}, "Step", "Now")); !ok || diff != "" {
			t.Errorf("read = %t, -kept +read:\n%s", ok, diff)
		}
		if left, err := filepath.Glob(filepath.Join(home, ".digest-*")); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

// A digest holds for the very file that it was made of.
func TestDigestOfAnotherFile(t *testing.T) {
	home := kept(t, sample, "agents: {coder: }\n")
	for name, ask := range map[string][2]string{
		"another content": {"/a/claude-swarm.yaml", "agents: {coder: {}}\n"},
		"another folder":  {"/b/claude-swarm.yaml", "agents: {coder: }\n"},
		"nothing":         {"", ""},
	} {
		if d, ok := readDigest(home, ask[0], []byte(ask[1])); ok {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if d, ok := readDigest(t.TempDir(), "/a/claude-swarm.yaml", []byte("agents: {coder: }\n")); ok {
		t.Errorf("no digest: %+v", d)
	}
}

// A power cut may leave any part of the file, or zeros in the place of it.
func TestDigestThatIsBroken(t *testing.T) {
	const content = "agents: {coder: }\n"
	home := kept(t, sample, content)
	path := filepath.Join(home, "digest")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	try := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if d, ok := readDigest(home, "/a/claude-swarm.yaml", []byte(content)); ok {
			t.Errorf("%s: %+v", name, d)
		}
	}
	for n := range whole {
		try(fmt.Sprintf("%d bytes", n), string(whole[:n]))
		try(fmt.Sprintf("zeros from %d on", n), string(whole[:n])+strings.Repeat("\x00", len(whole)-n))
	}
	for _, change := range [][2]string{{"body 8192", "body x"}, {"tasks true", "tasks 2"}, {"agent ", "agents "}, {"store ", "store x"}} {
		try(change[1], strings.Replace(string(whole), change[0], change[1], 1))
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if d, ok := readDigest(home, "/a/claude-swarm.yaml", []byte(content)); ok {
		t.Errorf("a folder: %+v", d)
	}
}
