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
	all := flag.Bool("v", false, "list ten findings for each measure")
	flag.Parse()
	if err := run(os.Stdout, ".", *all); err != nil {
		fmt.Fprintf(os.Stderr, "house: %v\n", err)
		os.Exit(1)
	}
}

// run measures the packages below dir and prints the table. If all is set, it also lists
// the findings of each measure.
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

// A finding is one measurement, such as the number of methods of a type.
type finding struct {
	n      int
	what   string
	detail []string // the parts of the finding, one line each, for -v
}

// A measure is a list of findings, the largest first.
type measure struct {
	name  string
	found []finding
}

// list makes a measure whose number is the number of places.
func list(name string, places []string) measure {
	f := finding{n: len(places)}
	if len(places) > 0 {
		f.what, f.detail = places[0], places[1:]
	}
	return measure{name, []finding{f}}
}

func (h *tree) measures() []measure {
	types := h.types()
	return []measure{
		{"methods of a type", types.methods},
		{"  with those of embedded structs", types.allMethods},
		{"fields of a type with methods", types.fields},
		{"  with those of embedded structs", types.allFields},
		{"types that embed the same struct", types.embedded},
		{"methods of an interface", types.interfaces},
		{"files that use each other in a cycle", h.cycles()},
		{"files of a package", h.files()},
		list("functions called init", h.initializers()),
		list("places that write a file by renaming", h.writers()),
		list("programs", h.programs()),
	}
}

// These are the numbers of findings that a measure prints, without and with -v.
const (
	few  = 3
	more = 10
)

func (h *tree) print(w io.Writer, all bool) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "measure\tnow\twhere\n")
	measures := h.measures()
	for _, m := range measures {
		if len(m.found) == 0 {
			fmt.Fprintf(tw, "%s\t0\t\n", m.name)
			continue
		}
		where := m.found[0].what
		for _, f := range m.found[1:min(few, len(m.found))] {
			where += fmt.Sprintf("; %d %s", f.n, f.what)
		}
		fmt.Fprintf(tw, "%s\t%d\t%s\n", m.name, m.found[0].n, where)
	}
	product, comments, tests, rest := h.lines()
	fmt.Fprintf(tw, "lines of product code\t%d\tand %d of comments\n", product, comments)
	fmt.Fprintf(tw, "lines of test machinery code\t%d\tand %d of tests\n", rest, tests)
	if err := tw.Flush(); err != nil || !all {
		return err
	}
	for _, m := range measures {
		if len(m.found) == 0 || m.found[0].n == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s:\n", strings.TrimSpace(m.name))
		for _, f := range m.found[:min(more, len(m.found))] {
			fmt.Fprintf(w, "%4d  %s\n", f.n, f.what)
			for _, line := range f.detail {
				fmt.Fprintf(w, "        %s\n", line)
			}
		}
	}
	return nil
}
