package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// For any file, the result is either a project with agents and absolute paths, or errors
// that each name a position in the file.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/bad/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range append(paths, "testdata/first-document.yaml", "template.yaml") {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		_, text, found := strings.Cut(string(data), "-- claude-swarm.yaml --\n")
		if !found {
			text = string(data)
		}
		text, _, _ = strings.Cut(text, "-- want --\n")
		f.Add([]byte(text))
	}
	f.Add([]byte("!%0A")) // a tag with a line break
	f.Add([]byte("max_running: \"a\\nb\"\nagents: {a: {model: !!int \"\\n\"}}"))
	f.Add([]byte("agents: &a {a: *a}"))
	f.Add([]byte("a\u0085b: \u2028c: d\r: e"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := config.Parse("/p/claude-swarm.yaml", data)
		if err == nil {
			if len(got.Agents) == 0 || got.Running() < 1 || !filepath.IsAbs(got.ProjectDir) || !filepath.IsAbs(got.DeadDropDir) {
				t.Fatalf("a file without error gives %+v", got)
			}
			for _, a := range got.Agents {
				if a.Name == "" || len(a.Client.Command) == 0 || !filepath.IsAbs(a.Client.Dir) || a.Client.Stall <= 0 {
					t.Fatalf("a file without error gives the agent %+v", a)
				}
			}
			return
		}
		errs, ok := errors.AsType[config.Errors](err)
		if !ok || len(errs) == 0 {
			t.Fatalf("Parse: %v, want config.Errors", err)
		}
		lines := strings.Split(strings.TrimPrefix(string(data), "\ufeff"), "\n")
		last := 0
		for _, e := range errs {
			if e.Problem == "" || strings.ContainsFunc(e.Problem+e.Try, unicode.IsControl) {
				t.Fatalf("problem %q, try %q, want one line each", e.Problem, e.Try)
			}
			if e.Line < 1 || e.Line > len(lines) || e.Column < 1 || e.Column > utf8.RuneCountInString(lines[e.Line-1])+1 {
				t.Fatalf("%v: there is no such place in the file of %d lines", e, len(lines))
			}
			if e.Line < last {
				t.Fatalf("%v: comes after a problem of line %d", e, last)
			}
			last = e.Line
		}
	})
}
