package irc_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rivo/uniseg"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

func TestSplit(t *testing.T) {
	family := "👩‍👩‍👧" // 18 bytes, but one visible character
	for _, c := range []struct {
		text  string
		limit int
		want  []string // a leading + means Concat
	}{
		{"", 10, []string{""}},
		{"one\n\ntwo\n", 10, []string{"one", "", "two", ""}},
		{"0123456789", 10, []string{"0123456789"}},
		{"0123456789a", 10, []string{"0123456789", "+a"}},
		{"hello dear world", 10, []string{"hello dear", "+ world"}},
		{"hello dearest world", 10, []string{"hello", "+ dearest", "+ world"}},
		{"a 0123456789abcdef b", 10, []string{"a 01234567", "+89abcdef b"}},
		{"a  b", 4, []string{"a  b"}},
		{"aaa  bbb", 5, []string{"aaa", "+  bbb"}},
		{"äöüß", 4, []string{"äö", "+üß"}},
		{"äöüß", 5, []string{"äö", "+üß"}},
		{"x" + family + family, 20, []string{"x" + family, "+" + family}},
		{family, 10, []string{"👩\u200d", "+👩\u200d", "+👧"}},
		{strings.Repeat(" ", 9), 4, []string{"    ", "+    ", "+ "}},
		{"\xff\xff\xff\xff\xff\xff", 4, []string{"\xff\xff\xff\xff", "+\xff\xff"}},
		{"e\u0301e\u0301", 4, []string{"e\u0301", "+e\u0301"}},
	} {
		var got []string
		for _, l := range irc.Split(c.text, c.limit) {
			if l.Concat {
				l.Text = "+" + l.Text
			}
			got = append(got, l.Text)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("Split(%q, %d) (-want +got):\n%s", c.text, c.limit, diff)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("hello dear world\nand more", 10, 40, 3)
	f.Add("👩‍👩‍👧👩‍👩‍👧 x", 19, 18, 1)
	f.Add("   \n\n\xff\xf0", 4, 1, 0)
	f.Fuzz(func(t *testing.T, text string, limit, maxBytes, maxLines int) {
		limit = max(limit%600, 4)
		lines := irc.Split(text, limit)
		if got := irc.Join(lines); got != text {
			t.Fatalf("Join(Split(%q)) = %q", text, got)
		}
		if !utf8.ValidString(text) {
			return
		}
		for i, l := range lines {
			if len(l.Text) > limit || !utf8.ValidString(l.Text) || l.Concat && l.Text == "" {
				t.Fatalf("Split(%q, %d) makes line %q", text, limit, l.Text)
			}
			// A character is split only if that character is longer than a line.
			if i > 0 && l.Concat {
				before := lines[i-1].Text
				both := before + l.Text
				first, _, _, _ := uniseg.FirstGraphemeClusterInString(both, -1)
				if len(first) > len(before) && len(first) <= limit {
					t.Fatalf("Split(%q, %d) splits %q", text, limit, first)
				}
			}
		}
		maxBytes, maxLines = max(maxBytes%2000, limit), max(maxLines%20, 1)
		batches := irc.Batches(slices.Clone(lines), maxBytes, maxLines)
		var again []irc.Line
		for _, b := range batches {
			again = append(again, b...)
			first := b[0].Concat
			b := slices.Clone(b)
			b[0].Concat = false
			if n := len(irc.Join(b)); n > maxBytes || len(b) > maxLines || len(b) == 0 {
				t.Fatalf("a batch of %d bytes and %d lines, limits %d and %d (continued %v)", n, len(b), maxBytes, maxLines, first)
			}
		}
		if irc.Join(again) != text {
			t.Fatalf("batches of %q join to %q", text, irc.Join(again))
		}
	})
}

// A line that fits into one batch is not split between two.
func TestBatchesEndBetweenLines(t *testing.T) {
	lines := irc.Split("first\nsecond line that is long\nthird", 10)
	var got []string
	for _, b := range irc.Batches(lines, 29, 100) {
		got = append(got, irc.Join(b))
	}
	if diff := cmp.Diff([]string{"first", "second line that is long", "third"}, got); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
}
