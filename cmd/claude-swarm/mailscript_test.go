package main

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// exitsWith implements the script command code, which runs a command and checks its exit
// status:
//
//	code N COMMAND…
//
// The script can then check the output, as after exec.
func exitsWith(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%q: exit status %d, want %d\n%s%s", args[1:], got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// keep implements the script command that stores the first word of the last output,
// such as an id, in a variable:
//
//	keep NAME
func keep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: keep NAME")
	}
	words := strings.Fields(ts.ReadFile("stdout"))
	if len(words) == 0 {
		ts.Fatalf("nothing was printed to keep")
	}
	ts.Setenv(args[0], words[0])
}
