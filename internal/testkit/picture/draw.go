package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Sizes, in pixels. Each span has an exact width, so that the columns are straight in any
// font.
const (
	size   = 14
	width  = 8.4
	height = 19
	margin = 16
)

// colors are those of a light and of a dark terminal, for ordinary text, for the
// background, and for the colors of a style. All are readable on their background.
var colors = [2][]string{
	{"#1f2328", "#f6f8fa", "#24292f", "#cf222e", "#116329", "#7d4e00", "#0969da", "#8250df", "#1b7c83", "#57606a"},
	{"#d1d7e0", "#0d1117", "#8b949e", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#f0f6fc"},
}

// draw returns an SVG with one line of text for each row.
func draw(rows []row) []byte {
	var b bytes.Buffer
	w, h := 2*margin+columns*width, 2*margin+len(rows)*height
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %d" width="%g" height="%d" role="img" aria-label="what claude-swarm demo prints">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, "<!-- made by `make picture` -->\n<style>\ntext { font: %dpx ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre; }\n", size)
	b.WriteString(".b { font-weight: bold; } .f { fill-opacity: .7; }\n")
	writeColors(&b, colors[0])
	b.WriteString("@media (prefers-color-scheme: dark) {\n")
	writeColors(&b, colors[1])
	b.WriteString("}\n</style>\n")
	fmt.Fprintf(&b, `<rect class="paper" width="%g" height="%d" rx="8"/>`+"\n", w, h)
	for i, r := range rows {
		if r.text() == "" {
			continue
		}
		fmt.Fprintf(&b, `<text y="%d" xml:space="preserve">`, margin+(i+1)*height-5)
		column := 0
		for _, s := range r {
			n := utf8.RuneCountInString(s.text) // the demo prints no wide characters
			fmt.Fprintf(&b, `<tspan x="%.1f" textLength="%.1f"%s>`, margin+float64(column)*width, float64(n)*width, s.class())
			_ = xml.EscapeText(&b, []byte(s.text)) // a buffer does not fail
			b.WriteString("</tspan>")
			column += n
		}
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func writeColors(b *bytes.Buffer, of []string) {
	fmt.Fprintf(b, "text { fill: %s; } .paper { fill: %s; }", of[0], of[1])
	for i, color := range of[2:] {
		fmt.Fprintf(b, " .c%d { fill: %s; }", i+1, color)
	}
	b.WriteByte('\n')
}

// class returns the attribute that gives a span its style. Bright colors look like the
// others.
func (s style) class() string {
	var names []string
	if s.bold {
		names = append(names, "b")
	}
	if s.faint {
		names = append(names, "f")
	}
	if s.color > 0 {
		names = append(names, fmt.Sprintf("c%d", (s.color-1)%8+1))
	}
	if len(names) == 0 {
		return ""
	}
	return ` class="` + strings.Join(names, " ") + `"`
}
