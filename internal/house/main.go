package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/tools/go/packages"
)

func main() {
	all := flag.Bool("v", false, "list everything that exceeds a goal")
	flag.Parse()
	if err := run(os.Stdout, ".", *all); err != nil {
		fmt.Fprintf(os.Stderr, "house: %v\n", err)
		os.Exit(1)
	}
}

// run measures the packages below dir and prints the table. If all is set, it also prints
// every finding above a goal.
func run(w io.Writer, dir string, all bool) error {
	h, err := load(dir)
	if err != nil {
		return err
	}
	return h.print(w, all)
}

// A tree is the source of a module with its type information.
type tree struct {
	module   string // module path with a trailing slash
	packages []*packages.Package
}

// machinery lists the packages that test the product. No shipped program links any of
// them except fakeapi, which is also used by the demo and by compat.
var machinery = []string{
	"internal/e2e", "internal/fakeapi", "internal/floorplan", "internal/house", "internal/testkit",
	"docs", "examples",
}

func load(dir string) (*tree, error) {
	mode := packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedModule
	all, err := packages.Load(&packages.Config{Mode: mode, Dir: dir}, "./...")
	if err != nil {
		return nil, err
	}
	var broken []error
	for _, p := range all {
		for _, e := range p.Errors {
			broken = append(broken, e)
		}
	}
	if err := errors.Join(broken...); err != nil {
		return nil, err
	}
	if len(all) == 0 || all[0].Module == nil {
		return nil, fmt.Errorf("no module in %s", dir)
	}
	return &tree{module: all[0].Module.Path + "/", packages: all}, nil
}

// name returns the path of a package inside the module.
func (h *tree) name(p *packages.Package) string { return strings.TrimPrefix(p.PkgPath, h.module) }

// product returns the packages of the shipped programs.
func (h *tree) product() []*packages.Package {
	var out []*packages.Package
	for _, p := range h.packages {
		if !isMachinery(h.name(p)) {
			out = append(out, p)
		}
	}
	return out
}

func isMachinery(name string) bool {
	for _, m := range machinery {
		if name == m || strings.HasPrefix(name, m+"/") {
			return true
		}
	}
	return strings.Contains("/"+name+"/", "/testdata/")
}

// A row is one measure: the worst finding, the goal, and the findings above the goal.
type row struct {
	what  string
	now   int
	goal  int
	worst string
	above []string
}

// A finding is one measurement, such as the number of methods of a type.
type finding struct {
	n      int
	what   string
	detail []string // the parts of the finding, one line each; printed only if the finding is above the goal
}

// worst makes a row that shows the largest of the findings.
func worst(what string, goal int, found []finding) row {
	r := row{what: what, goal: goal}
	for _, f := range found {
		if f.n > r.now || r.worst == "" {
			r.now, r.worst = f.n, f.what
		}
		if f.n > goal {
			r.above = append(r.above, fmt.Sprintf("%4d  %s", f.n, f.what))
			for _, line := range f.detail {
				r.above = append(r.above, "        "+line)
			}
		}
	}
	return r
}

// total makes a row that shows the number of findings.
func total(what string, goal int, found []string) row {
	r := row{what: what, goal: goal, now: len(found)}
	if len(found) > goal {
		for _, f := range found {
			r.above = append(r.above, "      "+f)
		}
	}
	return r
}

// rows returns the measures that have a goal.
func (h *tree) rows() []row {
	methods, fields := h.types()
	return []row{
		worst("methods of the largest type", 60, methods),
		worst("fields of the largest type with methods", 20, fields),
		worst("files of a package that use each other in a cycle", 8, h.cycles()),
		worst("files of the largest package", 45, h.files()),
		total("functions called init", 0, h.initializers()),
		total("places that write a file by renaming", 1, h.writers()),
		total("programs", 1, h.programs()),
	}
}

func (h *tree) print(w io.Writer, all bool) error {
	rows := h.rows()
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "measure\tnow\tgoal\t\n")
	for _, r := range rows {
		mark := ""
		if r.now > r.goal {
			mark = "*"
		}
		fmt.Fprintf(tw, "%s\t%d%s\t%d\t%s\n", r.what, r.now, mark, r.goal, r.worst)
	}
	product, tests, rest := h.lines()
	fmt.Fprintf(tw, "lines of product code\t%d\t\tno comments, no blank lines\n", product)
	fmt.Fprintf(tw, "lines of test machinery code\t%d\t\tplus %d of tests\n", rest, tests)
	if err := tw.Flush(); err != nil {
		return err
	}
	if !all {
		return nil
	}
	for _, r := range rows {
		if len(r.above) > 0 {
			fmt.Fprintf(w, "\n%s, above %d:\n%s\n", r.what, r.goal, strings.Join(r.above, "\n"))
		}
	}
	return nil
}
