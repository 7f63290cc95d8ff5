package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	slow := flag.Int("slow", 0, "name so many of the slowest tests")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: testrun [-slow N] -- GO-TEST-ARGUMENTS [-- GO-TEST-ARGUMENTS]…")
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status, err := run(ctx, os.Stdout, *slow, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		status = 1
	}
	os.Exit(status)
}

// run runs go test once for each list of arguments between two "--", and returns the
// largest exit status. When ctx is done, it interrupts go test, waits for it, and sums up
// the tests that have ended.
func run(ctx context.Context, w io.Writer, slow int, args []string) (status int, err error) {
	module, err := exec.CommandContext(ctx, "go", "list", "-m").Output()
	if err != nil {
		return 0, fmt.Errorf("go list -m: %w", err)
	}
	s := newSummary(w, strings.TrimSpace(string(module)))
	for len(args) > 0 && err == nil && ctx.Err() == nil {
		mine := args
		args = nil
		if i := slices.Index(mine, "--"); i >= 0 {
			mine, args = mine[:i], mine[i+1:]
		}
		var one int
		one, err = goTest(ctx, s, mine)
		status = max(status, one)
	}
	s.close(slow)
	return status, err
}

// goTest runs go test, passes its events to s, and returns its exit status.
func goTest(ctx context.Context, s *summary, args []string) (status int, err error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	readErr := s.read(out)
	err = cmd.Wait()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		status, err = failed.ExitCode(), nil // go test has printed what failed
		if status < 0 {
			status = 1 // a signal ended go test
		}
	}
	return status, errors.Join(readErr, err)
}
