package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// This module has a package for each way in which a package can end.
var module = map[string]string{
	"go.mod":         "module example.com/m\n\ngo 1.26\n",
	"none/none.go":   "package none\n",
	"good/a_test.go": "package good\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Run(\"sub\", func(*testing.T) {}) }\nfunc TestB(t *testing.T) { t.Log(\"silent\") }\n",
	"gaps/a_test.go": `package gaps

import "testing"

func TestTmux(t *testing.T)  { t.Skip("not run: tmux is missing") }
func TestTmux2(t *testing.T) { t.Run("sub", func(t *testing.T) { t.Skip("not run: tmux is missing") }) }
func TestShort(t *testing.T) { t.Skip("takes seconds") }
`,
	"bad/a_test.go": `package bad

import "testing"

func TestA(t *testing.T) { t.Log("silent") }
func TestB(t *testing.T) { t.Run("sub", func(t *testing.T) { t.Error("the reason") }) }
`,
	"panics/a_test.go": "package panics\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Log(\"just before\"); panic(\"boom\") }\n",
	"broken/a_test.go": "package broken\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { missing() }\n",
	"exits/a_test.go":  "package exits\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestA(t *testing.T) { os.Exit(3) }\n",
}

// sumUp runs the tests of some packages of the module, and returns what is printed, without
// the times.
func sumUp(t *testing.T, packages ...string) (status int, printed string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range module {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var out strings.Builder
	status, err := run(t.Context(), &out, 0, packages)
	if err != nil {
		t.Fatal(err)
	}
	return status, regexp.MustCompile(` +[0-9.]+ s\n|[(][0-9.]+s[)]`).ReplaceAllString(out.String(), "\n")
}

func TestAllThatPasses(t *testing.T) {
	status, got := sumUp(t, "-p=1", "./none", "./good", "--", "-skip=TestShort", "./gaps", "--", "-run=TestShort", "./gaps")
	want := "ok   good\nok   gaps\nok   gaps\n\nnot run: 2 tests, because tmux is missing\n3 passed, 0 failed, 2 skipped\n"
	if diff := cmp.Diff(want, got); diff != "" || status != 0 {
		t.Errorf("status %d (-want +got):\n%s", status, diff)
	}
}

// A failure in one run of go test is the result, although the next run passes.
func TestTheRunsAreOneResult(t *testing.T) {
	if status, got := sumUp(t, "./bad", "--", "./good"); status != 1 || !strings.HasSuffix(got, "\n3 passed, 1 failed, 0 skipped\n") {
		t.Errorf("status %d:\n%s", status, got)
	}
}

func TestWhatFails(t *testing.T) {
	for pkg, want := range map[string]struct {
		has, lacks []string
		counts     string
	}{
		"bad":    {[]string{"--- FAIL: TestB", "a_test.go:6: the reason", "FAIL bad\n"}, []string{"silent", "=== RUN", "FAIL\n---", "example.com/m"}, "1 passed, 1 failed, 0 skipped"},
		"panics": {[]string{"just before", "panic: boom", "FAIL panics\n"}, nil, "0 passed, 1 failed, 0 skipped"},
		"broken": {[]string{"undefined: missing", "FAIL broken\n"}, nil, "0 passed, 1 failed, 0 skipped"},
		"exits":  {[]string{"FAIL exits\n"}, nil, "0 passed, 1 failed, 0 skipped"},
	} {
		t.Run(pkg, func(t *testing.T) {
			status, got := sumUp(t, "./"+pkg)
			if status != 1 || !strings.HasSuffix(got, "\n\n"+want.counts+"\n") {
				t.Errorf("status %d, want 1 and %q at the end:\n%s", status, want.counts, got)
			}
			for _, text := range want.has {
				if !strings.Contains(got, text) {
					t.Errorf("no %q in:\n%s", text, got)
				}
			}
			for _, text := range want.lacks {
				if strings.Contains(got, text) {
					t.Errorf("%q in:\n%s", text, got)
				}
			}
		})
	}
}
