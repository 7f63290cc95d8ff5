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

// A disk that refuses a single change, whichever one, is an error: nothing is reported as
// made or removed that is not. The same command then completes it.
func TestNoRefusedChangeIsPassedOver(t *testing.T) {
	prepare := func(t *testing.T, dir string) {
		put(t, dir, ".gitignore", "*.o\n", 0o644)
		put(t, dir, ".mcp.json", "{\"mcpServers\":{\"files\":{\"command\":\"x\"}}}", 0o644)
		put(t, dir, ".claude/settings.json", "{\"model\": \"opus\"}\n", 0o600)
		put(t, dir, "claude-swarm.yaml", "# mine\nagents:\n  coder: {role: x}\n", 0o640)
	}
	for name, tr := range map[string]trip{"init": initTrip, "attach by plugin": attachTrip(t, provision.ByPlugin), "attach by settings": attachTrip(t, provision.BySettings)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := inMemory(t)
			prepare(t, dir)
			before := snapshot(t, dir)
			for n, refused := 0, true; refused; n++ {
				var makes, removes string
				err := tr.make(dir, refuse(n, &makes))
				if (err != nil) != (makes != "") || err != nil && !errors.Is(err, errCut) {
					t.Fatalf("made without %q: %v", makes, err)
				}
				if err := tr.make(dir, nil); err != nil {
					t.Fatalf("made again after %q: %v", makes, err)
				}
				if r, err := provision.Check(dir); err != nil || !r.Sound() {
					t.Fatalf("made again after %q: Check = %s, %v", makes, items(r), err)
				}
				err = tr.remove(dir, refuse(n, &removes))
				if (err != nil) != (removes != "") || err != nil && !errors.Is(err, errCut) {
					t.Fatalf("removed without %q: %v", removes, err)
				}
				if err := tr.remove(dir, nil); err != nil {
					t.Fatalf("removed again after %q: %v", removes, err)
				}
				if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
					t.Fatalf("removed again after %q and %q, -before +after:\n%s", makes, removes, diff)
				}
				refused = makes != "" || removes != ""
			}
		})
	}
}

// refuse returns a Step function that refuses only the change with number n, and stores
// what that was.
func refuse(n int, what *string) func(string) error {
	return func(change string) error {
		n--
		if n == -1 {
			*what = change
			return errCut
		}
		return nil
	}
}

// A folder of mailboxes that init never finished goes, but not what somebody else put there.
func TestMailboxesThatWereNeverFinished(t *testing.T) {
	for name, mine := range map[string]string{"ours alone": "", "a file of mine": "notes.txt", "a file of mine with a name like ours": "version-1"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			initIn(t, dir, provision.Options{})
			drop := filepath.Join(dir, ".dead-drop")
			if err := os.RemoveAll(drop); err != nil {
				t.Fatal(err)
			}
			put(t, dir, ".dead-drop/gitignore-abcdefghij", "*\n", 0o600)
			if mine != "" {
				put(t, dir, ".dead-drop/"+mine, "mine\n", 0o600)
			}
			if _, err := provision.Remove(dir, provision.RemoveOptions{}); err != nil {
				t.Fatalf("Remove = %v", err)
			}
			left, err := os.ReadDir(drop)
			switch {
			case mine == "" && !errors.Is(err, os.ErrNotExist):
				t.Errorf("%d files are left, %v, want no folder", len(left), err)
			case mine != "" && (len(left) != 1 || left[0].Name() != mine):
				t.Errorf("left: %v, %v, want only %s", left, err, mine)
			}
		})
	}
}

// If a person has changed the entry of an attached agent, the person is told to remove it.
// An entry that is gone, or that is no longer marked as ours, is the person's business.
func TestAnEntryThatWasChangedIsNamed(t *testing.T) {
	const yaml = "agents:\n  bob:\n    role: x\n  cy:\n    role: x\n"
	for name, c := range map[string]struct {
		change func(text string) string
		named  bool
	}{
		"as it was": {func(text string) string { return text }, false},
		"changed": {func(text string) string {
			return strings.Replace(text, "  cy:\n    # >>> claude-swarm >>>\n", "  cy:\n    # >>> claude-swarm >>>\n    # mine\n", 1)
		}, true},
		"taken out": {func(string) string {
			return "agents:\n  bob:\n    # >>> claude-swarm >>>\n    attached: true\n    # <<< claude-swarm <<<\n    role: x\n"
		}, false},
		"taken over": {func(string) string { return "agents:\n  bob:\n    role: x\n  cy:\n    attached: true\n    role: x\n" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "claude-swarm.yaml", yaml, 0o644)
			for _, agent := range []string{"bob", "cy"} {
				if _, err := attachAs(t, dir, agent, provision.ByPlugin); err != nil {
					t.Fatal(err)
				}
			}
			text, err := os.ReadFile(filepath.Join(dir, "claude-swarm.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			put(t, dir, "claude-swarm.yaml", c.change(string(text)), 0o644)
			r, err := provision.Remove(dir, provision.RemoveOptions{Agent: "cy"})
			if err != nil {
				t.Fatal(err)
			}
			if named := strings.Contains(fmt.Sprint(r.Items), "cy's entry was changed"); named != c.named {
				t.Errorf("the report names the entry: %v, want %v\n%v\n%s", named, c.named, r.Items, c.change(string(text)))
			}
		})
	}
}
