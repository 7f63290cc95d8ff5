package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// module has one package without a fault, one with a data race that the detector sees, and
// one without tests.
var module = map[string]string{
	"go.mod":         "module example.com/m\n\ngo 1.26\n",
	"none/none.go":   "package none\n",
	"good/a_test.go": "package good\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n",
	"racy/a_test.go": `package racy

import "testing"

func TestA(t *testing.T) {
	n, done := 0, make(chan bool)
	go func() { n++; close(done) }()
	n++
	<-done
}
`,
}

func TestARaceIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with the race detector")
	}
	cc, err := exec.CommandContext(t.Context(), "go", "env", "CC").Output()
	if err != nil {
		t.Fatal(err)
	}
	need.Program(t, strings.TrimSpace(string(cc))) // the race detector needs a C compiler
	t.Chdir(t.TempDir())
	for name, text := range module {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := run(t.Context(), &out, options{jobs: 2}); err == nil {
		t.Errorf("a stress test without time passed:\n%s", &out)
	}
	out.Reset()
	err = run(t.Context(), &out, options{time: time.Second, jobs: 2})
	if !errors.Is(err, errFailed) || !strings.Contains(out.String(), "WARNING: DATA RACE") {
		t.Errorf("run = %v, want the race:\n%s", err, &out)
	}
	if kept, _ := filepath.Glob(filepath.Join(logs, "racy-*.log")); len(kept) == 0 {
		t.Error("the output of the failed run is not kept")
	}
	if good, _ := filepath.Glob(filepath.Join(logs, "good-*.log")); len(good) != 0 {
		t.Errorf("the good package failed: %q", good)
	}
}
