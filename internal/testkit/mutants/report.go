package main

import (
	"fmt"
	"slices"
	"strings"
)

// A tally counts the mutants of a package.
type tally struct {
	pkg                                        string
	caught, escaped, equivalent, unbuilt, left int
}

func (t *tally) add(o tally) {
	t.caught += o.caught
	t.escaped += o.escaped
	t.equivalent += o.equivalent
	t.unbuilt += o.unbuilt
	t.left += o.left
}

// percent returns the number of caught mutants as a percentage of the caught and escaped
// ones.
func (t tally) percent() float64 {
	if t.caught+t.escaped == 0 {
		return 100
	}
	return 100 * float64(t.caught) / float64(t.caught+t.escaped)
}

// report prints the findings about the selected mutants: the escaped ones, the equivalent
// ones with their reasons, and a line for each package. If the run failed, the error
// states why.
func (r *runner) report(chosen []mutant) error {
	var tallies []tally
	var sum tally
	var open []string // packages in which none may escape, and some do
	fmt.Fprintln(r.out)
	for _, m := range chosen {
		if len(tallies) == 0 || tallies[len(tallies)-1].pkg != m.pkg {
			tallies = append(tallies, tally{pkg: m.pkg})
		}
		t := &tallies[len(tallies)-1]
		f, known := r.memory.known(m, r.states)
		switch {
		case r.reasons[m.id()] != "":
			t.equivalent++
			fmt.Fprintf(r.out, "equivalent  %s\n            %s\n", m, r.reasons[m.id()])
		case !known:
			t.left++
		case f.Verdict == caught:
			t.caught++
		case f.Verdict == noBuild:
			t.unbuilt++
			fmt.Fprintf(r.out, "no build    %s\n            %s\n", m, strings.ReplaceAll(f.By, "\n", "\n            "))
		default:
			t.escaped++
			fmt.Fprintf(r.out, "ESCAPED     %s\n            becomes %s\n", m, m.with)
		}
	}
	fmt.Fprintf(r.out, "\n%-20s %8s %8s %8s %11s %8s\n", "package", "caught", "escaped", "per cent", "equivalent", "not run")
	for _, t := range tallies {
		sum.add(t)
		if t.escaped > 0 && slices.Contains(workedOn, t.pkg) {
			open = append(open, t.pkg)
		}
		t.print(r)
	}
	sum.pkg = "all"
	if len(tallies) > 1 {
		sum.print(r)
	}
	switch {
	case r.draw == 2:
		return nil // it measures, and nobody works on it
	case sum.unbuilt > 0:
		return fmt.Errorf("%d mutants do not build: a rule in generate.go is wrong", sum.unbuilt)
	case sum.left > 0:
		return fmt.Errorf("%d mutants have not been run yet; run it again to continue", sum.left)
	case r.draw == 1 && len(open) > 0:
		return fmt.Errorf("mutants escape in packages in which all of draw 1 were caught: %s", strings.Join(open, ", "))
	case r.draw == 1:
		return nil
	case sum.percent() < least:
		return fmt.Errorf("%.1f %% are caught, want %d %%", sum.percent(), least)
	}
	return nil
}

func (t tally) print(r *runner) {
	fmt.Fprintf(r.out, "%-20s %8d %8d %8.1f %11d %8d\n", t.pkg, t.caught, t.escaped, t.percent(), t.equivalent, t.left)
}
