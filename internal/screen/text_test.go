package screen_test

import (
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
