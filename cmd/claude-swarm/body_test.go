package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const maxBody = 8192

func TestTextSource(t *testing.T) {
	file := filepath.Join(t.TempDir(), "task.md")
	if err := os.WriteFile(file, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		source textSource
		want   string
		err    string // a substring of the expected error
		code   int
	}{
		"words":           {source: textSource{words: []string{"Do", "PERF-015"}}, want: "Do PERF-015\n"},
		"a command":       {source: textSource{words: []string{"/clear"}}, want: "/clear\n"},
		"a dash":          {source: textSource{words: []string{"-", "one"}}, want: "- one\n"},
		"standard input":  {source: textSource{words: []string{"-"}, stdin: strings.NewReader("two\nlines\n")}, want: "two\nlines\n"},
		"no end of line":  {source: textSource{words: []string{"-"}, stdin: strings.NewReader("one\r\n\n two")}, want: "one\r\n\n two"},
		"a file":          {source: textSource{file: file}, want: "from a file\n"},
		"exactly full":    {source: textSource{words: []string{strings.Repeat("x", maxBody)}}, want: strings.Repeat("x", maxBody)},
		"nothing":         {source: textSource{}, err: "the text is missing", code: exitUsage},
		"empty":           {source: textSource{words: []string{""}}, err: "the text is empty", code: exitUsage},
		"blank":           {source: textSource{words: []string{" \n"}}, err: "the text is empty", code: exitUsage},
		"empty input":     {source: textSource{words: []string{"-"}, stdin: strings.NewReader("")}, err: "the text is empty", code: exitUsage},
		"NUL":             {source: textSource{words: []string{"a\x00b"}}, err: "NUL byte (at byte 2)", code: exitUsage},
		"not UTF-8":       {source: textSource{words: []string{"abc\xff"}}, err: "not UTF-8 (at byte 4)", code: exitUsage},
		"too long":        {source: textSource{words: []string{strings.Repeat("x", maxBody+1)}}, err: "the text is 8,193 bytes long; a message can be at most 8,192 bytes long", code: exitRefused},
		"twice":           {source: textSource{words: []string{"x"}, file: file}, err: "given twice", code: exitUsage},
		"no such file":    {source: textSource{file: file + "x"}, err: "no file", code: exitFailed},
		"a folder":        {source: textSource{file: filepath.Dir(file)}, err: "is a folder", code: exitFailed},
		"too long a file": {source: textSource{words: []string{"-"}, stdin: strings.NewReader(strings.Repeat("x", 1_000_000))}, err: "1,000,000 bytes", code: exitRefused},
	} {
		t.Run(name, func(t *testing.T) {
			tc.source.readable = func(path string) (string, error) { return path, nil }
			tc.source.as, tc.source.most = "claude-swarm send coder", maxBody
			got, err := tc.source.read()
			if tc.err == "" {
				if err != nil || string(got) != tc.want {
					t.Errorf("read() = %q, %v, want %q", got, err, tc.want)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.err) || exitCode(err) != tc.code {
				t.Errorf("read() = %v (exit %d), want %q (exit %d)", err, exitCode(err), tc.err, tc.code)
			}
			if hint := nextStep(err); tc.code != exitFailed && !strings.HasPrefix(hint, "claude-swarm send coder") {
				t.Errorf("the next step is %q, want a command line", hint)
			}
		})
	}
}

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"notes/a.md": "notes/a.md",
		"a b":        "'a b'",
		"it's":       `'it'\''s'`,
		"":           "''",
		"$HOME":      "'$HOME'",
	} {
		if got := shellWord(word); got != want {
			t.Errorf("shellWord(%q) = %s, want %s", word, got, want)
		}
	}
}
