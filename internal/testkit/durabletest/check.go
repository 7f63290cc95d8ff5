// Package durabletest simulates a power failure in the middle of a write, for tests of
// code that uses package durable.
package durabletest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// A Cut simulates a power failure before one change on disk: neither this change nor any
// later one is made.
type Cut struct {
	Before int            // number of changes before the cut
	Steps  []durable.Step // all requested changes, whether made or not
}

// ErrCut is the error that every change after the cut returns.
var ErrCut = errors.New("the power was cut")

// Step is the hook for [durable.Files].
func (c *Cut) Step(s durable.Step) error {
	c.Steps = append(c.Steps, s)
	if len(c.Steps) > c.Before {
		return ErrCut
	}
	return nil
}

// Check tests that a write is durable. The function write writes the file at path through
// f, with content that depends on n. Check calls it once with n = 1 and no cut, and then
// with n = 2 for every possible cut. After a cut, write must return [ErrCut], and the
// file must contain one of the two versions in full. Without a cut, the content must be
// synced before the file is renamed to path.
func Check(t *testing.T, path string, write func(f durable.Files, n int) error) {
	t.Helper()
	if err := write(durable.Files{}, 1); err != nil {
		t.Fatal(err)
	}
	first := read(t, path)
	whole := &Cut{Before: 1 << 30}
	if err := write(durable.Files{Step: whole.Step}, 2); err != nil {
		t.Fatal(err)
	}
	second := read(t, path)
	if first == second {
		t.Fatalf("%s has the same content after both writes", filepath.Base(path))
	}
	var ops []durable.Op
	for _, s := range whole.Steps {
		if filepath.Base(s.Path) == filepath.Base(path) {
			ops = append(ops, s.Op)
		}
	}
	want := []durable.Op{durable.Create, durable.Fill, durable.Sync, durable.Rename, durable.SyncDir}
	if diff := cmp.Diff(want, ops); diff != "" {
		t.Errorf("the changes of %s, -want +got\n%s", filepath.Base(path), diff)
	}
	for n := range len(whole.Steps) {
		if err := write(durable.Files{}, 1); err != nil {
			t.Fatal(err)
		}
		cut := &Cut{Before: n}
		err := write(durable.Files{Step: cut.Step}, 2)
		if !errors.Is(err, ErrCut) {
			t.Errorf("cut before change %d: write returned %v", n, err)
		}
		if got := read(t, path); got != first && got != second {
			t.Errorf("cut before change %d: %s has another content: %q", n, filepath.Base(path), got)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
