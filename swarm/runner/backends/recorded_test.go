package backends_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// said returns what a client's recorded output shows, one line for each change and each call.
func said(t *testing.T, name string, output []byte) []string {
	t.Helper()
	r, err := backends.Kind(name).Recorded(bytes.NewReader(output))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range r.Changes {
		words := []string{filepath.Base(c.Path)}
		for word, is := range map[string]bool{"created": c.Created, "deleted": c.Deleted, "passage": c.Passage, "overwritten": c.Overwritten} {
			if is {
				words = append(words, word)
			}
		}
		slices.Sort(words[1:])
		if c.Untold != "" {
			words = append(words, string(c.Untold))
		}
		lines = append(lines, fmt.Sprintf("%s %q %q", strings.Join(words, " "), c.Before, c.After))
	}
	for _, o := range r.Others {
		lines = append(lines, "$ "+o)
	}
	if r.Unread > 0 {
		lines = append(lines, fmt.Sprintf("unread %d", r.Unread))
	}
	return lines
}

func recording(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "changes", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Each client's output shows the files that it has changed, and the commands that it has run.
func TestRecorded(t *testing.T) {
	const count = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"
	second := strings.Replace(count, "two\n", "2\n2b\n", 1) + "eleven\ntwelve\n"
	third := strings.Replace(second, "eleven", "11", 1)
	const old15 = "one\ntwo\nthree\nfour\nfive\nsiy\nseven\neight\nnine\nten\neleven\ntwelve\nthirteen\nfourteen\nfifteen\n"
	claude := []string{
		`new.txt created "" "some text\nmore\n"`,
		fmt.Sprintf("old.txt %q %q", count+"eleven\ntwelve\n", second),
		fmt.Sprintf("old.txt %q %q", second, third),
		`bare.txt "no newline" "now a line\n"`,
		fmt.Sprintf("old.txt %q %q", third, strings.ReplaceAll(third, "e", "E")),
		`made.txt created "" "made by edit\n"`,
	}
	for file, want := range map[string][]string{
		"claude-2.1.197.jsonl": claude,
		"claude-2.1.332.jsonl": claude,
		"codex.jsonl":          {`old.txt created "" "some text\n"`, `old.txt created "" "other text\n"`, "$ sed -i s/x/y/ old.txt"},
		"gemini.jsonl":         {fmt.Sprintf(`old.txt %q "some text\n"`, old15), `old.txt "some text\n" "other text\n"`, "$ sed -i s/x/y/ old.txt"},
		"opencode.jsonl":       {`old.txt overwritten "" "some text\n"`, `old.txt overwritten "" "other text\n"`, "$ sed -i s/x/y/ old.txt"},
		"copilot.jsonl":        {"$ sed -i s/x/y/ old.txt"}, // it has refused to overwrite the file
		"cline.jsonl":          {"$ sed -i s/x/y/ old.txt"}, // likewise
	} {
		kind, _, _ := strings.Cut(strings.TrimSuffix(file, ".jsonl"), "-")
		got := said(t, kind, recording(t, file))
		if kind == "claude" { // the notebook's text differs between the versions
			notebook := slices.IndexFunc(got, func(l string) bool { return strings.HasPrefix(l, "nb.ipynb ") })
			if notebook != len(claude) || len(got) != len(claude)+3 || !strings.Contains(got[notebook], "print(2)") || !strings.Contains(got[notebook+1], "# title") ||
				got[notebook+2] != "$ echo more >> new.txt" {
				t.Errorf("%s: %q", file, got)
				continue
			}
			got = got[:notebook]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s shows\n%s\nwant\n%s", file, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// A running turn is read up to its last whole line, at whatever byte the file ends.
func TestRecordedSoFar(t *testing.T) {
	for _, file := range []string{"claude-2.1.332.jsonl", "gemini.jsonl"} {
		kind, _, _ := strings.Cut(strings.TrimSuffix(file, ".jsonl"), "-")
		output := recording(t, file)
		whole := said(t, kind, output)
		seen := map[int]bool{}
		for n := range output {
			if n%97 != 0 {
				continue
			}
			got := said(t, kind, output[:n])
			seen[len(got)] = true
			for _, line := range got {
				if !slices.Contains(whole, line) {
					t.Fatalf("%s, the first %d bytes show %q", file, n, line)
				}
			}
		}
		if len(seen) < 3 {
			t.Errorf("%s: only %v", file, seen)
		}
	}
}

// The calls that a client reports before its prompt are those of an earlier turn.
func TestRecordedReplay(t *testing.T) {
	for _, c := range []string{"codex-2.6.0", "opencode-1.18.33", "copilot-1.0.102", "gemini-0.61.0", "cline-3.0.65"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "acp", c, "load.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(c, "-")
		// The recording names its requests otherwise than the daemon does.
		output := messagesOf(t, data)
		output = bytes.ReplaceAll(output, []byte(`"load-2"`), []byte(`"session"`))
		if !bytes.Contains(output, []byte("toolCallId")) {
			t.Errorf("%s replays no call", c)
		}
		if got := said(t, kind, output); len(got) > 0 {
			t.Errorf("%s shows %q", c, got)
		}
	}
}

// A call that was not permitted is no work.
func TestRecordedRefusal(t *testing.T) {
	for _, c := range []string{"codex-2.6.0", "opencode-1.18.33", "copilot-1.0.102", "gemini-0.61.0", "cline-3.0.65"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "acp", c, "refused.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(c, "-")
		if got := said(t, kind, messagesOf(t, data)); len(got) > 0 {
			t.Errorf("%s shows %q", c, got)
		}
	}
	for _, folder := range []string{"transcripts", "transcripts-330"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", folder, "permission_denied.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if got := said(t, "claude", data); len(got) > 0 {
			t.Errorf("%s shows %q", folder, got)
		}
	}
}

// messagesOf returns the messages of the client in a recorded dialogue.
func messagesOf(t *testing.T, dialogue []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	for line := range bytes.Lines(dialogue) {
		head, msg, ok := bytes.Cut(bytes.TrimRight(line, "\n"), []byte(`"msg":`))
		if ok && bytes.Contains(head, []byte(`"dir":"agent"`)) {
			out.Write(bytes.TrimSuffix(msg, []byte("}")))
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}

// Where the client does not tell the whole file, the change says so.
func TestEdit(t *testing.T) {
	text := "a\nb\na\n"
	for name, c := range map[string]struct {
		before *string
		edits  []runner.Replacement
		want   runner.FileChange
	}{
		"whole":     {&text, []runner.Replacement{{Old: "a", New: "x"}, {Old: "a", New: "y", All: true}}, runner.FileChange{Before: text, After: "x\nb\ny\n"}},
		"unknown":   {nil, []runner.Replacement{{Old: "a", New: "x"}}, runner.FileChange{Before: "a\n", After: "x\n", Passage: true}},
		"no match":  {&text, []runner.Replacement{{Old: "q", New: "x\n"}}, runner.FileChange{Before: "q\n", After: "x\n", Passage: true}},
		"new":       {new(string), []runner.Replacement{{New: "x"}}, runner.FileChange{After: "x", Created: true}},
		"no detail": {&text, nil, runner.FileChange{Untold: runner.NotReported}},
	} {
		var f runner.FileChange
		f.Edit(c.before, c.edits)
		if f != c.want {
			t.Errorf("%s: %+v, want %+v", name, f, c.want)
		}
	}
}
