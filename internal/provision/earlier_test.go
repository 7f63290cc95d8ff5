package provision_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/claude-swarm/claude-swarm/internal/provision"
)

// earlier contains the files of the projects in testdata as they were before an agent was
// attached.
var earlier = map[string]string{
	"claude-swarm.yaml":     "agents:\n  coder: {role: coder}\n",
	".claude/settings.json": "{\"hooks\": {\"Stop\": []}, \"model\": \"opus\"}\n",
}

// unpack creates a project from testdata, with this test binary as the program.
func unpack(t *testing.T, name string) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range archive.Files {
		text := strings.NewReplacer("PROJECT", dir, "PROGRAM", program).Replace(string(f.Data))
		if filepath.Base(f.Name) == "setup.json" {
			text = rehash(t, dir, text)
		}
		put(t, dir, f.Name, text, 0o600)
	}
	return dir
}

// rehash sets the hashes in a manifest to those of the unpacked files.
func rehash(t *testing.T, dir, text string) string {
	t.Helper()
	var rec map[string]any
	if err := json.Unmarshal([]byte(text), &rec); err != nil {
		t.Fatal(err)
	}
	for _, e := range rec["made"].([]any) {
		e := e.(map[string]any)
		if e["kind"] != "file" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e["path"].(string)))
		if err != nil {
			t.Fatalf("%v: setup.json has to follow the files that it lists", err)
		}
		sum := sha256.Sum256(data)
		e["sha256"] = hex.EncodeToString(sum[:])
	}
	data, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// files returns the regular files below a folder, except the daemon's files and the
// mailboxes.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".claude-swarm" || d.Name() == ".dead-drop") {
			return fs.SkipDir
		}
		if !d.IsDir() {
			data, err := os.ReadFile(path)
			name, _ := filepath.Rel(dir, path)
			all[name] = string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Both init --upgrade and attach can update an agent that an earlier version attached.
// init --remove can remove the agent before and after the update.
func TestWhatAnEarlierVersionAttached(t *testing.T) {
	for name, c := range map[string]struct {
		way   provision.Way
		wants map[string]string // maps a file name to a string that the file must contain
	}{
		"one-by-plugin": {provision.ByPlugin, map[string]string{
			".claude-swarm/attach/ada/.claude-plugin/plugin.json": `"name": "swarm"`,
			".claude-swarm/attach/ada/hooks/hooks.json":           `"UserPromptExpansion"`,
			".claude-swarm/attach/ada/.mcp.json":                  `"alwaysLoad": true`,
		}},
		"one-by-settings": {provision.BySettings, map[string]string{
			".claude/settings.json": `"UserPromptExpansion"`,
			".mcp.json":             `"alwaysLoad": true`,
		}},
	} {
		for verb, renew := range map[string]func(dir string) error{
			"init --upgrade": func(dir string) error {
				_, err := provision.Init(dir, provision.Options{Upgrade: true})
				return err
			},
			"attach": func(dir string) error {
				program, err := os.Executable()
				if err != nil {
					return err
				}
				_, err = provision.Attach(dir, provision.AttachOptions{Agent: "ada", Program: program, Home: filepath.Join(dir, "home")})
				return err
			},
			"": nil,
		} {
			t.Run(name+", "+verb, func(t *testing.T) {
				dir := unpack(t, name)
				if r, err := provision.Check(dir); err != nil || !strings.Contains(items(r), "drifted ") {
					t.Errorf("Check = %s, %v, want what has drifted", items(r), err)
				}
				if renew != nil {
					if err := renew(dir); err != nil {
						t.Fatal(err)
					}
					for file, want := range c.wants {
						if text, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !strings.Contains(string(text), want) {
							t.Errorf("%s lacks %s: %v\n%s", file, want, err, text)
						}
					}
					initIn(t, dir, provision.Options{}) // the mailboxes
					if r, err := provision.Check(dir); err != nil || !r.Sound() {
						t.Errorf("Check = %s, %v", items(r), err)
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
}
