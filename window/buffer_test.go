package window_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/window"
)

func whole(b *window.Buffer) string {
	return string(b.AppendRange(nil, b.Start(), b.End()))
}

func TestRender(t *testing.T) {
	for name, tt := range map[string]struct {
		add  func(*window.Buffer)
		want string
	}{
		"a text stays as it is":       {func(b *window.Buffer) { b.AddText("One.\n\n  Two.") }, "One.\n\n  Two.\n"},
		"newlines around it do not":   {func(b *window.Buffer) { b.AddText("\n\nOne.\r\n\n") }, "One.\n"},
		"a space text is nothing":     {func(b *window.Buffer) { b.AddText(" \n ") }, ""},
		"invalid UTF-8":               {func(b *window.Buffer) { b.AddText("a\xff\xfeb") }, "a\uFFFDb\n"},
		"a call shows its argument":   {func(b *window.Buffer) { b.AddCall("Bash", "go test ./...", []byte(`{"command":"x"}`)) }, "$ Bash go test ./...\n"},
		"its last newlines are cut":   {func(b *window.Buffer) { b.AddCall("Bash", "tail\r\n", []byte(`{}`)) }, "$ Bash tail\n"},
		"without one it shows JSON":   {func(b *window.Buffer) { b.AddCall("mcp__x__y", "", []byte(`{ "a" : [1, 2] }`)) }, `$ mcp__x__y {"a":[1,2]}` + "\n"},
		"a call without input":        {func(b *window.Buffer) { b.AddCall("TaskList", "", []byte(`{}`)) }, "$ TaskList\n"},
		"input that is not JSON":      {func(b *window.Buffer) { b.AddCall("X", "", []byte(`{"a`)) }, `$ X {"a` + "\n"},
		"a result":                    {func(b *window.Buffer) { b.AddResult("Bash", "ok\nfine\n", false) }, "→ Bash: ok\nfine\n"},
		"a failed result":             {func(b *window.Buffer) { b.AddResult("Bash", "exit 1", true) }, "✗ Bash: exit 1\n"},
		"a result of an unknown call": {func(b *window.Buffer) { b.AddResult("", "ok", false) }, "→ ok\n"},
		"an empty result":             {func(b *window.Buffer) { b.AddResult("Bash", "", false) }, "→ Bash\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := window.New(window.Options{})
			tt.add(b)
			if diff := cmp.Diff(tt.want, whole(b)); diff != "" {
				t.Errorf("rendered (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEvictionKeepsWholeEntriesAndPositions(t *testing.T) {
	b := window.New(window.Options{MaxBytes: 12})
	for _, s := range []string{"one", "two", "three"} { // 4 + 4 + 6 bytes
		b.AddText(s)
	}
	if got, want := whole(b), "two\nthree\n"; got != want {
		t.Errorf("window = %q, want %q", got, want)
	}
	if b.Start() != 4 || b.End() != 14 || b.Len() != 10 {
		t.Errorf("Start, End, Len = %d, %d, %d, want 4, 14, 10", b.Start(), b.End(), b.Len())
	}
	b.AddText(strings.Repeat("é", 10)) // 21 bytes: only the end is kept, and it begins with a complete character
	if got, want := whole(b), strings.Repeat("é", 5)+"\n"; got != want {
		t.Errorf("window = %q, want %q", got, want)
	}
	if b.Start() != 24 || b.End() != 35 {
		t.Errorf("Start, End = %d, %d, want 24, 35", b.Start(), b.End())
	}
}

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "coder")
	b := window.New(window.Options{MaxBytes: 30})
	for range 9 {
		b.AddText("some text")
	}
	b.SetMark("turn-7")
	if err := b.Save(path); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode() != 0o600 {
		t.Errorf("mode = %v, %v, want -rw-------", fi.Mode(), err)
	}
	got, err := window.Load(path, window.Options{MaxBytes: 30})
	if err != nil {
		t.Fatal(err)
	}
	if whole(got) != whole(b) || got.Start() != b.Start() || got.End() != b.End() || got.Mark() != "turn-7" {
		t.Errorf("loaded %q [%d, %d) %q, want %q [%d, %d) turn-7", whole(got), got.Start(), got.End(), got.Mark(), whole(b), b.Start(), b.End())
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("Save left %v", left)
	}
}

func TestLoadWhereNothingIs(t *testing.T) {
	b, err := window.Load(filepath.Join(t.TempDir(), "nobody"), window.Options{})
	if err != nil || b.Len() != 0 || b.End() != 0 {
		t.Errorf("Load = %d bytes, %v, want an empty window", b.Len(), err)
	}
}

func TestLoadPutsABrokenFileAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "coder")
	b := window.New(window.Options{})
	b.AddText("some text")
	if err := b.Save(path); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty":          nil,
		"cut off":        good[:len(good)-1],
		"longer":         append(good[:len(good):len(good)], "x"...),
		"another byte":   []byte(strings.Replace(string(good), "text", "next", 1)),
		"entries short":  []byte(strings.Replace(string(good), "[10]", "[9]", 1)),
		"entries long":   []byte(strings.Replace(string(good), "[10]", "[11]", 1)),
		"entries absurd": []byte(strings.Replace(string(good), "[10]", "[-1,11]", 1)),
		"newer version":  []byte(strings.Replace(string(good), `"v":1`, `"v":2`, 1)),
		"negative start": []byte(strings.Replace(string(good), `"start":0`, `"start":-1`, 1)),
		"no window":      []byte("hello\n"),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "coder")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			b, err := window.Load(path, window.Options{})
			if !errors.Is(err, window.ErrBroken) {
				t.Fatalf("Load: %v, want ErrBroken", err)
			}
			if b == nil || b.Len() != 0 {
				t.Errorf("Load returned %v, want an empty window", b)
			}
			if kept, err := os.ReadFile(path + ".broken"); err != nil || string(kept) != string(data) {
				t.Errorf("put aside: %q, %v, want the broken file", kept, err)
			}
			if _, err := window.Load(path, window.Options{}); err != nil {
				t.Errorf("the next Load: %v", err)
			}
		})
	}
}
