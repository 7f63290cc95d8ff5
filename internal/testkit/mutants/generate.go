package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A rule describes how to generate mutants.
type rule string

const (
	ignore rule = "ignore"
	drop   rule = "drop"
	flip   rule = "flip"
	edge   rule = "edge"
	logic  rule = "logic"
)

// listed are the rules for the files in target.go. The draws use all rules.
var listed = []rule{ignore, drop, flip}

// A mutant is one small mistake in one file.
type mutant struct {
	pkg, file string // the package's folder in the module; the file in that folder
	line      int
	fn        string // the function that contains the mutant, such as (*Mailbox).take
	rule      rule
	was       string // the replaced text, on one line
	nth       int    // number among the mutants with the same function, rule and text, starting at 1
	from, to  int    // range of the replaced bytes in the file
	with      string
}

// id returns the mutant's name, which does not contain a line number.
func (m mutant) id() string {
	id := fmt.Sprintf("%s/%s %s %s: %s", m.pkg, m.file, m.rule, m.fn, m.was)
	if m.nth > 1 {
		id += fmt.Sprintf(" #%d", m.nth)
	}
	return id
}

func (m mutant) String() string {
	return fmt.Sprintf("%s/%s:%d: %s in %s: %s", m.pkg, m.file, m.line, m.rule, m.fn, m.was)
}

// apply returns src, the text of the file, with the mistake applied.
func (m mutant) apply(src []byte) []byte {
	return slices.Concat(src[:m.from], []byte(m.with), src[m.to:])
}

// durable matches the names of the calls that the drop rule removes: calls that make a file
// durable, move a file, or commit.
var durable = regexp.MustCompile(`^([Ss]ync\w*|[Rr]ename\w*|move(At)?|replace(At|File)?|link(At)?|Linkat|Commit)$`)

// generate generates all mutants of the targets, sorted by file and position.
func generate(root string, targets []target) ([]mutant, error) {
	g := &generator{onlyErrors: map[string]bool{}}
	sources, err := g.read(root, targets)
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, s := range sources {
		all = append(all, g.mutants(s.pkg, s.name, s.text, s.fset, s.file)...)
	}
	return slices.DeleteFunc(all, func(m mutant) bool { return !slices.Contains(listed, m.rule) }), nil
}

// generateDrawn generates all mutants of the packages from which a draw takes some. A mutant
// that [generate] also generates has the same name in both.
func generateDrawn(root string, drawn []target) ([]mutant, error) {
	base := &generator{onlyErrors: map[string]bool{}}
	if _, err := base.read(root, targets); err != nil {
		return nil, err
	}
	var all []mutant
	for _, t := range drawn {
		g := &generator{onlyErrors: maps.Clone(base.onlyErrors)}
		sources, err := g.read(root, []target{t})
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(targets, func(l target) bool { return l.pkg == t.pkg }) {
			g = base // knows the package already
		}
		for _, s := range sources {
			all = append(all, g.mutants(s.pkg, s.name, s.text, s.fset, s.file)...)
		}
	}
	return all, nil
}

// A source is a file in which mutants are generated.
type source struct {
	target
	name string
	text []byte
	file *ast.File
	fset *token.FileSet
}

// read learns from all files of the targets, and returns those that the targets list.
func (g *generator) read(root string, targets []target) ([]source, error) {
	var sources []source
	for _, t := range targets {
		all, err := filepath.Glob(filepath.Join(root, t.pkg, "*.go"))
		if err != nil {
			return nil, err
		}
		found := map[string]bool{}
		for _, path := range all {
			name := filepath.Base(path)
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			g.learn(file)
			if slices.Contains(t.files, name) {
				found[name] = true
				sources = append(sources, source{t, name, text, file, fset})
			}
		}
		for _, name := range t.files {
			if !found[name] {
				return nil, fmt.Errorf("%s/%s is not there: fix the list in target.go", t.pkg, name)
			}
		}
	}
	return sources, nil
}

// A generator records which functions return only an error.
type generator struct {
	onlyErrors map[string]bool // by name; false if any function with that name returns anything else
}

func (g *generator) learn(file *ast.File) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		only := false
		if r := f.Type.Results; r != nil && len(r.List) == 1 && len(r.List[0].Names) < 2 {
			t, ok := r.List[0].Type.(*ast.Ident)
			only = ok && t.Name == "error"
		}
		if known, ok := g.onlyErrors[f.Name.Name]; ok {
			only = only && known
		}
		g.onlyErrors[f.Name.Name] = only
	}
}

// isError reports whether the syntax of an expression shows that it is an error.
func (g *generator) isError(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return g.isError(e.X)
	case *ast.Ident:
		return e.Name == "err" || strings.HasSuffix(e.Name, "Err")
	case *ast.IndexExpr:
		x, ok := e.X.(*ast.Ident)
		return ok && x.Name == "errs"
	case *ast.SelectorExpr:
		return e.Sel.Name == "Err"
	case *ast.CallExpr:
		return g.onlyErrors[called(e)]
	}
	return false
}

// called returns the name of a called function or method.
func called(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

var opposite = map[token.Token]string{
	token.EQL: "!=", token.NEQ: "==",
	token.LSS: ">=", token.GEQ: "<",
	token.GTR: "<=", token.LEQ: ">",
}

// beside are the comparisons that differ only at the edge.
var beside = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
}

var joined = map[token.Token]string{token.LAND: "||", token.LOR: "&&"}

// mutants generates the mutants of one file.
func (g *generator) mutants(pkg, name string, src []byte, fset *token.FileSet, file *ast.File) []mutant {
	offset := func(p token.Pos) int { return fset.Position(p).Offset }
	var all []mutant
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		add := func(r rule, n ast.Node, edit func(text string) string) {
			at, from, to := fset.Position(n.Pos()), offset(n.Pos()), offset(n.End())
			text := string(src[from:to])
			all = append(all, mutant{
				pkg: pkg, file: name, line: at.Line, fn: funcName(f), rule: r,
				was: strings.Join(strings.Fields(text), " "), nth: 1, from: from, to: to, with: edit(text),
			})
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				only, known := g.onlyErrors[called(n)]
				if durable.MatchString(called(n)) && (only || !known) {
					add(drop, n, func(text string) string {
						// The call remains in the code. Without it, its arguments could
						// be unused, and the code would not build.
						return "func() (err error) { if false { err = " + text + " }; return }()"
					})
				}
			case *ast.BinaryExpr:
				with := func(op string) func(string) string {
					return func(text string) string {
						at := offset(n.OpPos) - offset(n.Pos())
						return text[:at] + op + text[at+len(n.Op.String()):]
					}
				}
				if op, ok := joined[n.Op]; ok {
					add(logic, n, func(text string) string { return "(" + with(op)(text) + ")" })
				}
				if op, ok := beside[n.Op]; ok {
					add(edge, n, with(op))
				}
				op, ok := opposite[n.Op]
				if !ok {
					break
				}
				switch {
				case isNil(n.Y) && g.isError(n.X) && n.Op == token.NEQ:
					add(ignore, n, func(text string) string { return "(" + text + " && false)" })
				case isNil(n.Y) && g.isError(n.X) && n.Op == token.EQL:
					add(ignore, n, func(text string) string { return "(" + text + " || true)" })
				default:
					add(flip, n, with(op))
				}
			}
			return true
		})
	}
	slices.SortStableFunc(all, func(a, b mutant) int { return cmp.Compare(a.from, b.from) })
	seen := map[string]int{}
	for i := range all {
		key := all[i].id()
		seen[key]++
		all[i].nth = seen[key]
	}
	return all
}

func isNil(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "nil"
}

// funcName returns a function's name with its receiver, such as (*Mailbox).take.
func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	switch t := f.Recv.List[0].Type.(type) {
	case *ast.StarExpr:
		if id, ok := t.X.(*ast.Ident); ok {
			return "(*" + id.Name + ")." + f.Name.Name
		}
	case *ast.Ident:
		return t.Name + "." + f.Name.Name
	}
	return f.Name.Name
}
