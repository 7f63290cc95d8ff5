package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acptest"
)

// A part is a kind of long test.
type part struct {
	name  string
	what  string // what it shows
	units func(context.Context) ([]unit, error)
}

// A unit is a command that passes or fails. It should take a few minutes at most, because
// an interrupted unit starts again from its beginning. The units of soak and mutants take
// longer; mutants continues by itself.
type unit struct {
	name string
	args []string
	env  []string // in addition to the environment of this program
}

// parts lists all parts, in the order in which they run.
var parts = []part{
	{"race", "all tests of all packages with the race detector, shuffled", race},
	{"stress", "the same, several packages at a time, for half an hour", stressed},
	{"fuzz", "each fuzz target with 50,000 inputs", fuzz},
	{"e2e", "all end-to-end tests with the oldest and the newest Claude Code", endToEnd},
	{"backends", "all rows of all ACP clients, and a swarm of all kinds of agents", clients},
	{"packages", "the packages of all platforms, made twice without a shared cache, and installed", packaged},
	{"torture", "each fault many times: nothing lost, nothing doubled", torture},
	{"soak", "half an hour with about one fault per second", soak},
	{"night", "a night with six agents, a hundred tasks and each fault twice", night},
	{"mutants", "small mistakes in the code that keeps the promises: 95 of 100 are noticed; and six of each package", mutants},
}

// readers and realClients are packages that the part race leaves out: the tests of the
// former only read source files, and those of the latter are separate parts.
var (
	readers     = []string{"internal/floorplan", "docs"}
	realClients = []string{"internal/e2e", "internal/e2e/backends", "internal/e2e/image", "internal/e2e/packages"}
)

var strict = []string{"SWARM_STRICT=1"}

// race has one unit for each package that has tests.
func race(ctx context.Context) ([]unit, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.Module.Path}} {{.ImportPath}}{{end}}", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []unit
	for line := range strings.Lines(string(out)) {
		module, path, ok := strings.Cut(strings.TrimSpace(line), " ")
		name := strings.TrimPrefix(path, module+"/")
		if !ok || slices.Contains(readers, name) || slices.Contains(realClients, name) {
			continue
		}
		all = append(all, unit{name, []string{"go", "test", "-race", "-shuffle=on", "-vet=off", "-timeout=50m", "./" + name}, strict})
	}
	return all, nil
}

// stressed has three units of ten minutes.
func stressed(context.Context) ([]unit, error) {
	var all []unit
	for _, name := range []string{"first", "second", "third"} {
		all = append(all, unit{name + " ten minutes", []string{"go", "run", "./internal/testkit/stress", "-for", "10m"}, nil})
	}
	return all, nil
}

// declared returns the functions of test files whose declarations match a pattern with one
// group, as "FOLDER FUNCTION".
func declared(root string, pattern *regexp.Regexp) ([]string, error) {
	var all []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range pattern.FindAllSubmatch(text, -1) {
			all = append(all, filepath.ToSlash(filepath.Dir(path))+" "+string(m[1]))
		}
		return err
	})
	return all, err
}

var (
	fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(f \*testing\.F\)`)
	testName   = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
)

// fuzz has one unit for each fuzz target. The number of inputs is fixed, because for some
// targets go reports an error when a time is over.
func fuzz(context.Context) ([]unit, error) {
	targets, err := declared(".", fuzzTarget)
	var all []unit
	for _, t := range targets {
		dir, name, _ := strings.Cut(t, " ")
		all = append(all, unit{dir + " " + name, []string{
			"go", "test", "-run", "^$", "-fuzz", "^" + name + "$", "-fuzztime", "50000x", "-fuzzminimizetime", "10x", "./" + dir,
		}, nil})
	}
	return all, err
}

// endToEnd has units of a few tests each, because the tests of one unit share the program
// that they build.
func endToEnd(context.Context) ([]unit, error) {
	names, err := declared("internal/e2e", testName)
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, "internal/e2e ") })
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], "internal/e2e ")
	}
	slices.Sort(names)
	var all []unit
	for _, version := range []string{"oldest", "newest"} {
		for few := range slices.Chunk(names, 8) {
			all = append(all, unit{
				fmt.Sprintf("%s from %s", version, few[0]),
				[]string{"go", "test", "-count=1", "-timeout=30m", "-run", "^(" + strings.Join(few, "|") + ")$", "./internal/e2e"},
				append([]string{"CLI=" + version, "E2E=full"}, strict...),
			})
		}
	}
	return all, err
}

// clients has one unit for each ACP client, and one for the swarm of all kinds.
func clients(context.Context) ([]unit, error) {
	test := []string{"go", "-C", "internal/e2e/backends", "test", "-count=1", "-v", "-timeout=30m", "-run"}
	var all []unit
	for _, c := range acptest.Clients {
		all = append(all, unit{c.Name + " " + c.Version, append(slices.Clone(test), "^TestBackends$/^"+c.Name+"$"), []string{"BACKENDS=full"}})
	}
	return append(all, unit{"all kinds in one swarm", append(slices.Clone(test), "^TestMixedSwarm$"), nil}), nil
}

// packaged has one unit for all packages, because its tests share what they make, and one for
// the image.
func packaged(context.Context) ([]unit, error) {
	return []unit{{"all platforms", []string{"go", "test", "-count=1", "-timeout=50m", "./internal/e2e/packages"}, append([]string{"PACKAGES=full"}, strict...)},
		{"the image", []string{"go", "test", "-count=1", "-timeout=50m", "./internal/e2e/image"}, strict}}, nil
}

// torture has one unit for each fault except the soak, which is a separate part.
func torture(ctx context.Context) ([]unit, error) {
	out, err := exec.CommandContext(ctx, "go", "run", "./internal/testkit/torture", "--list").Output()
	if err != nil {
		return nil, fmt.Errorf("list the faults: %w", err)
	}
	var all []unit
	for line := range strings.Lines(string(out)) {
		if name := strings.TrimSpace(line); name != "soak" {
			all = append(all, unit{name, []string{"go", "run", "./internal/testkit/torture", "--only", name}, strict})
		}
	}
	return all, nil
}

func soak(context.Context) ([]unit, error) {
	return []unit{{"30 minutes", []string{"go", "run", "./internal/testkit/torture", "--only", "soak", "--minutes", "30"}, strict}}, nil
}

func night(context.Context) ([]unit, error) {
	return []unit{{"six agents", []string{"go", "test", "./swarm", "-run", "^TestTheNight$", "-count=1", "-v"}, strict}}, nil
}

// mutants has no unit for each package, because the mutants remember by themselves what they
// found. All units together take at most an hour.
func mutants(context.Context) ([]unit, error) {
	of := func(limit string, args ...string) []string {
		return append([]string{"go", "run", "./internal/testkit/mutants", "--for", limit}, args...)
	}
	return []unit{
		{"commit points", of("25m"), nil},
		{"draw 1", of("20m", "--draw", "1"), nil},
		{"draw 2", of("10m", "--draw", "2"), nil},
	}, nil
}
