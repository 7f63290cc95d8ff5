package swarm

import (
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

func TestTheLogDoesNotSteerTheTerminal(t *testing.T) {
	if got, want := screen.Plain("a\x1b[2Jb\x07\r\n\u009b31mc\td\u202ecod\u202c \u2066x\u2069 é"), "a[2Jb\n31mc\tdcod x é"; got != want {
		t.Errorf("printable = %q, want %q", got, want)
	}
}
