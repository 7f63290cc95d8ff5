//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	asJSON := flag.Bool("json", false, "print JSON")
	short := flag.Bool("short", false, "the short form of each fault, as in the tests")
	only := flag.String("only", "", "inject only the fault with this name, or the faults with this in their name")
	list := flag.Bool("list", false, "print the names of the faults and inject none")
	minutes := flag.Float64("minutes", 2, "how long the soak takes")
	flag.Parse()
	if *list {
		for _, f := range faults {
			fmt.Println(f.name)
		}
		return
	}
	if code, moved, err := moveInside(); moved || err != nil {
		if err != nil {
			fmt.Fprintln(os.Stderr, "torture:", err)
			code = 1
		}
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, order{only: *only, short: *short, json: *asJSON, soak: time.Duration(*minutes * float64(time.Minute))}, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

// An order contains the command-line options.
type order struct {
	only  string
	short bool
	json  bool
	soak  time.Duration
}

// errWrong is the error of a run whose table shows a violated guarantee.
var errWrong = errors.New("a promise was broken; see the table")

// run injects the faults one after another and prints the table.
func run(ctx context.Context, o order, out, progress io.Writer) (err error) {
	chosen := slices.DeleteFunc(slices.Clone(faults), func(f fault) bool { return f.name != o.only })
	if len(chosen) == 0 {
		chosen = slices.DeleteFunc(slices.Clone(faults), func(f fault) bool { return !strings.Contains(f.name, o.only) })
	}
	if len(chosen) == 0 {
		return fmt.Errorf("no fault has %q in its name", o.only)
	}
	r, err := newRig(ctx, o.soak)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	began := time.Now()
	var rows []row
	for _, f := range chosen {
		times := f.full
		if o.short {
			times = f.short
		}
		fmt.Fprintf(progress, "%s: %s\n", f.name, f.what)
		rows = append(rows, f.row(ctx, r, times))
		if ctx.Err() != nil {
			break
		}
	}
	if o.json {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		err = enc.Encode(struct {
			V       int    `json:"v"`
			Machine string `json:"machine"`
			Rows    []row  `json:"faults"`
		}{1, machine(), rows})
	} else {
		write(out, rows)
		fmt.Fprintf(out, "\n%s, %s\n", machine(), time.Since(began).Round(time.Second))
	}
	if slices.ContainsFunc(rows, row.wrong) {
		err = errors.Join(err, errWrong)
	}
	return errors.Join(err, ctx.Err())
}

func machine() string {
	return fmt.Sprintf("%d cores, %s, %s", runtime.NumCPU(), kernel(), runtime.Version())
}
