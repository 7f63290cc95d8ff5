package main

import (
	"fmt"
	"slices"
	"testing"
)

// A draw takes six mutants of each package, the same ones each time; another seed takes
// others. A change in one package does not change what is drawn from another.
func TestDraw(t *testing.T) {
	var all []mutant
	for _, pkg := range []string{"a", "b"} {
		for i := range 50 {
			all = append(all, mutant{pkg: pkg, file: "x.go", rule: flip, fn: "f", was: fmt.Sprint("i == ", i), nth: 1})
		}
	}
	all = append(all, mutant{pkg: "c", file: "x.go", rule: flip, fn: "f", was: "i == 0", nth: 1})
	of := func(pkg string, chosen []mutant) []mutant {
		return slices.DeleteFunc(slices.Clone(chosen), func(m mutant) bool { return m.pkg != pkg })
	}
	one, two := draw(all, 1), draw(all, 2)
	for pkg, want := range map[string]int{"a": sites, "b": sites, "c": 1} {
		if got := len(of(pkg, one)); got != want {
			t.Errorf("%d of %s, want %d", got, pkg, want)
		}
	}
	if !slices.Equal(one, draw(all, 1)) {
		t.Error("the same seed draws others")
	}
	if slices.Equal(one, two) {
		t.Error("another seed draws the same ones")
	}
	if less := draw(all[10:], 1); !slices.Equal(of("b", less), of("b", one)) {
		t.Error("without some mutants of a, others of b are drawn")
	}
}

// A draw takes mutants from each package of the program that is not named with a reason. The
// mutants that the list of files also generates have the same names, and what
// equivalents.txt names exists.
func TestWhatIsDrawn(t *testing.T) {
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	program, err := drawn(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	everywhere, err := generateDrawn(root, program)
	if err != nil {
		t.Fatal(err)
	}
	listed, err := generate(root, targets)
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, m := range everywhere {
		there[m.id()] = true
	}
	for _, m := range listed {
		if !there[m.id()] {
			t.Errorf("%s is generated for the list, but not for a draw", m.id())
		}
	}
	has := func(pkg string) bool {
		return slices.ContainsFunc(program, func(t target) bool { return t.pkg == pkg })
	}
	for _, pkg := range append([]string{"cmd/claude-swarm", "swarm"}, workedOn...) {
		if !has(pkg) {
			t.Errorf("nothing is drawn from %s", pkg)
		}
	}
	for pkg := range notDrawn {
		if has(pkg) {
			t.Errorf("%s is drawn from", pkg)
		}
	}
	chosen := draw(everywhere, 1)
	t.Logf("%d mutants in %d packages, of which a draw takes %d", len(everywhere), len(program), len(chosen))
	reasons, err := parseEquivalents(equivalentsText)
	if err != nil {
		t.Fatal(err)
	}
	if gone := unknown(reasons, everywhere); len(gone) > 0 {
		t.Errorf("equivalents.txt names mutants that do not exist: %q", gone)
	}
}
