package journal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"
)

// Each word that notice.go declares has a row with a severity and a text. Without one, its
// notices would count as information, and webhooks and irc.map would not accept the word.
func TestEachWordHasARow(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "notice.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, row := range words {
		rows[string(row.word)] = true
		if row.severity == "" || row.text == nil {
			t.Errorf("the row of %s has no severity or no text", row.word)
		}
	}
	declared := 0
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, s := range group.Specs {
			c := s.(*ast.ValueSpec)
			if name, ok := c.Type.(*ast.Ident); !ok || name.Name != "Word" {
				continue
			}
			declared++
			word, err := strconv.Unquote(c.Values[0].(*ast.BasicLit).Value)
			if err != nil || !rows[word] {
				t.Errorf("words has no row for %s (%v)", c.Names[0].Name, err)
			}
		}
	}
	if declared == 0 {
		t.Error("notice.go declares no words")
	}
}
