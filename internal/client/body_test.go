package client_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/claude-swarm/claude-swarm/internal/client"
)

const maxBody = 8192

func TestFlawOf(t *testing.T) {
	for _, tc := range []struct {
		body string
		want client.Flaw
		at   int
	}{
		{"Do PERF-015\n", client.Sound, 0},
		{strings.Repeat("x", maxBody), client.Sound, 0},
		{"é\uFFFD", client.Sound, 0},
		{"", client.Empty, 0},
		{" \n\t", client.Empty, 0},
		{"a\x00b", client.HasNUL, 1},
		{"é\xe9x", client.NotUTF8, 2},
		{strings.Repeat("x", maxBody+1), client.TooLong, maxBody},
	} {
		if flaw, at := client.FlawOf([]byte(tc.body), maxBody); flaw != tc.want || at != tc.at {
			t.Errorf("FlawOf(%.20q) = %d at %d, want %d at %d", tc.body, flaw, at, tc.want, tc.at)
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
		if got := client.Body(tc.words, maxBody); string(got) != tc.want {
			t.Errorf("Body(%.20q) = %.20q, want %.20q", tc.words, got, tc.want)
		}
	}
}

// A body without a flaw is valid and within the size limit. For any other body, FlawOf
// returns the offset of the flaw.
func FuzzFlawOf(f *testing.F) {
	f.Add([]byte("two\nlines\n"))
	f.Add([]byte("abc\xff"))
	f.Add([]byte("é\x00"))
	f.Add(bytes.Repeat([]byte("€"), maxBody/3+1))
	f.Fuzz(func(t *testing.T, body []byte) {
		flaw, at := client.FlawOf(body, maxBody)
		good := len(bytes.TrimSpace(body)) > 0 && !bytes.ContainsRune(body, 0) && utf8.Valid(body) && len(body) <= maxBody
		switch {
		case good != (flaw == client.Sound):
			t.Fatalf("FlawOf(%q) = %d", body, flaw)
		case flaw == client.HasNUL && body[at] != 0:
			t.Fatalf("FlawOf(%q): no NUL at byte %d", body, at)
		case flaw == client.NotUTF8 && (!utf8.Valid(body[:at]) || utf8.FullRune(body[at:]) && utf8.Valid(body[:at+1])):
			t.Fatalf("FlawOf(%q): UTF-8 does not end at byte %d", body, at)
		}
	})
}
