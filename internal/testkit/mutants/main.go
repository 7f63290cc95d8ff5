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
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var o options
	flag.StringVar(&o.pkg, "pkg", "", "only the mutants of this package, such as dropbox")
	flag.StringVar(&o.only, "only", "", "only the mutants with this in their name")
	flag.IntVar(&o.every, "every", 0, "run one in so many of each rule in each file; 0 means about 170 in all")
	flag.IntVar(&o.draw, "draw", 0, "instead of the listed files: six mutants of each package of the program, drawn with this seed (1 or 2)")
	flag.BoolVar(&o.list, "list", false, "print the mutants and run none")
	flag.DurationVar(&o.time, "for", 0, "start no mutant after this time; the next run continues")
	flag.IntVar(&o.jobs, "jobs", 2, "how many are run at the same time")
	flag.BoolVar(&o.quick, "quick", false, "run the short tests alone; what escapes them may not escape the others")
	flag.BoolVar(&o.fresh, "fresh", false, "forget what earlier runs found")
	flag.Parse()
	if err := run(ctx, os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

type options struct {
	pkg, only          string
	every, jobs, draw  int
	list, quick, fresh bool
	time               time.Duration
}

// least is the percentage of mutants that must be caught.
const least = 95

func run(ctx context.Context, out io.Writer, o options) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	all, err := generate(root, targets)
	if err != nil {
		return err
	}
	program, err := drawn(ctx, root)
	if err != nil {
		return err
	}
	everywhere, err := generateDrawn(root, program)
	if err != nil {
		return err
	}
	reasons, err := parseEquivalents(equivalentsText)
	if err != nil {
		return fmt.Errorf("equivalents.txt: %w", err)
	}
	if gone := unknown(reasons, everywhere); len(gone) > 0 {
		return fmt.Errorf("equivalents.txt lists something that is not a mutant:\n  %s", strings.Join(gone, "\n  "))
	}
	of, how := targets, ""
	var chosen []mutant
	switch o.draw {
	case 0:
		var oneIn int
		chosen, oneIn = sample(all, o.every)
		how = fmt.Sprintf("one in %d of each rule in each file", oneIn)
	case 1, 2:
		of, all = program, everywhere
		chosen = draw(all, o.draw)
		how = fmt.Sprintf("%d of each package, drawn with seed %d", sites, o.draw)
	default:
		return fmt.Errorf("--draw %d: there are the draws 1 and 2", o.draw)
	}
	chosen = slices.DeleteFunc(chosen, func(m mutant) bool {
		return o.pkg != "" && m.pkg != o.pkg && filepath.Base(m.pkg) != o.pkg || !strings.Contains(m.id(), o.only)
	})
	fmt.Fprintf(out, "%d mutants in all, %s: %d here\n", len(all), how, len(chosen))
	if len(chosen) == 0 {
		return errors.New("nothing to run")
	}
	if o.list {
		for _, m := range chosen {
			fmt.Fprintln(out, m)
		}
		return nil
	}
	path := filepath.Join(root, ".mutants")
	if o.fresh {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	r := &runner{out: out, root: root, options: o, reasons: reasons, began: time.Now()}
	if r.states, err = readStates(root, of); err != nil {
		return err
	}
	if r.memory, err = openMemory(path); err != nil {
		return err
	}
	defer r.memory.file.Close()
	for _, t := range of {
		mine := slices.DeleteFunc(slices.Clone(chosen), func(m mutant) bool { return m.pkg != t.pkg })
		if err := r.runPackage(ctx, t, mine); err != nil {
			if o.draw != 2 || ctx.Err() != nil {
				return err
			}
			fmt.Fprintln(out, err) // the figure comes as it is
		}
	}
	return r.report(chosen)
}

func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("go list -m: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// A runner runs the selected mutants, one package at a time.
type runner struct {
	options
	out     io.Writer
	root    string
	reasons map[string]string // reasons in the list of equivalents
	states  states
	memory  *memory
	began   time.Time
}

// runPackage tests the mutants that have no known verdict.
func (r *runner) runPackage(ctx context.Context, t target, chosen []mutant) error {
	left := slices.DeleteFunc(chosen, func(m mutant) bool {
		_, known := r.memory.known(m, r.states)
		return known || r.reasons[m.id()] != ""
	})
	if len(left) == 0 || r.over() {
		return nil
	}
	// The path is short because tests create sockets, and the length of a socket's path
	// is limited.
	tmp, err := os.MkdirTemp("", "mu")
	if err != nil {
		return err
	}
	defer removeAll(tmp)
	if err := os.Chmod(tmp, 0o711); err != nil { // some tests run a process as another user
		return err
	}
	b := &bench{root: r.root, target: t, tmp: tmp, quick: r.quick}
	fmt.Fprintf(r.out, "%s: %d to run\n", t.pkg, len(left))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex
	var failed error
	next, done := 0, 0
	var all sync.WaitGroup
	for range max(1, r.jobs) {
		all.Go(func() {
			for {
				mu.Lock()
				if next == len(left) || failed != nil || r.over() {
					mu.Unlock()
					return
				}
				m := left[next]
				next++
				mu.Unlock()
				f, err := b.judge(ctx, m)
				if err == nil {
					f.State = r.states.of(m, f.Verdict)
					if f.Verdict != escaped || !r.quick { // other tests may still catch a mutant that escapes the quick ones
						err = r.memory.add(f)
					}
				}
				mu.Lock()
				if err != nil {
					failed = errors.Join(failed, err)
					stop()
				} else {
					done++
					fmt.Fprintf(r.out, "%4d/%d %5.0f s  %-8s %s", done, len(left), time.Since(r.began).Seconds(), f.Verdict, m)
					if f.By != "" {
						fmt.Fprintf(r.out, "  [%s, %.0f s]", f.By, f.Seconds)
					}
					fmt.Fprintln(r.out)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return failed
}

// over reports whether the run's time limit has expired.
func (r *runner) over() bool { return r.time > 0 && time.Since(r.began) > r.time }
