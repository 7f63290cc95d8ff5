package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// scratch makes a git repository with one commit, and makes it the working folder.
func scratch(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	sh(t, `git init -q . && echo one >source && git add source && git -c user.name=ada -c user.email=ada@example.com commit -q -m begin`)
}

func sh(t *testing.T, line string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", line).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// of returns a part whose units are shell commands, by name.
func of(units ...string) []part {
	return []part{{"some", "shows something", func(context.Context) ([]unit, error) {
		var all []unit
		for i := 0; i < len(units); i += 2 {
			all = append(all, unit{units[i], []string{"sh", "-c", units[i+1]}, []string{"WORD=hello"}})
		}
		return all, nil
	}}}
}

// nightOf runs the parts and returns what is printed, without the times.
func nightOf(t *testing.T, all []part, o options) (string, error) {
	t.Helper()
	if o.time == 0 {
		o.time = time.Hour
	}
	var out strings.Builder
	err := run(t.Context(), &out, ".nightly", all, o, nil)
	return regexp.MustCompile(` +\d+ s  `).ReplaceAllString(regexp.MustCompile(` +\d+\n`).ReplaceAllString(out.String(), "\n"), "  "), err
}

func lines(t *testing.T, file string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}

func TestAPartContinuesWhereItStopped(t *testing.T) {
	scratch(t)
	calls := filepath.Join(t.TempDir(), "calls")
	all := of("good", "echo $WORD >>"+calls, "bad one/two", "echo the reason; exit 3")
	want := `some: shows something; 2 units
    1 of 2  passed  good
    2 of 2  FAILED  bad one/two
    exit status
    the reason

part        passed  failed    left   seconds
some             1       1       0
1 passed, 1 failed
`
	got, err := nightOf(t, all, options{})
	if diff := cmp.Diff(want, got); diff != "" || !errors.Is(err, errFailed) {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if log, err := os.ReadFile(".nightly/some/bad-one-two.log"); string(log) != "the reason\n" {
		t.Errorf("the log is %q, %v", log, err)
	}
	all = of("good", "echo $WORD >>"+calls, "bad one/two", "true")
	if got, err := nightOf(t, all, options{}); err != nil || !strings.Contains(got, "\n2 passed, 0 failed\n") || lines(t, calls) != 1 {
		t.Errorf("the second run ends with %v, and the good unit ran %d times:\n%s", err, lines(t, calls), got)
	}
	sh(t, "echo two >source")
	if got, err := nightOf(t, all, options{}); err != nil || lines(t, calls) != 2 {
		t.Errorf("after a change the run ends with %v, and the good unit ran %d times, want 2:\n%s", err, lines(t, calls), got)
	}
	if got, err := nightOf(t, all, options{fresh: true}); err != nil || lines(t, calls) != 3 {
		t.Errorf("with -fresh the run ends with %v, and the good unit ran %d times, want 3:\n%s", err, lines(t, calls), got)
	}
	if got, err := nightOf(t, all, options{list: true}); err != nil || strings.Count(got, " passed\n") != 2 {
		t.Errorf("-list ends with %v:\n%s", err, got)
	}
}

func TestNoUnitBeginsAfterTheTime(t *testing.T) {
	scratch(t)
	got, err := nightOf(t, of("first", "true", "second", "true"), options{time: 1})
	if !errors.Is(err, errLeft) || !strings.Contains(got, "0       0       2") {
		t.Errorf("%v:\n%s", err, got)
	}
}

func TestAnInterruptedUnitIsLeft(t *testing.T) {
	scratch(t)
	ctx, cancel := context.WithCancel(t.Context())
	fifo := filepath.Join(t.TempDir(), "fifo")
	sh(t, "mkfifo "+fifo)
	go func() {
		if f, err := os.Open(fifo); err == nil { // opens when the unit has begun
			f.Close()
		}
		cancel()
	}()
	var out strings.Builder
	err := run(ctx, &out, ".nightly", of("long", "echo >"+fifo+"; exec tail -f /dev/null", "next", "true"), options{time: time.Hour}, nil)
	if !errors.Is(err, errLeft) || !errors.Is(err, context.Canceled) || strings.Contains(out.String(), "FAILED") {
		t.Errorf("%v:\n%s", err, &out)
	}
}

func TestAnUnknownPart(t *testing.T) {
	err := run(t.Context(), &strings.Builder{}, t.TempDir(), parts, options{}, []string{"fuz"})
	if err == nil || !strings.Contains(err.Error(), "no part is called fuz; the parts are race, stress, fuzz, ") {
		t.Errorf("run = %v", err)
	}
}

// The real parts list their units, and no two units of a part have the same name.
func TestUnits(t *testing.T) {
	t.Chdir("../../..")
	for _, p := range parts {
		units, err := p.units(t.Context())
		if err != nil || len(units) == 0 {
			t.Errorf("%s: %d units, %v", p.name, len(units), err)
		}
		seen := map[string]bool{}
		for _, u := range units {
			if seen[u.name] {
				t.Errorf("%s: two units are called %s", p.name, u.name)
			}
			seen[u.name] = true
		}
	}
}
