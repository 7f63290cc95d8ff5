package main

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	got, err := parse(strings.NewReader(`goos: linux
goarch: amd64
BenchmarkWake/floor-2         	    1000	     15493 p50-ns	     45370 p99-ns
BenchmarkStream/all/ours/decode-and-window-16 	 42	 28.5 ns/op	 962.11 MB/s	 0.51 allocs/line
BenchmarkList/floor/encoding-json 	 1	 7 ns/op
Benchmarks are fun 1 2
PASS
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]float64{
		"BenchmarkWake/floor":                        {"p50-ns": 15493, "p99-ns": 45370},
		"BenchmarkStream/all/ours/decode-and-window": {"ns/op": 28.5, "MB/s": 962.11, "allocs/line": 0.51},
		"BenchmarkList/floor/encoding-json":          {"ns/op": 7},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("parse, -want +got:\n", diff)
	}
	if _, err := parse(strings.NewReader("BenchmarkX 1 much ns/op\n")); err == nil {
		t.Error("a value that is not a number passes")
	}
}

var (
	byHand  = variant{"p", "BenchmarkX/floor", "1x"}
	byUs    = variant{"p", "BenchmarkX/ours", "1x"}
	other   = variant{"p", "BenchmarkY", "1x"}
	samples = map[value]sample{
		{byHand, "ns/op"}: {100, 90, 400}, {byUs, "ns/op"}: {125, 120, 130},
		{byHand, "MB/s"}: {100, 100, 100}, {byUs, "MB/s"}: {400, 300, 500},
	}
)

func TestGoalsAreJudgedByMedians(t *testing.T) {
	for name, c := range map[string]struct {
		how     comparison
		unit    string
		inverse bool
		is      float64
		times   float64
		ratio   float64
		ok      bool
	}{
		"speed from times, met":    {speed, "ns/op", false, 0.80, 0, 0.8, true},
		"speed from times, missed": {speed, "ns/op", false, 0.81, 0, 0.8, false},
		"speed from rates":         {speed, "MB/s", true, 4, 0, 4, true},
		"cost, met":                {cost, "ns/op", false, 1.25, 0, 1.25, true},
		"cost, missed":             {cost, "ns/op", false, 1.2, 0, 1.25, false},
		"cost times ten":           {cost, "ns/op", false, 12, 10, 12.5, false},
	} {
		r := rowOf(goal{what: name, how: c.how, floor: value{byHand, c.unit}, ours: value{byUs, c.unit}, is: c.is, inverse: c.inverse, times: c.times}, samples)
		if r.Ratio == nil || *r.Ratio != c.ratio || r.OK == nil || *r.OK != c.ok {
			t.Errorf("%s: ratio %v ok %v, want %v %v", name, r.Ratio, r.OK, c.ratio, c.ok)
		}
	}
	r := rowOf(goal{what: "bound", how: bound, ours: value{byUs, "ns/op"}, is: 124}, samples)
	if r.Ratio != nil || *r.OK {
		t.Errorf("bound: ratio %v ok %v, want none and false", r.Ratio, *r.OK)
	}
	if r := rowOf(goal{what: "excess", how: excess, floor: value{byHand, "ns/op"}, ours: value{byUs, "ns/op"}, is: 25}, samples); *r.Ratio != 1.25 || !*r.OK || r.unit != "ns/op" {
		t.Errorf("excess: ratio %v ok %v in %s, want 1.25 and true", *r.Ratio, *r.OK, r.unit)
	}
	if r := rowOf(goal{what: "shown", how: bound, ours: value{byUs, "ns/op"}}, samples); r.OK != nil {
		t.Error("a line without a goal is judged")
	}
}

// Floor and ours take turns at running first, every variant runs once per round, and an
// error ends the measurement.
func TestMeasureRotates(t *testing.T) {
	var order []string
	run := func(_ context.Context, v variant) (map[string]float64, error) {
		order = append(order, strings.TrimPrefix(v.bench, "Benchmark"))
		return map[string]float64{"ns/op": float64(len(order))}, nil
	}
	groups := [][]variant{{byHand, byUs}, {other}}
	got, err := measure(t.Context(), run, groups, 3, new(bytes.Buffer))
	if err != nil {
		t.Fatal(err)
	}
	want := "X/floor X/ours Y | Y X/ours X/floor | X/floor X/ours Y"
	if s := strings.Join(order, " "); s != strings.ReplaceAll(want, " |", "") {
		t.Errorf("order %s, want %s", s, want)
	}
	if n := len(got[value{byUs, "ns/op"}]); n != 3 {
		t.Errorf("%d values of three rounds", n)
	}
	broken := errors.New("broken")
	_, err = measure(t.Context(), func(context.Context, variant) (map[string]float64, error) { return nil, broken }, groups, 3, new(bytes.Buffer))
	if !errors.Is(err, broken) {
		t.Errorf("measure with a broken benchmark: %v", err)
	}
}

func TestTheTableIsNarrow(t *testing.T) {
	usual := map[string]sample{
		"ns/op": {1.04e6, 1.01e6, 1.25e6}, "p50-ns": {37.1e3, 35.2e3, 39.9e3}, "p99-ns": {165e3, 135e3, 199e3}, "first-ns": {49.5e6, 48e6, 51e6}, "new-ns": {2.75e9, 2.7e9, 4e9}, "again-ns": {0.34e9, 0.3e9, 0.61e9},
		"MB/s": {43_300, 41_000, 44_100}, "B/op": {21 << 20, 21 << 20, 22 << 20}, "MiB": {11.5, 11.2, 12.1}, "KiB/agent": {10.3, 9.9, 19.2},
		"allocs/line": {0.51, 0.5, 0.52}, "tokens": {2460}, "lines/s": {2170, 2040, 3310}, "switches/s-1": {0.05, 0, 0.15}, "switches/s-1000": {0.05, 0, 0.15},
		"cpu-ns": {25e6, 24.1e6, 31.2e6}, "syncs": {17.9, 16.1, 18.2}, "renames": {13.1, 12.9, 14.2}, "opens": {363, 351, 388},
	}
	measured := map[value]sample{}
	for _, g := range goals {
		for _, v := range []value{g.floor, g.ours} {
			measured[v] = usual[v.unit]
		}
	}
	var rows []row
	for _, g := range goals {
		rows = append(rows, rowOf(g, measured))
	}
	var out bytes.Buffer
	write(&out, "a machine", 7, rows)
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, word := range []string{"ok", "missed", "1.04 ms 1.01–1.25", "\n\ncontext added to the first request: 2,460 tokens (goal 2,550)\n"} {
		if !strings.Contains(out.String(), word) {
			t.Errorf("the table has no %q:\n%s", word, &out)
		}
	}
}

// A benchmark that only counts something runs once, and its line below the table says
// whether the goal is missed.
func TestWhatIsCounted(t *testing.T) {
	runs := 0
	run := func(context.Context, variant) (map[string]float64, error) {
		runs++
		return map[string]float64{"tokens": 2551}, nil
	}
	chosen := choose(goals, "context added", "linux")
	measured, err := measure(t.Context(), run, variants(chosen), 3, new(bytes.Buffer))
	if err != nil || runs != 1 || len(chosen) != 1 {
		t.Fatalf("measure runs %d times for %d lines: %v", runs, len(chosen), err)
	}
	var out bytes.Buffer
	write(&out, "a machine", 3, []row{rowOf(chosen[0], measured)})
	if want := "\ncontext added to the first request: 2,551 tokens (goal 2,550), missed\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("the table ends otherwise than with %q:\n%s", want, &out)
	}
}

// The lines that need a missing program are left out, and the program is named once.
func TestLinesOfAMissingProgram(t *testing.T) {
	of := func(missing bool) (units []string, named []string) {
		rest, named := withPrograms(choose(goals, "a turn: ", "linux"), func(string) (string, error) {
			if missing {
				return "", os.ErrNotExist
			}
			return "/usr/bin/strace", nil
		})
		for _, g := range rest {
			units = append(units, g.ours.unit)
		}
		return units, named
	}
	if units, named := of(false); !slices.Equal(units, []string{"cpu-ns", "syncs", "renames", "opens"}) || named != nil {
		t.Errorf("with the program: %v, without %v", units, named)
	}
	if units, named := of(true); !slices.Equal(units, []string{"cpu-ns"}) || !slices.Equal(named, []string{"strace"}) {
		t.Errorf("without the program: %v, without %v", units, named)
	}
}

func TestNumbers(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 0.004: "0.004", 0.28: "0.28", 1.04: "1.04", 2: "2", 9.96: "10", 112.4: "112"} {
		if got := number(x); got != want {
			t.Errorf("number(%v) = %s, want %s", x, got, want)
		}
	}
}

// Each benchmark that a goal names exists in the named package.
func TestGoalsNameBenchmarks(t *testing.T) {
	functions := map[string]bool{}
	for _, group := range variants(goals) {
		for _, v := range group {
			name, _, _ := strings.Cut(v.bench, "/")
			functions[v.pkg+" "+name] = true
		}
	}
	for _, f := range slices.Sorted(maps.Keys(functions)) {
		pkg, name, _ := strings.Cut(f, " ")
		files, err := filepath.Glob(filepath.Join("../../..", pkg, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(pkg, files, err)
		}
		found := slices.ContainsFunc(files, func(file string) bool {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Contains(string(text), "\nfunc "+name+"(b ")
		})
		if !found {
			t.Errorf("package %s has no %s", pkg, name)
		}
	}
}
