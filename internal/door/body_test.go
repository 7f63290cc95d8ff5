package door_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/claude-swarm/claude-swarm/internal/door"
)

const maxBody = 8192

func TestLook(t *testing.T) {
	for _, tc := range []struct {
		body string
		want door.Flaw
		at   int
	}{
		{"Do PERF-015\n", door.Sound, 0},
		{strings.Repeat("x", maxBody), door.Sound, 0},
		{"é\uFFFD", door.Sound, 0},
		{"", door.Empty, 0},
		{" \n\t", door.Empty, 0},
		{"a\x00b", door.HasNUL, 1},
		{"é\xe9x", door.NotUTF8, 2},
		{strings.Repeat("x", maxBody+1), door.TooLong, maxBody},
	} {
		if flaw, at := door.Look([]byte(tc.body), maxBody); flaw != tc.want || at != tc.at {
			t.Errorf("Look(%.20q) = %d at %d, want %d at %d", tc.body, flaw, at, tc.want, tc.at)
		}
	}
}

func TestBody(t *testing.T) {
	full := strings.Repeat("x", maxBody)
	for _, tc := range []struct {
		words []string
		want  string
	}{
		{[]string{"Do", "PERF-015"}, "Do PERF-015\n"},
		{[]string{"one\n"}, "one\n"},
		{[]string{full}, full}, // no room for a newline
	} {
		if got := door.Body(tc.words, maxBody); string(got) != tc.want {
			t.Errorf("Body(%.20q) = %.20q, want %.20q", tc.words, got, tc.want)
		}
	}
}

// What is sound is text of the right size, and a flaw is where it is said to be.
func FuzzLook(f *testing.F) {
	f.Add([]byte("two\nlines\n"))
	f.Add([]byte("abc\xff"))
	f.Add([]byte("é\x00"))
	f.Add(bytes.Repeat([]byte("€"), maxBody/3+1))
	f.Fuzz(func(t *testing.T, body []byte) {
		flaw, at := door.Look(body, maxBody)
		good := len(bytes.TrimSpace(body)) > 0 && !bytes.ContainsRune(body, 0) && utf8.Valid(body) && len(body) <= maxBody
		switch {
		case good != (flaw == door.Sound):
			t.Fatalf("Look(%q) = %d", body, flaw)
		case flaw == door.HasNUL && body[at] != 0:
			t.Fatalf("Look(%q): no NUL at byte %d", body, at)
		case flaw == door.NotUTF8 && (!utf8.Valid(body[:at]) || utf8.FullRune(body[at:]) && utf8.Valid(body[:at+1])):
			t.Fatalf("Look(%q): UTF-8 does not end at byte %d", body, at)
		}
	})
}
