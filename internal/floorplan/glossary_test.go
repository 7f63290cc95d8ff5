package floorplan_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The glossary has three parts. Pictures are metaphors that were once names in this code
// and that readers could not understand without an explanation. The value of each entry
// is the usual technical noun. No identifier may contain a picture.
var pictures = map[string]string{
	"house":     "deps",
	"books":     "journal",
	"diary":     "log",
	"reins":     "control",
	"helm":      "control",
	"standing":  "hold",
	"standings": "holds",
	"lookout":   "leadMirror",
	"door":      "client, or via",
	"doors":     "via",
	"kit":       "manifest",
	"outfit":    "programs",
	"enlist":    "addAgents",
	"exam":      "checkup",
	"jot":       "write",
	"bury":      "giveUp",
	"buried":    "givenUp",
	"useless":   "skip",
	"unborn":    "noFirstEvent",
	"unheard":   "promptNotRun",
	"window40":  "windowLimit",
	"spot":      "at",
}

// alone lists words that are too vague to be the whole name of a function.
var alone = map[string]string{
	"again":   "retryEINTR, or what is done once more",
	"between": "inBothDirs",
	"whole":   "withMailbox, or what is complete",
	"with":    "what is added",
	"place":   "link, target, paths",
	"take":    "claim, parse, pop",
	"ring":    "wake, change, loop",
	"note":    "logErr, writeReason, origin",
	"missed":  "offerTaken",
	"reach":   "toolReach",
}

// phrases matches turns of phrase that are not plain English. In plain English, a
// sentence begins with its subject, which is a noun.
var phrases = regexp.MustCompile(`(?:^|[.;!] )(Who|Whoever|Whose|What|Whatever|Nobody|Somebody)\b` +
	`|\b(anew|of its own\b|all the same|that is none|has them not|is let be|parted by|as it were|for ever\b|is none\.|lets? go of)`)

func TestGlossary(t *testing.T) {
	parts := regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)
	sources(t, ".go", func(path string, text []byte) {
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range declared(f) {
			for _, part := range parts.FindAllString(id.Name, -1) {
				if better, bad := pictures[strings.ToLower(part)]; bad {
					t.Errorf("%s: %s is a picture: call it %s", files.Position(id.Pos()), id.Name, better)
				}
			}
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && !strings.HasSuffix(path, "_test.go") {
				if better, bad := alone[fn.Name.Name]; bad {
					t.Errorf("%s: %s does not say what it does; for example %s", files.Position(fn.Pos()), fn.Name.Name, better)
				}
			}
		}
		for _, c := range f.Comments {
			if said := dialect(c.Text()); said != "" {
				t.Errorf("%s: %q: begin with a noun, and say it plainly", files.Position(c.Pos()), said)
			}
		}
	})
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	sources(t, ".md", func(path string, text []byte) {
		for i, paragraph := range strings.Split(code.ReplaceAllString(string(text), "x"), "\n\n") {
			if said := dialect(paragraph); said != "" {
				t.Errorf("%s, paragraph %d: %q: begin with a noun, and say it plainly", path, i+1, said)
			}
		}
	})
}

// dialect returns the first match of phrases in text, with the words that follow it, or
// "" if nothing matches. A question may begin with a question word.
func dialect(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for _, m := range phrases.FindAllStringIndex(text, -1) {
		sentence := text[m[0]:]
		if end := strings.IndexAny(sentence[1:], ".?!"); end >= 0 && sentence[1+end] == '?' {
			continue
		}
		return sentence[:min(len(sentence), 70)]
	}
	return ""
}

// declared returns the identifiers that a file declares.
func declared(f *ast.File) (ids []*ast.Ident) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			ids = append(ids, n.Name)
		case *ast.TypeSpec:
			ids = append(ids, n.Name)
		case *ast.Field:
			ids = append(ids, n.Names...)
		case *ast.ValueSpec:
			ids = append(ids, n.Names...)
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if id, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
					ids = append(ids, id)
				}
			}
		}
		return true
	})
	return ids
}

// sources calls f with each file in the tree that has the suffix, except files in testdata,
// in bin, in dist, and in hidden folders.
func sources(t *testing.T, suffix string, f func(path string, text []byte)) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"testdata", "bin", "dist"}, d.Name())):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, suffix):
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			f(path, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
