package ircbridge

import (
	"strings"
	"testing"
)

// Markup that a renderer removes does not count toward the few lines that people see.
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
	whole.whole, whole.alone = true, true
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
