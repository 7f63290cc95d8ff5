package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// example contains code for every rule to change, and code that no rule changes.
const example = `package example

type box struct{ f *os.File }

func syncDir(name string) error { return nil }

func syncAll(names []string) []error { return nil }

func (b *box) save(n int, errs []error) (err error) {
	if err := b.f.Sync(); err != nil && n > 0 {
		return err
	}
	if err == nil {
		err = os.Rename("a", "b")
	}
	if errors.Is(err, fs.ErrExist) || b.f == nil {
		return nil
	}
	switch {
	case errs[0] != nil:
	case syncDir("x") != nil, n<<2 <= 4:
	}
	syncAll(nil)
	return err == nil && err == nil
}

func (box) many() (int, error) { return 0, nil }

func none(a, b int) int { return a + b }
`

// mutate generates all mutants of one file.
func mutate(t *testing.T, src string) []mutant {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "example.go", src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	g := &generator{onlyErrors: map[string]bool{}}
	g.learn(file)
	return g.mutants("example", "example.go", []byte(src), fset, file)
}

func TestRules(t *testing.T) {
	drops := func(call string) string { return "func() (err error) { if false { err = " + call + " }; return }()" }
	want := [][3]string{
		{"10 drop", "b.f.Sync()", drops("b.f.Sync()")},
		{"10 logic", "err != nil && n > 0", "(err != nil || n > 0)"},
		{"10 ignore", "err != nil", "(err != nil && false)"},
		{"10 edge", "n > 0", "n >= 0"},
		{"10 flip", "n > 0", "n <= 0"},
		{"13 ignore", "err == nil", "(err == nil || true)"},
		{"14 drop", `os.Rename("a", "b")`, drops(`os.Rename("a", "b")`)},
		{"16 logic", "errors.Is(err, fs.ErrExist) || b.f == nil", "(errors.Is(err, fs.ErrExist) && b.f == nil)"},
		{"16 flip", "b.f == nil", "b.f != nil"},
		{"20 ignore", "errs[0] != nil", "(errs[0] != nil && false)"},
		{"21 ignore", `syncDir("x") != nil`, `(syncDir("x") != nil && false)`},
		{"21 drop", `syncDir("x")`, drops(`syncDir("x")`)},
		{"21 edge", "n<<2 <= 4", "n<<2 < 4"},
		{"21 flip", "n<<2 <= 4", "n<<2 > 4"},
		{"24 logic", "err == nil && err == nil", "(err == nil || err == nil)"},
		{"24 ignore", "err == nil", "(err == nil || true)"},
		{"24 ignore", "err == nil", "(err == nil || true)"},
	}
	var got [][3]string
	for _, m := range mutate(t, example) {
		line, _, _ := strings.Cut(strings.TrimPrefix(m.String(), "example/example.go:"), " in ")
		got = append(got, [3]string{strings.Replace(line, ":", "", 1), m.was, m.with})
		if m.fn != "(*box).save" {
			t.Errorf("%v is in %s", m, m.fn)
		}
		after := string(m.apply([]byte(example)))
		if strings.Count(after, "\n") != strings.Count(example, "\n") {
			t.Errorf("%v moves the lines below it", m)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "", after, 0); err != nil {
			t.Errorf("%v does not parse: %v", m, err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mutants (-want +got):\n%s", diff)
	}
}

// A name identifies one mutant and does not depend on the code above it in the file.
func TestNames(t *testing.T) {
	before, after := mutate(t, example), mutate(t, strings.Replace(example, "type box", "\n// More.\n\ntype box", 1))
	var names []string
	for i, m := range before {
		if m.id() != after[i].id() {
			t.Errorf("%s is %s after lines were added above it", m.id(), after[i].id())
		}
		if slices.Contains(names, m.id()) {
			t.Errorf("%s is the name of two mutants", m.id())
		}
		names = append(names, m.id())
	}
	if want := "example/example.go ignore (*box).save: err == nil #3"; names[len(names)-1] != want {
		t.Errorf("the last one is %s, want %s", names[len(names)-1], want)
	}
}

// The listed files exist. The selection contains a mutant for every rule that applies to a
// file, and is the same each time.
func TestTheSet(t *testing.T) {
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := generate(root, targets)
	if err != nil {
		t.Fatal(err)
	}
	chosen, oneIn := sample(all, 0)
	t.Logf("%d mutants in all, one in %d of each rule in each file: %d", len(all), oneIn, len(chosen))
	if len(chosen) > enough || len(chosen) < enough*2/3 {
		t.Errorf("%d are chosen, want about %d", len(chosen), enough)
	}
	rules := func(of []mutant) (names []string) {
		for _, m := range of {
			names = append(names, m.pkg+"/"+m.file+" "+string(m.rule))
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	if diff := cmp.Diff(rules(all), rules(chosen)); diff != "" {
		t.Errorf("rules in files without a chosen mutant (-all +chosen):\n%s", diff)
	}
	again, _ := sample(all, 0)
	if !slices.Equal(chosen, again) {
		t.Error("a second sample is different")
	}
	for _, m := range all {
		src, err := os.ReadFile(filepath.Join(root, m.pkg, m.file))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "", m.apply(src), parser.SkipObjectResolution); err != nil {
			t.Errorf("%v does not parse: %v", m, err)
		}
	}
}

// If one mutant is removed, at most one mutant drops out of the selection.
func TestTheChoiceIsStable(t *testing.T) {
	all := mutate(t, example)
	for i := range all {
		less := slices.Delete(slices.Clone(all), i, i+1)
		before, after := choose(all, 2), choose(less, 2)
		stay := 0
		for _, m := range before {
			if slices.Contains(after, m) {
				stay++
			}
		}
		if stay < len(before)-1 {
			t.Errorf("without %s only %d of %d are still chosen", all[i].id(), stay, len(before))
		}
	}
}

func TestEquivalents(t *testing.T) {
	got, err := parseEquivalents("# about\n\na/b.go flip f: x == y\n\tIt is\n\tthe same.\n")
	if err != nil || got["a/b.go flip f: x == y"] != "It is the same." {
		t.Errorf("parseEquivalents = %q, %v", got, err)
	}
	for _, text := range []string{"a/b.go flip f: x == y\n", "\tA reason.\n", "a\n\tx\na\n\ty\n"} {
		if got, err := parseEquivalents(text); err == nil {
			t.Errorf("parseEquivalents(%q) = %q, want an error", text, got)
		}
	}
}

func TestFailure(t *testing.T) {
	for out, want := range map[string]string{
		"--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\n        --- FAIL: TestA/b/c (0.00s)\nFAIL\n":    "TestA/b/c",
		"--- FAIL: TestA (0.00s)\n--- FAIL: TestB (0.00s)\n":                                                     "TestA",
		"--- FAIL: TestA (0.00s)\npanic: oh no\n\ngoroutine 1\n":                                                 "panic: oh no",
		"panic: test timed out after 30s\n\trunning tests:\n\t\tTestA (29s)\n\t\tTestA/b (29s)\n\ngoroutine 1\n": "TestA without an end",
		"killed\n": `the tests ended with "killed"`,
	} {
		if got := failure([]byte(out)); got != want {
			t.Errorf("failure(%q) = %q, want %q", out, got, want)
		}
	}
}
