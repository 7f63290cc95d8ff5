package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	rows, err := parse("plain \x1b[1;32mok\x1b[39m\x1b[22m  \n\n\x1b[2mfaint\nstill \x1b[0mnot\x1b[96m!\x1b[m\n\n\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []row{
		{{text: "plain "}, {style{bold: true, color: 3}, "ok"}},
		nil,
		{{style{faint: true}, "faint"}},
		{{style{faint: true}, "still "}, {text: "not"}, {style{color: 15}, "!"}},
	}
	if diff := cmp.Diff(want, rows, cmp.AllowUnexported(span{}, style{})); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	for _, unknown := range []string{"\x1b[38;5;7mx", "\x1b[1x", "\x1b[?25h m"} {
		if rows, err := parse(unknown); err == nil {
			t.Errorf("%q is read as %v", unknown, rows)
		}
	}
}

func TestRowsBetween(t *testing.T) {
	rows, err := parse("a\n$ one\nb\n\n$ two\nc\n")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ from, to, want string }{
		"a part":   {"$ one", "$ two", "$ one|b"},
		"the rest": {"b", "", "b||$ two|c"},
		"all":      {"", "", "a|$ one|b||$ two|c"},
	} {
		part, err := rowsBetween(rows, c.from, c.to)
		var texts []string
		for _, r := range part {
			texts = append(texts, r.text())
		}
		if got := strings.Join(texts, "|"); got != c.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
	for _, c := range [][2]string{{"nothing", ""}, {"$ two", "$ one"}} {
		if part, err := rowsBetween(rows, c[0], c[1]); err == nil {
			t.Errorf("%q is %v", c, part)
		}
	}
}

// The picture is XML that contains the text of each row, whatever the text is.
func TestDraw(t *testing.T) {
	rows, err := parse("$ cat <a> && \"b\"\n\n\x1b[1;31mfailed\x1b[m → ok…")
	if err != nil {
		t.Fatal(err)
	}
	svg := string(draw(rows))
	dec, text := xml.NewDecoder(strings.NewReader(svg)), ""
	for inText := 0; ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "text" {
				inText++
			}
		case xml.EndElement:
			if token.Name.Local == "text" {
				inText--
				text += "|"
			}
		case xml.CharData:
			if inText > 0 {
				text += string(token)
			}
		}
	}
	if want := `$ cat <a> && "b"|failed → ok…|`; text != want {
		t.Errorf("the text is %q, want %q", text, want)
	}
	if !strings.Contains(svg, `class="b c2">failed<`) {
		t.Errorf("failed is neither bold nor red in\n%s", svg)
	}
}
