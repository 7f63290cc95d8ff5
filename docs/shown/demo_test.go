package shown_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// realClient returns the folder of the client that `make test` installs and the tests
// run.
func realClient(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../.tools/claude/" + claude.Newest + "/node_modules/.bin")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "claude")); err != nil {
		t.Fatal("Claude Code " + claude.Newest + " is missing\n  try: make tools")
	}
	return dir
}

// A page shows the output of the demo: both have the same lines, except for numbers,
// ids, times and the folder. The order may differ, because two agents may write at the
// same time.
func TestAPageShowsTheDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the real client")
	}
	bin := t.TempDir()
	if err := os.Link(filepath.Join(program(t), "claude-swarm"), filepath.Join(bin, "claude-swarm")); err != nil {
		t.Fatal(err)
	}
	top, err := os.MkdirTemp("", "cs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "claude-swarm"), "demo", "--dir", filepath.Join(top, "demo"))
	cmd.Env = []string{
		"PATH=" + bin + ":" + os.Getenv("PATH") + ":" + realClient(t), "HOME=" + top, "XDG_RUNTIME_DIR=" + top, "TMPDIR=" + top,
		"TZ=UTC", "LANG=C.UTF-8", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("demo: %v\n%s", err, out)
	}
	printed, _, _ := strings.Cut(string(out), "Everything is in") // as specified with --dir
	printed = strings.Trim(strings.ReplaceAll(printed, filepath.Join(top, "demo"), "/tmp/claude-swarm-demo"), "\n")
	shown := shownBlock(t, "../demo.md", "  project ")
	got, want := shapes(strings.Split(printed, "\n")), shapes(shown)
	if update && !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		page := strings.Replace(read(t, "../demo.md"), strings.Join(shown, "\n"), printed, 1)
		if err := os.WriteFile("../demo.md", []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("demo.md shows %q, which the demo does not print", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("the demo prints %q, which demo.md does not show", line)
		}
	}
}

var shape = regexp.MustCompile(`/tmp/\S+|\b[a-z2-7]{10}\b|[0-9]+(?:[.,:][0-9]+)*|\b(?:ms|s|min)\b| +`)

// shapes replaces the parts of lines that differ from run to run, and drops empty lines. It
// also replaces every other word of ten letters, because it cannot distinguish such a word
// from an id.
func shapes(lines []string) []string {
	var all []string
	for _, line := range lines {
		s := strings.TrimSpace(shape.ReplaceAllStringFunc(line, func(m string) string {
			if strings.TrimSpace(m) == "" {
				return " "
			}
			return "#"
		}))
		if s != "" {
			all = append(all, s)
		}
	}
	return all
}
