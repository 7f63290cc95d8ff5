package window_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/window"
)

// golden compares got with testdata/name and rewrites that file if UPDATE is set.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestBanner(t *testing.T) {
	b := window.New(window.Options{})
	b.AddText("I run the tests.")
	b.AddCall("Bash", "go test ./...", []byte(`{"command":"go test ./...","description":"Run the tests"}`))
	b.AddResult("Bash", "Exit code 1\nok   demo  0.012s\nFAIL mail  0.034s", true)
	b.AddText("One package failed: mail.")
	got := window.Banner(nil, b.Tokens(), b.AppendRange(nil, b.Start(), b.End()))
	golden(t, "banner.txt", got)
	if again := window.Banner([]byte("before "), b.Tokens(), b.AppendRange(nil, b.Start(), b.End())); string(again) != "before "+string(got) {
		t.Errorf("Banner does not append: %q", again)
	}
}

func TestLimit(t *testing.T) {
	for _, tt := range []struct{ tokens, compact, want int }{
		{100_000, 200_000, 133_600}, // 40% of 167,000 tokens of two bytes each
		{100_000, 100_000, 53_600},  // 40% of 67,000
		{100_000, 60_000, 53_600},   // counts as 100,000
		{100_000, 1_000_000, 400_000},
		{1_000, 200_000, 4_000},
		{100_000, 0, 400_000}, // the point at which the client compacts is unknown
	} {
		if got := window.Limit(tt.tokens, tt.compact); got != tt.want {
			t.Errorf("Limit(%d, %d) = %d, want %d", tt.tokens, tt.compact, got, tt.want)
		}
	}
}

func TestTokensFollowBytesPerToken(t *testing.T) {
	for bytesPerToken, want := range map[float64]int{0: 25, 4: 25, 2: 50, 2.5: 40} {
		b := window.New(window.Options{BytesPerToken: bytesPerToken})
		b.AddText(strings.Repeat("x ", 49) + "x") // 100 bytes including its newline
		if got := b.Tokens(); got != want {
			t.Errorf("BytesPerToken %v: Tokens = %d, want %d", bytesPerToken, got, want)
		}
	}
}

// random returns n random bytes as base64. The bytes are the same on every run.
func random(n int) string {
	src := rand.NewChaCha8([32]byte{1})
	data := make([]byte, n)
	src.Read(data)
	return base64.StdEncoding.EncodeToString(data)
}

// lines splits text into lines.
func lines(text string, width int, newline string) string {
	var out []string
	for ; len(text) > width; text = text[width:] {
		out = append(out, text[:width])
	}
	return strings.Join(append(out, text), newline)
}

func TestBase64IsCut(t *testing.T) {
	long := random(900) // 1,200 bytes
	paths := ""
	for i := range 20 {
		paths += fmt.Sprintf("/home/dev/Project%02d/node_modules/some-package/node_modules/another-one/lib/%s\n", i, strings.Repeat("x", i%3))
	}
	for name, tt := range map[string]struct{ text, want string }{
		"in the middle":      {"a " + long + " b", "a " + long[:24] + "[… 1,176 bytes cut …] b"},
		"a data URI":         {"data:image/png;base64," + long + `">`, "data:image/png;base64," + long[:24] + `[… 1,176 bytes cut …]">`},
		"lines of MIME":      {"begin\n" + lines(long, 76, "\n") + "\nend", "begin\n" + long[:24] + "[… 1,191 bytes cut …]\nend"},
		"lines with CRLF":    {"begin\r\n" + lines(long, 64, "\r\n") + "\r\nend", "begin\r\n" + long[:24] + "[… 1,212 bytes cut …]\r\nend"},
		"twice":              {long + " and " + long, long[:24] + "[… 1,176 bytes cut …] and " + long[:24] + "[… 1,176 bytes cut …]"},
		"256 bytes":          {random(192), random(192)[:24] + "[… 232 bytes cut …]"},
		"a key stays":        {"key " + random(96), "key " + random(96)},
		"a line of dashes":   {strings.Repeat("-", 500), strings.Repeat("-", 500)},
		"a hash or hex dump": {strings.Repeat("deadbeef01", 60), strings.Repeat("deadbeef01", 60)},
		"long paths":         {paths, strings.TrimRight(paths, "\n")},
		"prose":              {strings.Repeat("All is well. ", 90), strings.Repeat("All is well. ", 90)},
	} {
		t.Run(name, func(t *testing.T) {
			b := window.New(window.Options{})
			b.AddText(tt.text)
			if diff := cmp.Diff(tt.want+"\n", whole(b)); diff != "" {
				t.Errorf("AddText (-want +got):\n%s", diff)
			}
			b = window.New(window.Options{})
			b.AddResult("", tt.text, false)
			if diff := cmp.Diff("→ "+tt.want+"\n", whole(b)); diff != "" {
				t.Errorf("AddResult (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLongResultsLoseTheirMiddle(t *testing.T) {
	text := strings.Repeat("all is well 😀\n", 4000) // 68,000 bytes
	for _, most := range []int{0, 256, 1000, 16 << 10} {
		b := window.New(window.Options{MaxResult: most})
		b.AddResult("Bash", text, false)
		got := strings.TrimSuffix(strings.TrimPrefix(whole(b), "→ Bash: "), "\n")
		if most == 0 {
			most = 16 << 10
		}
		if len(got) > most || len(got) < most-80 {
			t.Errorf("MaxResult %d: kept %d bytes", most, len(got))
		}
		head, rest, ok := strings.Cut(got, "\n[… ")
		note, tail, ok2 := strings.Cut(rest, " bytes cut …]\n")
		var lost int
		if _, err := fmt.Sscan(strings.ReplaceAll(note, ",", ""), &lost); !ok || !ok2 || err != nil {
			t.Fatalf("MaxResult %d: no note in %q", most, got)
		}
		if want := len(strings.TrimRight(text, "\n")); len(head)+lost+len(tail) != want {
			t.Errorf("MaxResult %d: %d + %d lost + %d bytes, want %d together", most, len(head), lost, len(tail), want)
		}
		if !strings.HasPrefix(text, head) || !strings.HasSuffix(strings.TrimRight(text, "\n"), tail) {
			t.Errorf("MaxResult %d: head or tail are not the text's own", most)
		}
	}
}

func TestLongCallsAreBounded(t *testing.T) {
	b := window.New(window.Options{})
	b.AddCall("Bash", "cat > a <<EOF\n"+strings.Repeat("some line\n", 1000)+"EOF", nil)
	if got := whole(b); b.Len() > 2<<10+10 || !strings.HasPrefix(got, "$ Bash cat > a <<EOF\nsome line\n") || !strings.HasSuffix(got, "some line\nEOF\n") {
		t.Errorf("call of %d bytes: %.60q … %q", b.Len(), got, got[len(got)-30:])
	}
}

func TestCallTextIsTheEntryOfACall(t *testing.T) {
	for name, c := range map[string]struct{ about, input string }{
		"Bash": {"ls", `{"command":"ls"}`}, "TaskList": {"", `{}`}, "mcp__x__y": {"", `{"a": 1}`}, "Read": {strings.Repeat("é/", 3000), `{}`},
	} {
		b := window.New(window.Options{})
		b.AddCall(name, c.about, []byte(c.input))
		if got := window.CallText(name, c.about, []byte(c.input)) + "\n"; got != whole(b) {
			t.Errorf("CallText(%s) = %q, want %q", name, got, whole(b))
		}
	}
}

func TestNewest(t *testing.T) {
	b := window.New(window.Options{})
	b.AddText("first")   // 0: 6 bytes, 6 characters
	b.AddText("zwei é")  // 6: 8 bytes, 7 characters
	b.AddText("drei 😀😀") // 14: 14 bytes, 10 UTF-16 code units
	for _, tt := range []struct {
		chars int
		want  int64
	}{{100, 0}, {23, 0}, {22, 6}, {17, 6}, {16, 14}, {10, 14}, {9, 15}, {3, 23}, {2, 27}, {1, 27}, {0, 28}} {
		if got := b.Newest(tt.chars); got != tt.want {
			t.Errorf("Newest(%d) = %d, want %d", tt.chars, got, tt.want)
		}
	}
	if got := window.New(window.Options{}).Newest(10); got != 0 {
		t.Errorf("Newest of an empty window = %d", got)
	}
}
