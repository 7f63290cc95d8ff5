//go:build linux

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// ours is the rig that all tests use.
var ours *rig

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() { // runs without the rig and skips the tests that need it
		os.Exit(m.Run())
	}
	code, moved, err := moveInside()
	if err == nil && !moved {
		code, err = inRig(m)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		code = 1
	}
	os.Exit(code)
}

func inRig(m *testing.M) (int, error) {
	var err error
	if ours, err = newRig(context.Background(), 5*time.Second); err != nil {
		return 0, err
	}
	defer ours.close()
	flag.Parse()
	if !explicit("test.parallel") {
		if err := flag.Set("test.parallel", "4"); err != nil {
			return 0, err
		}
	}
	return m.Run(), nil
}

// explicit reports whether a flag was given.
func explicit(name string) (given bool) {
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}

// TestFaults injects the faults that are not rare, in their short form.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 90 seconds")
	}
	for _, f := range faults {
		if f.rare {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel() // the faults spend more time waiting than working
			r := f.row(t.Context(), ours, f.short)
			if r.Skipped != "" && r.Failed == "" {
				t.Skip(r.Skipped)
			}
			if r.wrong() {
				t.Error("a promise was broken")
			}
			write(testOutput{t}, []row{r})
		})
	}
}

type testOutput struct{ t *testing.T }

func (o testOutput) Write(p []byte) (int, error) {
	o.t.Helper()
	o.t.Logf("%s", p)
	return len(p), nil
}

// The page that documents the guarantees names every fault, and the names fit in the
// table.
func TestEveryFaultIsInTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/dev/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		if !strings.Contains(string(page), "| `"+f.name+"` |") {
			t.Errorf("docs/dev/reliability.md does not name %q", f.name)
		}
		if len(f.name) > 25 {
			t.Errorf("%q is too long for the table", f.name)
		}
	}
}
