package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	household = "👩\u200d👩\u200d👧\u200d👦" // seven runes, shown as one character that is two columns wide
	acute     = "e\u0301"                // two runes, shown as one character that is one column wide
)

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

// A table whose last column is too narrow is folded, and no words are lost.
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
