package screen_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

func TestNothingInATextSteersTheTerminal(t *testing.T) {
	const text = "a\x1b[2Jb\x07\r\n\u009b31mc\td\u202ecod\u202c \u2066x\u2069 \u05d0\u200f é 🎉"
	if got, want := screen.Plain(text), "a[2Jb\n31mc\tdcod x \u05d0\u200f é 🎉"; got != want {
		t.Errorf("Plain = %q, want %q", got, want)
	}
	if got, want := screen.OneLine(text), "a [2Jb 31mc d cod x \u05d0\u200f é 🎉"; got != want {
		t.Errorf("OneLine = %q, want %q", got, want)
	}
}

func TestWhatSteersIsShown(t *testing.T) {
	const text = "a\x1b[2Jb\n\t\u009b \u202ecod \xff é 🎉 \ufffd"
	if got, want := screen.Visible(text), "a\\x1b[2Jb\n\t\\xc2\\x9b \\xe2\\x80\\xaecod \\xff é 🎉 \ufffd"; got != want {
		t.Errorf("Visible = %q, want %q", got, want)
	}
	for _, word := range []string{text, "it's", "a b", "x\x1b]0;title\x07", `back\slash '` + "\r", "\xe2\x80", "two\nlines", "tab\t"} {
		typed := screen.TypedWord(word)
		if screen.Visible(typed) != typed || strings.ContainsAny(typed, "\n\t") {
			t.Errorf("TypedWord(%q) = %q", word, typed)
		}
		if out, err := exec.Command("bash", "-c", "printf %s "+typed).Output(); string(out) != word || err != nil {
			t.Errorf("bash reads %s as %q, %v, want %q", typed, out, err, word)
		}
	}
}

func TestShort(t *testing.T) {
	for _, tc := range []struct {
		text string
		n    int
		want string
	}{
		{"one\n two\r\n", 80, "one two"}, {"bad \xff byte", 80, "bad byte"}, {"one two", 5, "one …"}, {"one", 0, ""},
		{strings.Repeat("ä", 1<<20), 4, "äää…"}, {strings.Repeat(" ", 1<<20) + "x", 4, ""},
	} {
		if got := screen.Short(tc.text, tc.n); got != tc.want {
			t.Errorf("Short(%.20q, %d) = %q, want %q", tc.text, tc.n, got, tc.want)
		}
	}
}

// A text is cut at a number of bytes, but never inside a rune.
func TestTruncate(t *testing.T) {
	for _, row := range []struct {
		text string
		most int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"aéb", 2, "a…"}, {"", 0, ""}} {
		if got := screen.Truncate(row.text, row.most); got != row.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", row.text, row.most, got, row.want)
		}
	}
}
