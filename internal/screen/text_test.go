package screen_test

import (
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
