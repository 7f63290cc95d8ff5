package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// strange is text that would be formatted or lost if it were not escaped.
const strange = `'quoted' "twice" \fBback\e --flag ~/x ^ ` + "`code`" + ` …`

func TestManPages(t *testing.T) {
	verbs, err := parseVerbs(`{"v": 1, "usage": "files wake agents", "arguments": "VERB", "about": "About.", "endings": "Ending things: none.",
		"status": "Exit status: 0 done.", "flags": [{"names": ["--config"], "value": "FILE", "usage": "read FILE"}], "everyday": ["send"],
		"groups": [{"name": "the mail", "verbs": [{"name": "send", "usage": "send it", "arguments": "A B", "description": ".first\n'second", "verbs": [
			{"name": "now", "usage": "now", "description": "Text.\n\nExample:\n  claude-swarm send now ` + strings.Repeat("x", 55) + `\n  .y",
			"flags": [{"names": ["-f", "--flag"], "value": "N", "usage": "N times"}, {"names": ["--hidden"]}]}]}]}]}`)
	if err != nil {
		t.Fatal(err)
	}
	verbs.Groups[0].Verbs[0].Description += "\n\n" + strange
	pages := verbs.manPages("1.2.3", time.Unix(1_700_000_000, 0).UTC())
	if len(pages) != 2 {
		t.Fatalf("%d pages, want two", len(pages))
	}
	for i, want := range []struct {
		path string
		has  []string
	}{
		{"share/man/man1/claude-swarm.1", []string{"claude-swarm - files wake agents", "claude-swarm VERB", "send        send it", "The mail: claude-swarm-mail(1)",
			"--config FILE", "0 done.", "1.2.3", "2023-11-14", "SEE ALSO\n       claude-swarm-mail(1)"}},
		{"share/man/man1/claude-swarm-mail.1", []string{"claude-swarm-mail - claude-swarm's verbs for the mail", "claude-swarm send A B", "   send A B\n       .first 'second",
			"       " + strange, "   send now\n", "\n   claude-swarm send now xxx", "\n   .y\n", "-f, --flag N\n                   N times", "SEE ALSO\n       claude-swarm(1)"}},
	} {
		if pages[i].path != want.path {
			t.Errorf("page %d is %s, want %s", i, pages[i].path, want.path)
		}
		shown := showPage(t, pages[i])
		for _, text := range want.has {
			if !strings.Contains(shown, text) {
				t.Errorf("%s does not show %q:\n%s", want.path, text, shown)
			}
		}
		if strings.Contains(shown, "--hidden") {
			t.Errorf("%s shows a flag without a description", want.path)
		}
		for line := range strings.Lines(shown) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > columns {
				t.Errorf("%s has a line of %d columns: %s", want.path, n, line)
			}
		}
	}
}

// showPage returns a page as man shows it. The test fails if man warns.
func showPage(t *testing.T, page file) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(page.path))
	if err := os.WriteFile(path, page.data, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), need.Program(t, "man"), "--warnings", "-E", "UTF-8", "-l", "-Tutf8", path)
	cmd.Env = append(os.Environ(), "MANWIDTH=80")
	var warned strings.Builder
	cmd.Stderr = &warned
	out, err := cmd.Output()
	if err != nil || warned.Len() > 0 {
		t.Fatalf("man %s: %v\n%s", page.path, err, &warned)
	}
	// A bold letter is printed twice, and an underlined one after an underscore.
	var b []rune
	for _, r := range string(out) {
		if r == '\b' {
			b = b[:len(b)-1]
		} else {
			b = append(b, r)
		}
	}
	return string(b)
}

func TestParseVerbs(t *testing.T) {
	for name, text := range map[string]string{
		"another version": `{"v": 2, "groups": [{"name": "mail"}]}`,
		"no group":        `{"v": 1}`,
		"an unknown key":  `{"v": 1, "groups": [{"name": "mail"}], "colour": 1}`,
		"no JSON":         `usage: claude-swarm`,
	} {
		if got, err := parseVerbs(text); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
