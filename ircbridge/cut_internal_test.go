package ircbridge

import (
	"strings"
	"testing"
)

// The bridge finds its lines in the history, even if they were cut at different
// positions, and does not mistake other lines for its own.
func TestWhatWasSaidIsFoundAgain(t *testing.T) {
	text := "one line\n" + strings.Repeat("some words of many ", 60) + "\nthe last, " + strings.Repeat("x", 500) + " end"
	for _, limit := range []int{400, 401, 440} {
		for _, unsure := range []int{0, len(text)} {
			then, now := cutter{prefix: "[coder] ", limit: limit}, cutter{prefix: "[coder] ", limit: 400}
			at := 0
			for _, p := range then.pieces(text, 0, unsure) {
				n := now.said(text[at:], p.text)
				if n == 0 || at+n != p.upto {
					t.Fatalf("limit %d, unsure %d: %d bytes from %d on, want up to %d: %q", limit, unsure, n, at, p.upto, p.text)
				}
				at += n
			}
			if at != len(text) {
				t.Errorf("limit %d, unsure %d: %d of %d bytes are found", limit, unsure, at, len(text))
			}
		}
	}
	c := cutter{prefix: "[coder] ", limit: 400}
	for heard, alike := range map[string]bool{
		"[coder] one": true, "[coder] one line more": false, "[coder] two": false, "[tester] one line": false, "one line": false, "[coder] ": false, "[coder] (again) ": false,
	} {
		if n := c.said(text, heard); n != 0 {
			t.Errorf("%q is taken for %d bytes", heard, n)
		}
		if got := c.alike(text, heard); got != alike {
			t.Errorf("alike(%q) = %v", heard, got)
		}
	}
}

// Only the unbroken proven beginning of a message counts as sent.
func TestProvenUpTo(t *testing.T) {
	for name, c := range map[string]struct {
		from   int
		proven []bool
		want   int
	}{
		"nothing":               {0, []bool{false, false}, 0},
		"the second of two":     {0, []bool{false, true}, 0},
		"all but the second":    {0, []bool{true, false, true}, 10},
		"everything":            {0, []bool{true, true}, 20},
		"nothing in this retry": {7, []bool{false, true}, 7},
	} {
		var pieces []piece
		for i, p := range c.proven {
			pieces = append(pieces, piece{upto: 10 * (i + 1), proven: p})
		}
		if got := provenUpTo(c.from, pieces); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// A long text is cut in the same way on each server, because the readers of a channel may
// have clients without multiline messages. It is whole only in a multiline message to one
// person.
func TestALongTextIsCutInTheSameWayOnEachServer(t *testing.T) {
	long := "Here is the plan.\n\n1. Read.\n2. Write a test.\n3. Mend it.\n4. Run the tests.\n\n```go\nfunc main() {\n}\n```\n\n| file | lines |\n| --- | --- |\n| login.go | 12 |\n"
	for _, c := range []struct {
		whole, alone bool
		lines        int
	}{{false, false, maxShown + 1}, {true, false, maxShown + 1}, {false, true, maxShown + 1}, {true, true, strings.Count(long, "\n")}} {
		cut := cutter{prefix: "[coder] ", limit: 400, whole: c.whole, alone: c.alone, read: "swarm: read k7f3q9m2xd"}
		text := cut.short(long)
		if n := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1; n != c.lines {
			t.Errorf("multiline %t, privately %t: %d lines, want %d:\n%s", c.whole, c.alone, n, c.lines, text)
		}
		if short := c.lines == maxShown+1; short != strings.HasSuffix(text, "more lines: swarm: read k7f3q9m2xd)") || short && strings.Contains(text, "```") {
			t.Errorf("multiline %t, privately %t:\n%s", c.whole, c.alone, text)
		}
	}
}
