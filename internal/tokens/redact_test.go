package tokens_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/tokens"
)

func TestRedactor(t *testing.T) {
	const coder, lead = "NDGFHCVWAUMSOU4NHL3JBTNHQD", "FLWQWWR5AXGM2J53IEIMJSHXFI"
	r := tokens.NewRedactor(map[string]string{"coder": coder, "lead": lead, "short": "abc", "": ""})
	for text, want := range map[string]string{
		"nothing abc":                  "nothing abc",
		"":                             "",
		"x" + coder + "y":              "x[token of coder]y",
		coder + lead + "\n" + coder:    "[token of coder][token of lead]\n[token of coder]",
		"the first half " + coder[:20]: "the first half " + coder[:20],
	} {
		if got := r.Text(text); got != want {
			t.Errorf("Text(%q) = %q, want %q", text, got, want)
		}
		if got := r.Bytes([]byte(text)); string(got) != want {
			t.Errorf("Bytes(%q) = %q, want %q", text, got, want)
		}
		if r.In([]byte(text)) != (text != want) {
			t.Errorf("In(%q) = %t", text, text == want)
		}
	}
	alike := tokens.NewMarks(map[string]string{"password-1": "[one]", "password-2": "[two]", "password": "[short]"})
	if got := alike.Text("password-2 password-3 passwor"); got != "[two] [short]-3 passwor" {
		t.Errorf("secrets with the same beginning: %q", got)
	}
	var none *tokens.Redactor
	if none.Text(coder) != coder || none.In([]byte(coder)) {
		t.Error("a redactor that is nil replaces something")
	}
	if text := []byte("plain"); &r.Bytes(text)[0] != &text[0] {
		t.Error("a text without secrets is copied")
	}
}

// A source picks up a token that is added while the source is in use, for example by a
// reload.
func TestSource(t *testing.T) {
	home := t.TempDir()
	s := tokens.NewSource(home)
	var out bytes.Buffer
	w := s.Writer(&out)
	say := func(text string) {
		t.Helper()
		if n, err := w.Write([]byte(text)); err != nil || n != len(text) {
			t.Fatalf("Write = %d, %v", n, err)
		}
	}
	say("before AAAAAAAAAAAAAAAA\n")
	write := func(text string, at time.Time) {
		t.Helper()
		path := filepath.Join(home, "tokens")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	write("coder AAAAAAAAAAAAAAAA\n", now)
	say("with AAAAAAAAAAAAAAAA BBBBBBBBBBBBBBBB\n")
	write("coder AAAAAAAAAAAAAAAA\nrev BBBBBBBBBBBBBBBB\n", now)
	say("both AAAAAAAAAAAAAAAA BBBBBBBBBBBBBBBB\n")
	want := "before AAAAAAAAAAAAAAAA\nwith [token of coder] BBBBBBBBBBBBBBBB\nboth [token of coder] [token of rev]\n"
	if out.String() != want {
		t.Errorf("written: %q, want %q", &out, want)
	}
	var none *tokens.Source
	if got := none.Hidden([]byte("AAAAAAAAAAAAAAAA")); string(got) != "AAAAAAAAAAAAAAAA" {
		t.Errorf("no source makes %q", got)
	}
}
