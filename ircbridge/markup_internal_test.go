package ircbridge

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

func TestTabsAreSpaces(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "no tab": "no tab", "\tx": "    x", "a\tb\tc": "a   b   c", "abcd\te": "abcd    e", "äöü\tx\n\t\ty\n": "äöü x\n        y\n",
	} {
		if got := withoutTabs(text); got != want {
			t.Errorf("withoutTabs(%q) = %q, want %q", text, got, want)
		}
	}
	m := &dropbox.Message{From: "coder", Body: []byte("func f() {\n\treturn\n}\n")}
	if got := show(m, Origin{}, place{}, "swarm", strings.Clone).text; got != "func f() {\n    return\n}" {
		t.Errorf("shown as %q", got)
	}
}

// What is only there for a renderer takes none of the few lines that are shown.
func TestMarkupTakesNoLine(t *testing.T) {
	c := cutter{prefix: "[coder] ", limit: 400, read: "swarm: read abc"}
	short := "```go\nfunc f() {}\n```\n"
	if got := c.short(short); got != short {
		t.Errorf("a short text is shown as %q", got)
	}
	text := "**Result**\n```go\nfunc f() {\n}\n```\n| name | size |\n| :--- | ---: |\n| a | 1 |\n~~~\nmore\n~~~\n---\nlast"
	want := "**Result**\nfunc f() {\n}\n| name | size |\n| a | 1 |\nmore\nlast"
	if got := c.short(text); got != want {
		t.Errorf("shown as %q, want %q", got, want)
	}
	got := c.short(text + "\n8\n9\n--\n10")
	head, rest, ok := strings.Cut(got, "\n… (")
	if !ok || head != "**Result**\nfunc f() {\n}\n| name | size |\n| a | 1 |\nmore" || !strings.HasPrefix(rest, "5 more lines") {
		t.Errorf("shown as %q", got)
	}
	whole := c
	whole.whole = true
	if got := whole.short(text); got != text {
		t.Errorf("where all of it is shown: %q", got)
	}
	for line, want := range map[string]bool{
		"```": true, "  ```c++": true, "````": true, "~~~ sh": true, "```inline``` code": false, "|---|": true, "---": true, "| -- | :-: |": true,
		"|": false, "--": false, "-": false, "- item": false, "a | b": false, ":": false, "": false, "-rw-r--r--": false, "``": false,
	} {
		if got := isMarkup(line); got != want {
			t.Errorf("isMarkup(%q) = %v", line, got)
		}
	}
}
