package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	claudeswarm "github.com/claude-swarm/claude-swarm"
)

const (
	lockText = `# The clients.
#
# name    package      program  oldest   newest   published   brings
claude    @a/claude    claude   2.1.197  2.1.330  2026-11-20  -
codex     @z/codex-acp codex    2.5.0    2.5.0    2026-10-08  codex@0.160.x
opencode  opencode-ai  opencode 1.18.33  1.18.33  2026-09-28  -
`
	pageText      = "It works with Claude Code 2.1.197 to 2.1.330.\n  client   claude 2.1.330 (supported: 2.1.197 to 2.1.330)\nSince 2.1.330 it is quiet.\n"
	changelogText = "# Changelog\n\n## Unreleased\n\n### Added\n\n- Range: 2.1.197 to 2.1.330.\n\n### Changed\n\n- Old.\n\n## 1.0\n"
)

// npm has newer versions of claude and codex.
var npm = map[string]release{
	"@a/claude":    {"2.1.332", "2026-11-24", nil},
	"@z/codex-acp": {"2.6.0", "2026-11-08", map[string]string{"@openai/codex": "^0.166.0", "zod": "^4.0.0"}},
	"opencode-ai":  {"1.18.33", "2026-09-28", nil},
}

// A place is a checkout in which the steps are only noted, with what they print and how they
// end.
type place struct {
	*bump
	out   bytes.Buffer
	steps []string
	fails map[string]string // what a failing step prints, by its beginning
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{fails: map[string]string{}}
	p.bump = &bump{
		dir: t.TempDir(), out: &p.out,
		latest: func(_ context.Context, pkg string) (release, error) {
			r, ok := npm[pkg]
			if !ok {
				return r, fmt.Errorf("npm does not know %s", pkg)
			}
			return r, nil
		},
		run: func(ctx context.Context, w io.Writer, env []string, args ...string) error {
			step := strings.Join(append(slices.Clone(env), args...), " ")
			p.steps = append(p.steps, step)
			for begin, text := range p.fails {
				if strings.HasPrefix(step, begin) {
					io.WriteString(w, text)
					return errors.New("exit status 1")
				}
			}
			return ctx.Err()
		},
	}
	for name, text := range map[string]string{"clients.lock": lockText, "README.md": pageText, "docs/dev/compatibility.md": pageText, "CHANGELOG.md": changelogText} {
		path := filepath.Join(p.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *place) files(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range []string{"clients.lock", "README.md", "docs/dev/compatibility.md", "CHANGELOG.md"} {
		data, err := os.ReadFile(filepath.Join(p.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(data)
	}
	return all
}

func TestEverythingPasses(t *testing.T) {
	p := newPlace(t)
	if err := p.do(t.Context()); err != nil {
		t.Fatal(err)
	}
	page := "It works with Claude Code 2.1.197 to 2.1.332.\n  client   claude 2.1.332 (supported: 2.1.197 to 2.1.332)\nSince 2.1.330 it is quiet.\n"
	want := map[string]string{
		"clients.lock": `# The clients.
#
# name    package       program   oldest   newest   published   brings
claude    @a/claude     claude    2.1.197  2.1.332  2026-11-24  -
codex     @z/codex-acp  codex     2.6.0    2.6.0    2026-11-08  codex@0.166.x
opencode  opencode-ai   opencode  1.18.33  1.18.33  2026-09-28  -
`,
		"README.md": page, "docs/dev/compatibility.md": page,
		"CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n### Added\n\n- Range: 2.1.197 to 2.1.332.\n\n### Changed\n\n- Tested with Claude Code 2.1.332.\n- Tested with Codex 2.6.0.\n- Old.\n\n## 1.0\n",
	}
	if got := p.files(t); !maps.Equal(got, want) {
		t.Errorf("the files: %s", cmp.Diff(want, got))
	}
	steps := []string{
		"make tools CLI=2.1.332", "make compat VERSIONS=2.1.332 UPDATE=", "make e2e-client CLI=2.1.332", "make backends ONLY=codex",
		"UPDATE=1 make compat VERSIONS=2.1.332 UPDATE=1", "UPDATE=1 go test ./docs -run ^(TestBackendsPage|TestReadmeNamesTheClients)$",
		"go test . ./docs ./internal/compat ./internal/testkit/compatpage",
	}
	if !slices.Equal(p.steps, steps) {
		t.Errorf("the steps: %s", cmp.Diff(steps, p.steps))
	}
}

// If anything differs, no file changes, and the other steps still run and tell what they
// find.
func TestSomethingDiffers(t *testing.T) {
	p := newPlace(t)
	p.fails["make compat"] = "yes     2.1.332: one\ndiffers 2.1.332: a Stop hook continues a turn: yes\n        + user text\nno      2.1.332: the tool Teleport is in none of the lists\n"
	p.fails["make e2e-client"] = "--- FAIL: TestAnAttachedSessionDrainsItsMail (3.00s)\n    --- FAIL: TestAnAttachedSessionDrainsItsMail/plugin (3.00s)\n"
	p.fails["make backends"] = "make: codex-acp did not install\n"
	if err := p.do(t.Context()); !errors.Is(err, errDiffers) {
		t.Errorf("do = %v", err)
	}
	if got := p.files(t); got["clients.lock"] != lockText || got["README.md"] != pageText || got["CHANGELOG.md"] != changelogText {
		t.Errorf("the files: %q", got)
	}
	want := `
what differs:
- claude 2.1.332: differs 2.1.332: a Stop hook continues a turn: yes
- claude 2.1.332: no      2.1.332: the tool Teleport is in none of the lists
- claude 2.1.332: --- FAIL: TestAnAttachedSessionDrainsItsMail (3.00s)
- codex 2.6.0: exit status 1
`
	if !strings.HasSuffix(p.out.String(), want) {
		t.Errorf("it prints %s", p.out.String())
	}
}

// A run that is interrupted gives clients.lock back.
func TestAnInterruptedRunChangesNothing(t *testing.T) {
	p := newPlace(t)
	ctx, cancel := context.WithCancel(t.Context())
	inner := p.run
	p.run = func(ctx context.Context, w io.Writer, env []string, args ...string) error {
		if slices.Contains(args, "e2e-client") {
			cancel()
		}
		return inner(ctx, w, env, args...)
	}
	if err := p.do(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("do = %v", err)
	}
	if got := p.files(t)["clients.lock"]; got != lockText {
		t.Errorf("clients.lock is %s", got)
	}
}

func TestNothingIsNewer(t *testing.T) {
	p := newPlace(t)
	p.only = []string{"opencode"}
	if err := p.do(t.Context()); err != nil || len(p.steps) > 0 || !strings.Contains(p.out.String(), "opencode  1.18.33  is npm's newest") {
		t.Errorf("do = %v, after %q: %s", err, p.steps, p.out.String())
	}
	p.again = true
	if err := p.do(t.Context()); err != nil || !slices.Equal(p.steps, []string{"make backends ONLY=opencode"}) {
		t.Errorf("again: %v, after %q", err, p.steps)
	}
	if got := p.files(t)["CHANGELOG.md"]; got != changelogText {
		t.Errorf("the changelog is %s", got)
	}
}

func TestThePartOfTheChangelog(t *testing.T) {
	for _, text := range []string{"", "## Unreleased\n", "# C\n\n## Unreleased\n\n### Added\n\n## 1.0\n\n### Changed\n\n- x\n"} {
		if got, err := noted(text, []string{"x"}); err == nil {
			t.Errorf("noted(%q) = %q", text, got)
		}
	}
}

// The real file has the columns that relock writes.
func TestTheLockIsInColumns(t *testing.T) {
	data, err := os.ReadFile("../../../clients.lock")
	if err != nil {
		t.Fatal(err)
	}
	clients, err := claudeswarm.Parse(string(data))
	if err != nil {
		t.Fatal(err)
	}
	if got := relock(string(data), clients); got != string(data) {
		t.Errorf("relock changes the file: %s", cmp.Diff(string(data), got))
	}
}
