package follow_test

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"one\n two\r\n":                "one two",
		"\x1b[31mred\x1b[0m":           "[31mred[0m",
		"bad \xff byte":                "bad \uFFFD byte",
		strings.Repeat("ä", 300):       strings.Repeat("ä", 200) + "…",
		"a" + strings.Repeat("ä", 300): "a" + strings.Repeat("ä", 199) + "…",
	} {
		if got := follow.OneLine(text); got != want {
			t.Errorf("OneLine(%.40q) = %q, want %q", text, got, want)
		}
	}
}
