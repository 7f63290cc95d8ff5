package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A roff is the text of a manual page, in the macros that man(7) describes. All text that is
// written to it is escaped.
type roff struct{ strings.Builder }

// macro writes a line that formats what follows.
func (p *roff) macro(name string, args ...string) {
	p.WriteString("." + name)
	for _, a := range args {
		p.WriteString(` "` + escape(a) + `"`)
	}
	p.WriteString("\n")
}

// line writes a line of text.
func (p *roff) line(text string) {
	text = escape(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text // otherwise the line is a macro
	}
	p.WriteString(text + "\n")
}

// command writes a command in bold letters, and its arguments in ordinary ones.
func (p *roff) command(name, arguments string) {
	p.WriteString(`\fB` + escape(name) + `\fR`)
	if arguments != "" {
		p.WriteString(" " + escape(arguments))
	}
	p.WriteString("\n")
}

// item writes an entry of a list: a word with the placeholder for its value, which can be
// empty, and what it means.
func (p *roff) item(word, value, about string) {
	p.macro("TP", "12")
	text := `\fB` + escape(word) + `\fR`
	if value != "" {
		text += ` \fI` + escape(value) + `\fR`
	}
	p.WriteString(text + "\n")
	p.line(about)
}

// columns is the width of a terminal in which each example of the help fits one line.
const columns = 80

// text writes paragraphs. Indented lines keep their line breaks, with the usual margin of
// examples or, for long lines, a smaller one; all other lines are filled.
func (p *roff) text(text string) {
	for _, paragraph := range strings.Split(text, "\n\n") {
		p.macro("PP")
		for lines := strings.Split(paragraph, "\n"); len(lines) > 0; {
			indented := func(line string) bool { return strings.HasPrefix(line, " ") }
			end := 1
			for end < len(lines) && indented(lines[end]) == indented(lines[0]) {
				end++
			}
			if indented(lines[0]) {
				p.kept(lines[:end])
			} else {
				p.line(strings.Join(lines[:end], " "))
			}
			lines = lines[end:]
		}
	}
}

// kept writes lines that are not filled.
func (p *roff) kept(lines []string) {
	longest := 0
	for _, line := range lines {
		longest = max(longest, utf8.RuneCountInString(strings.TrimSpace(line)))
	}
	fmt.Fprintf(p, ".nf\n.in %dn\n", max(0, min(9, columns-longest)))
	for _, line := range lines {
		p.line(strings.TrimSpace(line))
	}
	p.WriteString(".in\n.fi\n")
}

// escape returns text as it stands in a page, so that a reader can copy it from there: a
// hyphen, a quote and a tilde would otherwise become other characters.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch r {
		case '\\':
			b.WriteString(`\(rs`)
		case '-':
			b.WriteString(`\-`)
		case '\'':
			b.WriteString(`\(aq`)
		case '"':
			b.WriteString(`\(dq`)
		case '`':
			b.WriteString(`\(ga`)
		case '^':
			b.WriteString(`\(ha`)
		case '~':
			b.WriteString(`\(ti`)
		case '\n':
			b.WriteByte(' ')
		default:
			if r > 126 {
				fmt.Fprintf(&b, `\[u%04X]`, r)
			} else {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}
