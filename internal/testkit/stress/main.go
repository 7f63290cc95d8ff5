package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var o options
	flag.DurationVar(&o.time, "for", 30*time.Minute, "begin no run after this time")
	flag.IntVar(&o.jobs, "jobs", 5, "how many packages are tested at the same time")
	flag.BoolVar(&o.short, "short", false, "only the short tests")
	flag.Parse()
	o.packages = flag.Args()
	err := run(ctx, os.Stdout, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "stress:", err)
		os.Exit(1)
	}
}

type options struct {
	time     time.Duration
	jobs     int
	short    bool
	packages []string // patterns of go list; none means all that are not left out
}

// leftOut lists the packages that do not run without being named: their tests run a real
// client, or only read source files.
var leftOut = []string{"internal/e2e", "internal/e2e/backends", "internal/e2e/image", "internal/e2e/packages", "internal/floorplan", "docs"}

// logs is the folder with the output of each failed run.
const logs = ".stress"

// A binary is the compiled tests of one package, and what its runs showed.
type binary struct {
	name    string // without the module
	dir     string // the folder of the package, in which its tests run
	file    string
	runs    int
	failed  int
	seconds float64
}

var errFailed = errors.New("tests failed")

func run(ctx context.Context, out io.Writer, o options) error {
	all, err := packages(ctx, o.packages)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "stress")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.RemoveAll(logs); err != nil {
		return err
	}
	for i, b := range all {
		b.file = filepath.Join(dir, fmt.Sprintf("%d.test", i))
		fmt.Fprintf(out, "building %d of %d: %s\n", i+1, len(all), b.name)
		build := exec.CommandContext(ctx, "go", "test", "-race", "-c", "-o", b.file, b.dir)
		build.Env = append(os.Environ(), "CGO_ENABLED=1") // the race detector needs it
		if said, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build the tests of %s: %w\n%s", b.name, err, said)
		}
	}
	stress(ctx, out, o, all)
	return errors.Join(report(out, all), ctx.Err())
}

// packages lists the packages that have tests.
func packages(ctx context.Context, patterns []string) ([]*binary, error) {
	list := append([]string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.Module.Path}} {{.ImportPath}} {{.Dir}}{{end}}"}, patterns...)
	if len(patterns) == 0 {
		list = append(list, "./...")
	}
	said, err := exec.CommandContext(ctx, "go", list...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []*binary
	for line := range strings.Lines(string(said)) {
		module, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		path, dir, ok := strings.Cut(rest, " ")
		name := strings.TrimPrefix(path, module+"/")
		if ok && (len(patterns) > 0 || !slices.Contains(leftOut, name)) {
			all = append(all, &binary{name: name, dir: dir})
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no package with tests")
	}
	return all, nil
}

// stress runs the binaries until the time is over or ctx is done.
func stress(ctx context.Context, out io.Writer, o options, all []*binary) {
	began := time.Now()
	var mu sync.Mutex // guards queue, out and what the runs showed
	var queue []*binary
	next := func() *binary {
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() != nil || time.Since(began) > o.time {
			return nil
		}
		if len(queue) == 0 {
			queue = slices.Clone(all)
			rand.Shuffle(len(queue), func(i, j int) { queue[i], queue[j] = queue[j], queue[i] })
		}
		b := queue[0]
		queue = queue[1:]
		return b
	}
	var jobs sync.WaitGroup
	for range max(1, o.jobs) {
		jobs.Go(func() {
			for b := next(); b != nil; b = next() {
				start := time.Now()
				said, err := b.run(ctx, o.short)
				if ctx.Err() != nil {
					return // an interrupted run shows nothing
				}
				mu.Lock()
				b.runs++
				b.seconds += time.Since(start).Seconds()
				word := "ok"
				if err != nil {
					word = "FAIL"
					b.failed++
				}
				fmt.Fprintf(out, "%6.0f s  %-4s %-32s %6.0f s\n", time.Since(began).Seconds(), word, b.name, time.Since(start).Seconds())
				if err != nil {
					fmt.Fprintln(out, excerpt(said))
					if err := b.keep(said); err != nil {
						fmt.Fprintln(out, err)
					}
				}
				mu.Unlock()
			}
		})
	}
	jobs.Wait()
}

// run runs the tests once. When ctx is done, it ends them with everything that they
// started in their process group.
func (b *binary) run(ctx context.Context, short bool) (said []byte, err error) {
	cmd := exec.CommandContext(ctx, b.file, "-test.shuffle=on", "-test.timeout=2h")
	if short {
		cmd.Args = append(cmd.Args, "-test.short")
	}
	cmd.Dir, cmd.Env = b.dir, append(os.Environ(), "SWARM_STRICT=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Minute // a process that a test left behind may hold the output
	return cmd.CombinedOutput()
}

// keep writes the output of a failed run into the folder of the logs.
func (b *binary) keep(said []byte) error {
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return err
	}
	name := fmt.Sprintf("%s-%d.log", strings.ReplaceAll(b.name, "/", "-"), b.runs)
	return os.WriteFile(filepath.Join(logs, name), said, 0o644)
}

// excerpt returns the first lines that say what failed.
func excerpt(said []byte) string {
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	at := slices.IndexFunc(lines, func(line string) bool {
		return strings.Contains(line, "--- FAIL") || strings.HasPrefix(line, "panic:") || strings.Contains(line, "WARNING: DATA RACE")
	})
	lines = lines[max(at, 0):]
	return "\t" + strings.Join(lines[:min(len(lines), 30)], "\n\t")
}

// report prints how often each package ran and failed.
func report(out io.Writer, all []*binary) error {
	slices.SortFunc(all, func(a, b *binary) int {
		return cmp.Or(cmp.Compare(b.failed, a.failed), cmp.Compare(b.seconds, a.seconds))
	})
	runs, failed := 0, 0
	fmt.Fprintf(out, "\n%-32s %5s %7s %8s\n", "package", "runs", "failed", "seconds")
	for _, b := range all {
		runs, failed = runs+b.runs, failed+b.failed
		fmt.Fprintf(out, "%-32s %5d %7d %8.0f\n", b.name, b.runs, b.failed, b.seconds)
	}
	fmt.Fprintf(out, "%d passed, %d failed\n", runs-failed, failed)
	if failed > 0 {
		return fmt.Errorf("%w; their output is in %s", errFailed, logs)
	} else if runs == 0 {
		return errors.New("the time was over before a package could run")
	}
	return nil
}
