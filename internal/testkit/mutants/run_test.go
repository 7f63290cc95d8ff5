package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// module is a module with three functions. Its tests check two of them.
var module = map[string]string{
	"go.mod": "module example\n\ngo 1.26\n",
	"p/p.go": "package p\n\nfunc Larger(a, b int) bool { return a > b }\n\nfunc Same(a, b int) bool { return a == b }\n\n" +
		"func Wait(a int) {\n\tfor a == 1 {\n\t}\n}\n",
	"p/p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestLarger(t *testing.T) {\n\tif !Larger(2, 1) {\n\t\tt.Error(\"2 is not larger\")\n\t}\n}\n\n" +
		"func TestWait(t *testing.T) { Wait(2) }\n",
}

// newModule writes the module and generates its mutants.
func newModule(t *testing.T) (root string, of target, all []mutant) {
	t.Helper()
	root = t.TempDir()
	for name, text := range module {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	of = target{pkg: "p", files: []string{"p.go"}, first: "Larger"}
	all, err := generate(root, []target{of})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 {
		t.Fatalf("mutants: %v, want 3", all)
	}
	return root, of, all
}

// One mutant is caught by a test, one by the time limit, and one escapes; the checkout does
// not change.
func TestVerdicts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	root, of, all := newModule(t)
	b := &bench{root: root, target: of, tmp: t.TempDir(), limits: map[string]time.Duration{}}
	for _, s := range b.stages() {
		if limit, err := (&bench{root: root, target: of, tmp: t.TempDir()}).limit(t.Context(), s); err != nil || limit != leastLimit {
			t.Errorf("the limit of %s is %v, %v, want %v", s.name, limit, err, leastLimit)
		}
		b.limits[s.name] = 2 * time.Second
	}
	for i, want := range []finding{{Verdict: caught, By: "TestLarger"}, {Verdict: escaped}, {Verdict: caught, By: "TestWait without an end"}} {
		got, err := b.judge(t.Context(), all[i])
		if err != nil || got.Verdict != want.Verdict || got.By != want.By || got.Mutant != all[i].id() {
			t.Errorf("%v: %+v, %v, want %+v", all[i], got, err, want)
		}
	}
	broken := all[0]
	broken.with = "nonsense"
	if got, err := b.judge(t.Context(), broken); err != nil || got.Verdict != noBuild || !strings.Contains(got.By, "nonsense") {
		t.Errorf("a mutant that does not build: %+v, %v", got, err)
	}
	if text, err := os.ReadFile(filepath.Join(root, "p/p.go")); err != nil || string(text) != module["p/p.go"] {
		t.Errorf("the file is now %q, %v", text, err)
	}
	if left, err := os.ReadDir(b.tmp); err != nil || len(left) > 9 { // sources and overlays
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// The tests of another package run after the package's own.
func TestTestsOfTwoPackages(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	root, of, all := newModule(t)
	of.by, of.first = []string{"q"}, ""
	same := "package q\n\nimport (\n\t\"example/p\"\n\t\"testing\"\n)\n\nfunc TestSame(t *testing.T) {\n\tif !p.Same(1, 1) {\n\t\tt.Error(\"1 is not 1\")\n\t}\n}\n"
	if err := os.Mkdir(filepath.Join(root, "q"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "q/q_test.go"), []byte(same), 0o600); err != nil {
		t.Fatal(err)
	}
	b := &bench{root: root, target: of, tmp: t.TempDir()}
	for i, want := range []string{"TestLarger", "TestSame"} {
		if got, err := b.judge(t.Context(), all[i]); err != nil || got.Verdict != caught || got.By != want {
			t.Errorf("%v: %+v, %v, want that %s catches it", all[i], got, err, want)
		}
	}
}

// Tests that exceed the time limit together but not separately do not catch a mutant,
// because the machine was probably busy.
func TestTestsOfABusyMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	root, of, all := newModule(t)
	slow := "package p\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\n" +
		"func TestSlow(t *testing.T) { time.Sleep(2 * time.Second) }\n\nfunc TestSlowToo(t *testing.T) { time.Sleep(2 * time.Second) }\n"
	if err := os.WriteFile(filepath.Join(root, "p/slow_test.go"), []byte(slow), 0o600); err != nil {
		t.Fatal(err)
	}
	b := &bench{root: root, target: of, tmp: t.TempDir(), quick: true, limits: map[string]time.Duration{"first": time.Minute, "short": 3 * time.Second}}
	if f, err := b.judge(t.Context(), all[1]); err != nil || f.Verdict != escaped {
		t.Errorf("judge = %+v, %v, want that it escapes", f, err)
	}
}

// If the tests fail without a mutant, there is no verdict.
func TestTestsThatFailWithoutAMutant(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	root, of, all := newModule(t)
	bad := "package p\n\nimport \"testing\"\n\nfunc TestBad(t *testing.T) { t.Error(\"bad\") }\n"
	if err := os.WriteFile(filepath.Join(root, "p/bad_test.go"), []byte(bad), 0o600); err != nil {
		t.Fatal(err)
	}
	b := &bench{root: root, target: of, tmp: t.TempDir()}
	if f, err := b.judge(t.Context(), all[1]); err == nil || !strings.Contains(err.Error(), "without a mutant the tests fail: TestBad") {
		t.Errorf("judge = %+v, %v", f, err)
	}
}

// A finding about a caught mutant stays valid until its file changes. A finding about an
// escaped one stays valid until the package or its tests change.
func TestWhatIsKnown(t *testing.T) {
	root, of, all := newModule(t)
	file := filepath.Join(root, ".mutants")
	states := func() states {
		t.Helper()
		s, err := readStates(root, []target{of})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	k, err := openMemory(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range []verdict{caught, escaped} {
		if err := k.add(finding{Mutant: all[i].id(), Verdict: v, State: states().of(all[i], v)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := k.file.WriteString(`{"mutant":"cut of`); err != nil {
		t.Fatal(err)
	}
	known := func(what string, want ...bool) {
		t.Helper()
		k, err := openMemory(file)
		if err != nil {
			t.Fatal(err)
		}
		defer k.file.Close()
		for i, want := range want {
			if _, ok := k.known(all[i], states()); ok != want {
				t.Errorf("%s: %v is known: %v", what, all[i], ok)
			}
		}
	}
	known("at once", true, true, false)
	if err := os.WriteFile(filepath.Join(root, "p/more_test.go"), []byte("package p\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	known("with another test", true, false, false)
	if err := os.WriteFile(filepath.Join(root, "p/p.go"), []byte(module["p/p.go"]+"\n// More.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	known("with another file", false, false, false)
	if err := k.file.Close(); err != nil {
		t.Fatal(err)
	}
}

// Tests of another package can catch a mutant. When these tests change, an escaped mutant is
// run again.
func TestWhatIsKnownOfTheTestsOfAnotherPackage(t *testing.T) {
	root, of, all := newModule(t)
	of.by = []string{"q"}
	if err := os.Mkdir(filepath.Join(root, "q"), 0o700); err != nil {
		t.Fatal(err)
	}
	before, err := readStates(root, []target{of})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "q/q_test.go"), []byte("package q\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	after, err := readStates(root, []target{of})
	if err != nil {
		t.Fatal(err)
	}
	if before.of(all[0], caught) != after.of(all[0], caught) || before.of(all[0], escaped) == after.of(all[0], escaped) {
		t.Errorf("with another test in q: %v, then %v; want that only an escaped mutant is run again", before, after)
	}
}

// The report names the escaped mutants, and its error states why the run failed.
func TestReport(t *testing.T) {
	root, of, all := newModule(t)
	for name, c := range map[string]struct {
		verdicts [3]verdict
		same     int // index of the mutant that is listed as equivalent; -1 if there is none
		wants    []string
		err      string
	}{
		"all caught":       {[3]verdict{caught, caught, caught}, -1, []string{"p                           3        0    100.0"}, ""},
		"one escaped":      {[3]verdict{caught, escaped, caught}, -1, []string{"ESCAPED     p/p.go:5: flip in Same: a == b", "66.7"}, "66.7 % are caught, want 95 %"},
		"it is equivalent": {[3]verdict{caught, escaped, caught}, 1, []string{"equivalent  p/p.go:5", "Nobody sees it.", "100.0           1"}, ""},
		"one is not run":   {[3]verdict{caught, "", caught}, -1, nil, "1 mutants have not been run yet"},
		"no build":         {[3]verdict{caught, noBuild, caught}, -1, []string{"no build    p/p.go:5"}, "1 mutants do not build"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			r := &runner{out: &out, root: root, reasons: map[string]string{}, memory: &memory{by: map[string]finding{}}}
			var err error
			if r.states, err = readStates(root, []target{of}); err != nil {
				t.Fatal(err)
			}
			for i, v := range c.verdicts {
				if v != "" {
					r.memory.by[all[i].id()] = finding{Mutant: all[i].id(), Verdict: v, State: r.states.of(all[i], v)}
				}
			}
			if c.same >= 0 {
				r.reasons[all[c.same].id()] = "Nobody sees it."
			}
			err = r.report(all)
			if (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
				t.Errorf("report = %v, want %q", err, c.err)
			}
			for _, want := range c.wants {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the report has no %q:\n%s", want, out.String())
				}
			}
		})
	}
}

// An escaped mutant of draw 1 is an error in a package whose draw is worked on, and only
// there. Draw 2 never fails.
func TestReportOfADraw(t *testing.T) {
	root, of, all := newModule(t)
	defer func(was []string) { workedOn = was }(workedOn)
	for name, c := range map[string]struct {
		draw     int
		workedOn []string
		verdict  verdict
		err      string
	}{
		"an escaped one":              {1, nil, escaped, ""},
		"one that must be caught":     {1, []string{"p"}, escaped, "mutants escape in packages in which all of draw 1 were caught: p"},
		"all caught":                  {1, []string{"p"}, caught, ""},
		"one that is not run":         {1, nil, "", "3 mutants have not been run yet"},
		"draw 2, an escaped one":      {2, []string{"p"}, escaped, ""},
		"draw 2, one that is not run": {2, []string{"p"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			workedOn = c.workedOn
			r := &runner{options: options{draw: c.draw}, out: io.Discard, root: root, reasons: map[string]string{}, memory: &memory{by: map[string]finding{}}}
			var err error
			if r.states, err = readStates(root, []target{of}); err != nil {
				t.Fatal(err)
			}
			for _, m := range all {
				if c.verdict != "" {
					r.memory.by[m.id()] = finding{Mutant: m.id(), Verdict: c.verdict, State: r.states.of(m, c.verdict)}
				}
			}
			if err := r.report(all); (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
				t.Errorf("report = %v, want %q", err, c.err)
			}
		})
	}
}
