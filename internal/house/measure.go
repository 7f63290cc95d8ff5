package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// cycles finds the largest set of files in each package that use each other in a cycle.
// The detail of each finding lists the files in the cycle and the uses that form it.
func (h *tree) cycles() []finding {
	var out []finding
	for _, p := range h.product() {
		g := usesOf(p)
		if cycle := largestCycle(g.files()); len(cycle) > 1 {
			out = append(out, finding{
				n:      len(cycle),
				what:   fmt.Sprintf("%s, of %d files", h.name(p), len(p.GoFiles)),
				detail: g.describe(cycle),
			})
		}
	}
	return largestFirst(out)
}

// largestFirst sorts findings by their number.
func largestFirst(found []finding) []finding {
	slices.SortStableFunc(found, func(a, b finding) int { return b.n - a.n })
	return found
}

// uses maps each file of a package to the files that it uses, and each used file to the
// names used from it: file → file → names.
type uses map[string]map[string]map[string]bool

func usesOf(p *packages.Package) uses {
	g := make(uses)
	for id, obj := range p.TypesInfo.Uses {
		if obj.Pkg() != p.Types || !obj.Pos().IsValid() || isLocal(obj, p.Types) {
			continue
		}
		from, to := filepath.Base(p.Fset.Position(id.Pos()).Filename), filepath.Base(p.Fset.Position(obj.Pos()).Filename)
		if from == to {
			continue
		}
		if g[from] == nil {
			g[from] = make(map[string]map[string]bool)
		}
		if g[from][to] == nil {
			g[from][to] = make(map[string]bool)
		}
		g[from][to][obj.Name()] = true
	}
	return g
}

// files returns the graph without the names.
func (g uses) files() map[string]map[string]bool {
	out := make(map[string]map[string]bool)
	for from, to := range g {
		out[from] = make(map[string]bool)
		for file := range to {
			out[from][file] = true
		}
	}
	return out
}

// describe lists the files of a cycle and, for each use of one file by another, the names
// that are used. The uses with the fewest names are listed first, because they are the
// easiest to remove.
func (g uses) describe(cycle []string) []string {
	type use struct {
		from, to string
		names    []string
	}
	var all []use
	for _, from := range cycle {
		for _, to := range cycle {
			if names := g[from][to]; len(names) > 0 {
				all = append(all, use{from, to, slices.Sorted(maps.Keys(names))})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b use) int { return len(a.names) - len(b.names) })
	out := []string{"files: " + strings.Join(cycle, " ")}
	for _, u := range all {
		out = append(out, fmt.Sprintf("%s → %s: %s", u.from, u.to, strings.Join(u.names, " ")))
	}
	return out
}

// isLocal reports whether a name is declared inside a function.
func isLocal(obj types.Object, p *types.Package) bool {
	switch o := obj.(type) {
	case *types.Func:
		return false
	case *types.Var:
		return !o.IsField() && o.Parent() != p.Scope()
	}
	return obj.Parent() != p.Scope()
}

// largestCycle returns the largest strongly connected component of a graph, sorted
// (Tarjan's algorithm). If several components have this size, it returns the first in
// name order.
func largestCycle(uses map[string]map[string]bool) []string {
	index, low, on := make(map[string]int), make(map[string]int), make(map[string]bool)
	var stack, largest []string
	var visit func(string)
	visit = func(v string) {
		index[v] = len(index) + 1
		low[v] = index[v]
		stack, on[v] = append(stack, v), true
		for to := range uses[v] {
			if index[to] == 0 {
				visit(to)
				low[v] = min(low[v], low[to])
			} else if on[to] {
				low[v] = min(low[v], index[to])
			}
		}
		if low[v] != index[v] {
			return
		}
		start := slices.Index(stack, v)
		cycle := slices.Sorted(slices.Values(stack[start:]))
		for _, last := range cycle {
			on[last] = false
		}
		stack = stack[:start]
		if more := len(cycle) - len(largest); more > 0 || more == 0 && slices.Compare(cycle, largest) < 0 {
			largest = cycle
		}
	}
	for _, v := range slices.Sorted(maps.Keys(uses)) {
		if index[v] == 0 {
			visit(v)
		}
	}
	return largest
}

// files counts the files of each package.
func (h *tree) files() []finding {
	var out []finding
	for _, p := range h.product() {
		out = append(out, finding{n: len(p.GoFiles), what: h.name(p)})
	}
	return largestFirst(out)
}

// initializers finds functions named init.
func (h *tree) initializers() []string {
	return h.functions(func(p *packages.Package, f *ast.FuncDecl) bool {
		return f.Recv == nil && f.Name.Name == "init"
	})
}

// writers finds source files with functions that create and rename files, which is how
// code replaces a file.
func (h *tree) writers() []string {
	var out []string
	for _, p := range h.product() {
		for _, file := range p.Syntax {
			renames, creates := false, false
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				switch callee(p, call) {
				case "os.Rename", "os.Root.Rename":
					renames = true
				case "os.CreateTemp", "os.OpenFile", "os.Create", "os.WriteFile", "os.Root.OpenFile", "os.Root.Create", "os.Root.WriteFile":
					creates = true
				}
				return true
			})
			if renames && creates {
				out = append(out, fmt.Sprintf("%s/%s", h.name(p), filepath.Base(p.Fset.Position(file.Pos()).Filename)))
			}
		}
	}
	return out
}

// callee returns the name of the called function if it is in another package, such as
// "os.Rename", or is a method, such as "os.Root.Rename". Otherwise it returns "".
func callee(p *packages.Package, call *ast.CallExpr) string {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	fn, ok := p.TypesInfo.Uses[sel.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil {
		return ""
	}
	name := fn.Pkg().Name() + "."
	if recv := fn.Signature().Recv(); recv != nil {
		t := recv.Type()
		if ptr, ok := t.(*types.Pointer); ok {
			t = ptr.Elem()
		}
		if named, ok := t.(*types.Named); ok {
			name += named.Obj().Name() + "."
		}
	}
	return name + fn.Name()
}

// functions returns the product's functions to which a rule applies.
func (h *tree) functions(is func(*packages.Package, *ast.FuncDecl) bool) []string {
	var out []string
	for _, p := range h.product() {
		for _, file := range p.Syntax {
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && is(p, f) {
					out = append(out, fmt.Sprintf("%s/%s: %s", h.name(p), filepath.Base(p.Fset.Position(f.Pos()).Filename), f.Name.Name))
				}
			}
		}
	}
	return out
}

// programs returns the shipped commands.
func (h *tree) programs() []string {
	var out []string
	for _, p := range h.product() {
		if p.Name == "main" {
			out = append(out, h.name(p))
		}
	}
	return out
}

// lines counts lines of code separately for the product, the tests and the test
// machinery, and the product's lines that contain only a comment.
func (h *tree) lines() (product, comments, tests, rest int) {
	for _, p := range h.packages {
		for _, file := range p.GoFiles {
			if code, comment := countLines(file); isMachinery(h.name(p)) {
				rest += code
			} else {
				product += code
				comments += comment
			}
		}
		if len(p.GoFiles) == 0 {
			continue
		}
		more, _ := filepath.Glob(filepath.Join(filepath.Dir(p.GoFiles[0]), "*_test.go"))
		for _, file := range more {
			code, _ := countLines(file)
			tests += code
		}
	}
	return product, comments, tests, rest
}

// countLines counts the lines of a file that contain a token other than a comment, and
// the lines that contain only a comment. It returns 0 for a file that it cannot read.
func countLines(path string) (code, comments int) {
	src, err := os.ReadFile(path)
	if err != nil {
		return 0, 0
	}
	fset := token.NewFileSet()
	file := fset.AddFile(path, -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, scanner.ScanComments)
	isCode, isComment := make(map[int]bool), make(map[int]bool)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.SEMICOLON && strings.HasPrefix(lit, "\n") {
			continue
		}
		first, seen := file.Line(pos), isCode
		if tok == token.COMMENT {
			seen = isComment
		}
		for line := range bytes.Count([]byte(lit), []byte("\n")) + 1 { // a raw string can span several lines
			seen[first+line] = true
		}
	}
	for line := range isComment {
		if !isCode[line] {
			comments++
		}
	}
	return len(isCode), comments
}
