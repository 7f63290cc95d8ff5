package journal

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Files that several turns share are kept for as long as the last of those turns.
func TestRotationKeepsTheStreamOfAClient(t *testing.T) {
	home := HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	age := func(name string, d time.Duration) {
		path := filepath.Join(home.Turns(), name)
		if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".now") {
			if err := home.SetNow(strings.TrimSuffix(name, ".now"), "later-1"); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(path, now.Add(-d), now.Add(-d)); err != nil {
			t.Fatal(err)
		}
	}
	const day = 24 * time.Hour
	for _, name := range []string{"first-1.json", "first-1.jsonl", "first-1.now", "between-1.json", "other-1.json", "other-1.jsonl"} {
		age(name, 11*day)
	}
	age("later-1.json", 9*day)
	if err := home.RotateTurns(10, now); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(home.Turns())
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"first-1.json", "first-1.jsonl", "first-1.now", "later-1.json"}; !slices.Equal(left, want) {
		t.Errorf("the files that are left are %v, want %v", left, want)
	}
}
