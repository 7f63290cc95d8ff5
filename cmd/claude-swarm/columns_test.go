package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	household = "👩\u200d👩\u200d👧\u200d👦" // seven runes, one letter of two columns
	acute     = "e\u0301"                // two runes, one letter of one column
)

func TestColumnsOf(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "coder": 5, "Größe €": 7, "日本語": 6, "한글": 4, "ａ": 2, "🎉": 2, household: 2, "🇩🇪": 2,
		acute: 1, "cafe\u0301s": 5, "…→✓": 3, "ab\xff": 3,
	} {
		if got := columnsOf(text); got != want {
			t.Errorf("columnsOf(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestCutKeepsLettersWhole(t *testing.T) {
	for _, tc := range []struct {
		text string
		n    int
		want string
	}{
		{"coder", 5, "coder"}, {"coder", 4, "cod…"}, {"coder", 1, "…"}, {"coder", 0, ""}, {"coder", -3, ""}, {"", 0, ""},
		{"日本語", 6, "日本語"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"}, {"日本語", 2, "…"},
		{household + household, 4, household + household}, {household + household, 3, household + "…"}, {household + household, 2, "…"},
		{acute + acute + acute, 3, acute + acute + acute}, {acute + acute + acute, 2, acute + "…"},
		{"a日b", 3, "a…"}, {"🇩🇪🇫🇷", 3, "🇩🇪…"},
	} {
		got := cut(tc.text, tc.n)
		if got != tc.want || columnsOf(got) > max(tc.n, 0) {
			t.Errorf("cut(%q, %d) = %q, want %q", tc.text, tc.n, got, tc.want)
		}
	}
}

func TestWholeLosesNoLetter(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"日本語日本語", "日本語日\n本語"},
		{"日本 語日 本", "日本\n語日 本"},
		{"a" + strings.Repeat("語", 5), "a語語語\n語語"},
		{strings.Repeat(household, 5), strings.Repeat(household, 4) + "\n" + household},
		{strings.Repeat(acute, 9), strings.Repeat(acute, 8) + "\n" + acute},
		{"語語語 語   next: claude", "語語語\n語\nnext:\nclaude"},
	} {
		got := whole(tc.text, 8)
		if got != tc.want {
			t.Errorf("whole(%q) = %q, want %q", tc.text, got, tc.want)
		}
		for line := range strings.SplitSeq(got, "\n") {
			if columnsOf(line) > 8 {
				t.Errorf("a line of whole(%q) has %d columns: %q", tc.text, columnsOf(line), line)
			}
		}
	}
	if got := whole(household, 1); got != household {
		t.Errorf("whole with room for no letter = %q, want %q", got, household)
	}
}

func TestTableLinesUpOnTheScreen(t *testing.T) {
	table := &table{width: 80}
	long := strings.Repeat("語", 30)
	table.add("FROM", "SUBJECT", "STATE")
	table.add("coder", "plain", "new")
	table.add("日本語", "한글", "new")
	table.add("party"+household, "🎉🎉🎉", "done")
	table.add(acute+"tienne", "cafe\u0301", "new")
	table.add("a", long, strings.Repeat("本", 20))
	want := "FROM     SUBJECT" + strings.Repeat(" ", 55) + "STATE\n" +
		"coder    plain" + strings.Repeat(" ", 57) + "new\n" +
		"日本語   한글" + strings.Repeat(" ", 58) + "new\n" +
		"party" + household + "  🎉🎉🎉" + strings.Repeat(" ", 56) + "done\n" +
		acute + "tienne  cafe\u0301" + strings.Repeat(" ", 58) + "new\n" +
		"a        " + long + "  本本本本…\n" // 80 - 9 - 62 columns
	var out strings.Builder
	table.write(&out, nil)
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// A row that leaves its last cell too little room is folded, and none of its words is lost.
func TestACrowdedTableIsFolded(t *testing.T) {
	table := func(width int) string {
		t := &table{width: width, keep: 2}
		t.add("ylya6xrc63", "06:54:22", "unread", "coder", "Re: a test for it")
		t.add("zzzz6xrc63", "06:54:23", "read", "rev", "")
		var out strings.Builder
		t.write(&out, nil)
		return out.String()
	}
	const row = "ylya6xrc63  06:54:22  unread  coder  Re: a test for it\nzzzz6xrc63  06:54:23  read    rev\n"
	const folded = "ylya6xrc63  06:54:22\n  unread  coder  Re: a test for it\nzzzz6xrc63  06:54:23\n  read  rev\n"
	for width, want := range map[int]string{40: folded, 53: folded, 54: row, 80: row} {
		if diff := cmp.Diff(want, table(width)); diff != "" {
			t.Errorf("on %d columns (-want +got):\n%s", width, diff)
		}
	}
}
