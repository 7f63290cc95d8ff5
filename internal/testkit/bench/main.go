package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	asJSON := flag.Bool("json", false, "print JSON")
	rounds := flag.Int("rounds", 7, "how many times each benchmark runs")
	only := flag.String("only", "", "measure only the lines that have this in their name")
	flag.Parse()
	if err := run(ctx, os.Stdout, os.Stderr, *rounds, *only, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run runs the measurements and prints the table. It reports its progress to the writer
// progress, in a single line that it keeps overwriting.
func run(ctx context.Context, out, progress io.Writer, rounds int, only string, asJSON bool) (err error) {
	chosen, missing := withPrograms(choose(goals, only, runtime.GOOS), exec.LookPath)
	for _, program := range missing {
		fmt.Fprintf(progress, "bench: %s is missing, so the lines that need it are left out\n", program)
	}
	if len(chosen) == 0 || rounds < 1 {
		return errors.New("nothing to measure")
	}
	b, err := prepare(ctx, chosen)
	if b != nil {
		defer func() { err = errors.Join(err, b.close()) }()
	}
	if err != nil {
		return err
	}
	measured, err := measure(ctx, b.run, variants(chosen), rounds, progress)
	if err != nil {
		return err
	}
	var rows []row
	for _, g := range chosen {
		rows = append(rows, rowOf(g, measured))
	}
	machine := fmt.Sprintf("claude-swarm on %d cores, %s, %s", runtime.NumCPU(), kernel(), runtime.Version())
	if !asJSON {
		write(out, machine, rounds, rows)
		return nil
	}
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		V       int    `json:"v"`
		Machine string `json:"machine"`
		Rounds  int    `json:"rounds"`
		Lines   []row  `json:"lines"`
	}{1, machine, rounds, rows})
}

// choose returns the goals whose names contain the string in only and that this system
// can measure.
func choose(all []goal, only, system string) []goal {
	return slices.DeleteFunc(slices.Clone(all), func(g goal) bool {
		return g.linux && system != "linux" || !strings.Contains(g.what, only)
	})
}

// withPrograms returns the goals whose programs are installed, and the names of the programs
// that are missing.
func withPrograms(all []goal, look func(string) (string, error)) (rest []goal, missing []string) {
	for _, g := range all {
		if g.needs == "" {
			rest = append(rest, g)
		} else if _, err := look(g.needs); err == nil {
			rest = append(rest, g)
		} else if !slices.Contains(missing, g.needs) {
			missing = append(missing, g.needs)
		}
	}
	return rest, missing
}

// measure runs each variant once per round, except firstRequest, which runs only in the
// first round because it does not measure time. A group contains the floor and ours of a
// table line. Its variants take turns at running first, and each round begins with a
// different group.
func measure(ctx context.Context, run func(context.Context, variant) (map[string]float64, error),
	groups [][]variant, rounds int, progress io.Writer) (map[value]sample, error) {
	measured := map[value]sample{}
	for round := range rounds {
		for i := range groups {
			group := groups[(i+round)%len(groups)]
			for j := range group {
				v := group[(j+round)%len(group)]
				if v == firstRequest && round > 0 {
					continue
				}
				fmt.Fprintf(progress, "\r\x1b[Kround %d of %d: %s", round+1, rounds, v.bench)
				values, err := run(ctx, v)
				if err != nil {
					fmt.Fprintln(progress)
					return nil, err
				}
				for unit, x := range values {
					at := value{v, unit}
					measured[at] = append(measured[at], x)
				}
			}
		}
	}
	fmt.Fprint(progress, "\r\x1b[K")
	return measured, nil
}
