package permission

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A line is a parsed command line.
type line struct {
	text string // with one space between words
	// commands are the commands that the shell runs in sequence, as written. The field is
	// nil if the line contains anything except plain commands joined by && || ; | and
	// newlines, because such a line may start other programs or write to files in ways
	// that the commands do not show.
	commands []string
	// plain contains all commands of the line, including nested ones, without quotes.
	plain []string
	bad   bool // the shell cannot parse it
}

// readLine parses a command line. It uses the syntax of bash, which includes the syntax
// of sh.
func readLine(text string) line {
	l := line{text: oneSpaced(text)}
	file, err := syntax.NewParser(syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err != nil || strings.ContainsAny(text, "\r\x00") { // shells interpret these characters differently
		l.bad = true
		return l
	}
	simple := len(file.Last) == 0
	for _, s := range file.Stmts {
		simple = l.add(text, s) && simple
	}
	if !simple {
		l.commands = nil
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			l.plain = append(l.plain, unquoted(call.Args))
		}
		return true
	})
	return l
}

// add adds the commands of a statement to l, and reports whether the statement consists
// only of plain commands.
func (l *line) add(text string, s *syntax.Stmt) bool {
	if s.Background || s.Coprocess || s.Disown || len(s.Comments) > 0 {
		return false
	}
	for _, r := range s.Redirs {
		if !harmless(r) {
			return false
		}
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		left := l.add(text, cmd.X)
		return l.add(text, cmd.Y) && left
	case *syntax.CallExpr:
		if len(cmd.Assigns) > 0 || len(cmd.Args) == 0 {
			return false
		}
		words := make([]string, len(cmd.Args))
		for i, w := range cmd.Args {
			if !constant(w.Parts) {
				return false
			}
			words[i] = text[w.Pos().Offset():w.End().Offset()]
		}
		l.commands = append(l.commands, strings.Join(words, " "))
		return true
	}
	return false
}

// constant reports whether a word contains nothing that the shell expands, apart from
// file name patterns.
func constant(parts []syntax.WordPart) bool {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if expands(p.Value) {
				return false // plain text in bash, but not in every shell
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				return false
			}
		case *syntax.DblQuoted:
			if p.Dollar || !constant(p.Parts) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// expands reports whether a string contains an unescaped character that the shell
// expands.
func expands(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '$', '`':
			return true
		}
	}
	return false
}

// harmless reports whether a redirection neither reads nor writes a file. Examples are
// 2>&1 and redirections that use /dev/null.
func harmless(r *syntax.Redirect) bool {
	if r.Word == nil {
		return false
	}
	to := r.Word.Lit()
	switch r.Op {
	case syntax.DplOut:
		return to != "" && strings.Trim(to, "0123456789") == ""
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn, syntax.RdrAll, syntax.AppAll:
		return to == "/dev/null"
	}
	return false
}

// unquoted returns the literal text of words, without quotes.
func unquoted(words []*syntax.Word) string {
	var all []string
	for _, w := range words {
		var b strings.Builder
		constants(&b, w.Parts)
		all = append(all, b.String())
	}
	return strings.Join(all, " ")
}

func constants(b *strings.Builder, parts []syntax.WordPart) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			constants(b, p.Parts)
		}
	}
}

// oneSpaced returns a command line with one space between its words.
func oneSpaced(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == '\t' }), " ")
}
