package config

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestDefaultRunning(t *testing.T) {
	cases := []struct {
		cores  int
		memory uint64
		want   int
	}{
		{4, 64e9, 8},
		{4, 2_400_000_000, 4}, // enough memory for four turns of 600 MB
		{4, 2_399_999_999, 3},
		{2, 100e6, 1}, // at least one, even on a very small machine
		{16, 0, 32},   // memory unknown
		{0, 64e9, 1},
		{8, math.MaxUint64, 16},
	}
	for _, c := range cases {
		if got := DefaultRunning(c.cores, c.memory); got != c.want {
			t.Errorf("DefaultRunning(%d, %d) = %d, want %d", c.cores, c.memory, got, c.want)
		}
	}
}

// This test is in the package itself because a test cannot choose the control groups of
// its machine.
func TestMemoryLimitOfTheControlGroups(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("user/app/memory.max", "max\n")
	write("user/memory.max", "1000\n")
	write("other/memory.max", "10\n")
	write("self", "1:name=systemd:/other\n0::/user/app\n")
	write("escape", "0::/../../other\n")
	write("v1", "4:memory:/other\n")
	cases := map[string]uint64{
		"self":   1000, // the limit of the parent applies
		"escape": 10,   // a path must not lead out of the root
		"v1":     math.MaxUint64,
		"gone":   math.MaxUint64,
	}
	for name, want := range cases {
		if got := cgroupLimit(filepath.Join(root, name), root); got != want {
			t.Errorf("cgroupLimit(%s) = %d, want %d", name, got, want)
		}
	}
}
