package screen_test

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

const (
	household = "👩\u200d👩\u200d👧\u200d👦" // seven runes that form one character of two columns
	acute     = "e\u0301"                // two runes that form one character of one column
)

func TestColumnsOf(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "coder": 5, "Größe €": 7, "日本語": 6, "한글": 4, "ａ": 2, "🎉": 2, household: 2, "🇩🇪": 2,
		acute: 1, "cafe\u0301s": 5, "…→✓": 3, "ab\xff": 3,
	} {
		if got := screen.Columns(text); got != want {
			t.Errorf("Columns(%q) = %d, want %d", text, got, want)
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
		got := screen.Cut(tc.text, tc.n)
		if got != tc.want || screen.Columns(got) > max(tc.n, 0) {
			t.Errorf("Cut(%q, %d) = %q, want %q", tc.text, tc.n, got, tc.want)
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
		got := screen.Whole(tc.text, 8)
		if got != tc.want {
			t.Errorf("Whole(%q) = %q, want %q", tc.text, got, tc.want)
		}
		for line := range strings.SplitSeq(got, "\n") {
			if screen.Columns(line) > 8 {
				t.Errorf("a line of Whole(%q) has %d columns: %q", tc.text, screen.Columns(line), line)
			}
		}
	}
	if got := screen.Whole(household, 1); got != household {
		t.Errorf("Whole with room for no letter = %q, want %q", got, household)
	}
}
