package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// The daemon writes the files of the first release byte for byte as that release wrote them.
func TestADocumentOfTheFirstReleaseIsWrittenUnchanged(t *testing.T) {
	const recorded = "../../testdata/project-v1/recording/files/claude-swarm"
	for name, restore := range map[string]func(Home) (func() error, error){
		"state.json": func(h Home) (func() error, error) {
			s, err := OpenHolds(h)
			return s.Restore, err
		},
		"sessions.json": func(h Home) (func() error, error) {
			s, err := OpenSessions(h)
			return s.Restore, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := HomeOf(t.TempDir())
			want, err := os.ReadFile(filepath.Join(recorded, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, placeholder := range []string{"@SINCE@", "@UNTIL@"} {
				want = bytes.ReplaceAll(want, []byte(placeholder), []byte("2026-11-22T05:59:33.463627Z"))
			}
			path := filepath.Join(home.Dir(), name)
			if err := errors.Join(home.Make(), os.WriteFile(path, want, 0o600)); err != nil {
				t.Fatal(err)
			}
			write, err := restore(home)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.Remove(path), write()); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
				t.Errorf("written (%v):\n%s\nwant\n%s", err, got, want)
			}
		})
	}
}
