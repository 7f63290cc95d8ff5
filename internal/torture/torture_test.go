//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"
)

// ours is what all tests try faults with.
var ours *rig

func TestMain(m *testing.M) {
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
	return m.Run(), nil
}

// TestFaults injects each fault in its short form.
func TestFaults(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
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
