package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var o options
	flag.DurationVar(&o.time, "for", time.Hour, "begin no unit of a part after this time")
	flag.BoolVar(&o.list, "list", false, "print the units of the parts, and whether they have passed on this source")
	flag.BoolVar(&o.fresh, "fresh", false, "forget what has passed")
	flag.Parse()
	err := run(ctx, os.Stdout, ".nightly", parts, o, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "nightly:", err)
		os.Exit(1)
	}
}

type options struct {
	time        time.Duration
	list, fresh bool
}

// A line is the row of one part in the table.
type line struct {
	part                 string
	passed, failed, left int
	seconds              float64 // of all units that have passed or failed, in this run or an earlier one
}

var (
	errFailed = errors.New("units failed")
	errLeft   = errors.New("units are left; run the same command again to continue")
)

// run runs the named parts, or all of them, and prints a table.
func run(ctx context.Context, out io.Writer, folder string, all []part, o options, names []string) error {
	var chosen []part
	for _, name := range names {
		at := slices.IndexFunc(all, func(p part) bool { return p.name == name })
		if at < 0 {
			return fmt.Errorf("no part is called %s; the parts are %s", name, strings.Join(namesOf(all), ", "))
		}
		chosen = append(chosen, all[at])
	}
	if len(names) == 0 {
		chosen = all
	}
	source, err := sourceState(ctx)
	if err != nil {
		return err
	}
	var table []line
	for _, p := range chosen {
		l, err := runPart(ctx, out, folder, source, p, o)
		if err != nil {
			return fmt.Errorf("part %s: %w", p.name, err)
		}
		table = append(table, l)
	}
	if o.list {
		return nil
	}
	return errors.Join(printTable(out, table), ctx.Err())
}

func namesOf(all []part) []string {
	var names []string
	for _, p := range all {
		names = append(names, p.name)
	}
	return names
}

// runPart runs the units of a part that have not passed on this source.
func runPart(ctx context.Context, out io.Writer, folder, source string, p part, o options) (line, error) {
	l := line{part: p.name}
	units, err := p.units(ctx)
	if err != nil {
		return l, err
	}
	m, err := openMemory(folder, p.name, source, o.fresh)
	if err != nil {
		return l, err
	}
	defer m.close()
	fmt.Fprintf(out, "%s: %s; %d units\n", p.name, p.what, len(units))
	began := time.Now()
	for i, u := range units {
		seconds, known := m.passed[u.name]
		switch {
		case o.list:
			fmt.Fprintf(out, "  %-40s %s\n", u.name, map[bool]string{true: "passed", false: "-"}[known])
			continue
		case known:
			l.passed++
			l.seconds += seconds
			continue
		case ctx.Err() != nil || time.Since(began) > o.time:
			l.left++
			continue
		}
		start := time.Now()
		last, err := m.run(ctx, u)
		took := time.Since(start).Seconds()
		if ctx.Err() != nil {
			l.left++ // an interrupted unit shows nothing
			continue
		}
		l.seconds += took
		word := "passed"
		if err != nil {
			word = "FAILED"
			l.failed++
		} else {
			l.passed++
			err = m.addPassed(u.name, took)
		}
		fmt.Fprintf(out, "  %3d of %d  %s %6.0f s  %s\n", i+1, len(units), word, took, u.name)
		if err != nil {
			fmt.Fprintf(out, "    %v\n    %s\n", err, strings.Join(last, "\n    "))
		}
	}
	return l, nil
}

// printTable prints the result of each part.
func printTable(out io.Writer, table []line) error {
	passed, failed, left := 0, 0, 0
	fmt.Fprintf(out, "\n%-10s %7s %7s %7s %9s\n", "part", "passed", "failed", "left", "seconds")
	for _, l := range table {
		passed, failed, left = passed+l.passed, failed+l.failed, left+l.left
		fmt.Fprintf(out, "%-10s %7d %7d %7d %9.0f\n", l.part, l.passed, l.failed, l.left, l.seconds)
	}
	fmt.Fprintf(out, "%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		return errFailed
	} else if left > 0 {
		return errLeft
	}
	return nil
}
