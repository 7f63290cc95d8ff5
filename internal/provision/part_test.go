package provision_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/provision"
)

// The condition of a file determines what each verb does with it: see the table in the
// comment on condition.
func TestConditionsOfParts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const skill = ".claude/skills/swarm/SKILL.md"
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	read := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	edit := func(t *testing.T, path string) {
		put(t, filepath.Dir(path), filepath.Base(path), read(path)+"# mine\n", 0o644)
	}
	become := map[string]func(t *testing.T, dir, path string){
		"absent": func(t *testing.T, _, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
		"current": func(*testing.T, string, string) {},
		// Another version wrote the file, so the manifest has the hash of that content.
		"outdated": func(t *testing.T, dir, path string) {
			now := read(path)
			edit(t, path)
			manifest := read(filepath.Join(dir, ".claude-swarm/setup.json"))
			put(t, dir, ".claude-swarm/setup.json", strings.ReplaceAll(manifest, hash(now), hash(now+"# mine\n")), 0o600)
		},
		"edited": func(t *testing.T, _, path string) { edit(t, path) },
	}
	type row struct{ init, upgrade, reset, check provision.State }
	for file, conditions := range map[string]map[string]row{
		skill: {
			"absent":   {provision.Made, provision.Made, provision.Made, provision.Missing},
			"current":  {provision.There, provision.There, provision.There, provision.Current},
			"outdated": {provision.Remade, provision.Remade, provision.Remade, provision.Drifted},
			"edited":   {provision.Kept, provision.Kept, provision.Remade, provision.Drifted},
		},
		config.Name: {
			"absent":   {provision.Made, provision.Made, provision.Made, provision.Missing},
			"current":  {provision.There, provision.There, provision.There, provision.Current},
			"outdated": {provision.There, provision.Remade, provision.Remade, provision.Drifted},
			"edited":   {provision.There, provision.There, provision.There, provision.Present},
		},
	} {
		for condition, want := range conditions {
			t.Run(file+" "+condition, func(t *testing.T) {
				dir := t.TempDir()
				verbs := []struct {
					name string
					run  func() (provision.Report, error)
					want provision.State
				}{
					{"check", func() (provision.Report, error) { return provision.Check(dir) }, want.check},
					{"init", func() (provision.Report, error) { return provision.Init(dir, provision.Options{}) }, want.init},
					{"init --upgrade", func() (provision.Report, error) { return provision.Init(dir, provision.Options{Upgrade: true}) }, want.upgrade},
					{"init --reset", func() (provision.Report, error) { return provision.Init(dir, provision.Options{Reset: true}) }, want.reset},
				}
				for _, verb := range verbs {
					if _, err := provision.Remove(dir, provision.RemoveOptions{Purge: true}); err != nil {
						t.Fatal(err)
					}
					if err := os.RemoveAll(filepath.Join(dir, file)); err != nil { // Remove keeps an edited file
						t.Fatal(err)
					}
					initIn(t, dir, provision.Options{Skill: true})
					become[condition](t, dir, filepath.Join(dir, file))
					r, err := verb.run()
					if err != nil {
						t.Fatalf("%s: %v", verb.name, err)
					}
					got := provision.State("nothing")
					for _, i := range r.Items {
						if i.Path == file {
							got = i.State
						}
					}
					if got != verb.want {
						t.Errorf("%s: %s, want %s", verb.name, got, verb.want)
					}
				}
			})
		}
	}
}
