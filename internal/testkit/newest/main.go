// Newest moves clients.lock to the newest version of each client that npm has.
//
//	make newest                 all clients of which npm has a newer version
//	make newest ARGS=claude     only these
//	make newest ARGS=-again     also those of which it has none: it tests them again
//
// It installs each version beside the others and tests it: Claude Code with the facts and
// the census of internal/testkit/compatpage and with CLIENT_TESTS, the other clients with
// the rows that an agent needs. If everything passes, it records the answers, rewrites
// clients.lock, the tables of the manual and the changelog, and leaves the commit to a
// person. If anything differs, it prints what, changes no file, and fails.
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
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "newest:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	again := flag.Bool("again", false, "also test the clients of which npm has no newer version")
	flag.Parse()
	b := &bump{dir: ".", out: os.Stdout, again: *again, only: flag.Args(), run: command, latest: latest}
	return b.do(ctx)
}

// command runs a program in the checkout and copies its output to w. If ctx is canceled, the
// program's process group is asked to end, so that it can clean up.
func command(ctx context.Context, w io.Writer, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = w, w
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 30 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	return err
}
