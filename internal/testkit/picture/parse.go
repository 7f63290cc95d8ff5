package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A style is how a span of text looks. The zero value is ordinary text.
type style struct {
	bold, faint bool
	color       int // 1 to 8: black, red, green, yellow, blue, magenta, cyan, white; 9 to 16: the same, bright; 0: that of ordinary text
}

// A span is text with one style.
type span struct {
	style
	text string
}

// A row is one line of the screen.
type row []span

func (r row) text() string {
	var b strings.Builder
	for _, s := range r {
		b.WriteString(s.text)
	}
	return b.String()
}

// parse splits a captured screen into rows. A style continues into the next row. An
// escape sequence that parse does not know is an error, because the picture would
// not look like the screen.
func parse(screen string) (rows []row, err error) {
	var now style
	for line := range strings.SplitSeq(strings.TrimRight(screen, "\n"), "\n") {
		var r row
		for line != "" {
			text, rest, escape := strings.Cut(line, "\x1b[")
			if text != "" {
				r = append(r, span{now, text})
			}
			if line = rest; !escape {
				break
			}
			codes, rest, ok := strings.Cut(line, "m")
			if !ok {
				return nil, fmt.Errorf("an escape sequence without an end in %q", line)
			}
			if now, err = now.after(codes); err != nil {
				return nil, err
			}
			line = rest
		}
		if n := len(r); n > 0 {
			if r[n-1].text = strings.TrimRight(r[n-1].text, " "); r[n-1].text == "" {
				r = r[:n-1]
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// after returns the style after a sequence with the given codes, such as "1;32".
func (s style) after(codes string) (style, error) {
	for word := range strings.SplitSeq(codes, ";") {
		code, err := strconv.Atoi(word)
		switch {
		case word == "" || code == 0 && err == nil:
			s = style{}
		case err != nil:
			return s, fmt.Errorf("no style is known for %q", codes)
		case code == 1:
			s.bold = true
		case code == 2:
			s.faint = true
		case code == 22:
			s.bold, s.faint = false, false
		case code >= 30 && code <= 37:
			s.color = code - 30 + 1
		case code >= 90 && code <= 97:
			s.color = code - 90 + 9
		case slices.Contains([]int{39, 49}, code): // the ordinary foreground or background
			if code == 39 {
				s.color = 0
			}
		default:
			return s, fmt.Errorf("no style is known for %q", codes)
		}
	}
	return s, nil
}
