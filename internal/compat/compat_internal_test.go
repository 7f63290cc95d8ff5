package compat

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/testkit/execfile"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// Both ends of the supported range are recorded with all facts; claude-swarm works with
// every recorded answer, and somebody has sorted every tool of the newest one.
func TestTheRecordingsAreComplete(t *testing.T) {
	for _, version := range []string{claude.Oldest, claude.Newest} {
		if _, ok := Recordings()[version]; !ok {
			t.Fatalf("%s is not recorded\n  try: make compat UPDATE=1", version)
		}
	}
	for version, r := range Recordings() {
		for _, f := range facts {
			got, ok := r.Facts[f.name]
			if !ok || !f.good(got.Text) {
				t.Errorf("%s: %s: recorded %q, %v", version, f.name, got.Text, ok)
			}
			if a := f.judge(got.Text, got.Shape); a.State != Yes {
				t.Errorf("%s: %s: the recorded answer is judged %s", version, f.name, a.State)
			}
		}
		for _, tool := range r.Census.Unsorted() {
			t.Errorf("%s offers the tool %s, which is in none of the lists in swarm/runner/claude/arguments.go", version, tool)
		}
		for _, list := range []string{toolsOffered, "tools offered in a turn", "hook events", "task types", "result subtypes", "flags"} {
			if len(r.Census[list]) < 4 {
				t.Errorf("%s: the census lists %q as %s", version, r.Census[list], list)
			}
		}
		if back := parseRecording(r.Format(version)); !cmp.Equal(back, r) {
			t.Errorf("%s: the file does not contain what was recorded:\n%s", version, cmp.Diff(r, back))
		}
	}
	if !slices.Contains(Recordings()[claude.Newest].Census["hook events"], "PreSkillShellCommand") {
		t.Error("the census of the newest version does not list the event PreSkillShellCommand")
	}
}

func TestTheStatesOfAnAnswer(t *testing.T) {
	i := slices.IndexFunc(facts, func(f fact) bool { return f.name == "stop-hook" })
	f := &facts[i]
	seen := Recordings()[claude.Newest].Facts[f.name]
	for name, tc := range map[string]struct {
		text, shape string
		want        State
	}{
		"as recorded":         {"yes", seen.Shape, Yes},
		"as an older one":     {"yes", Recordings()[claude.Oldest].Facts[f.name].Shape, Yes},
		"in another frame":    {"yes", strings.ReplaceAll(seen.Shape, "user text", "user tool_result"), Differs},
		"not at all":          {"no: asked 1 times", "user text", No},
		"without comparison":  {"yes", "", Yes},
		"another fact's form": {"yes", Recordings()[claude.Newest].Facts["steer"].Shape, Differs},
	} {
		a := f.judge(tc.text, tc.shape)
		if a.State != tc.want {
			t.Errorf("%s: %s, want %s", name, a.State, tc.want)
		}
		if (a.State == Differs) != (a.Known != "") || a.State == Differs && len(Difference(a.Known, a.Shape)) == 0 {
			t.Errorf("%s: differs from %q", name, a.Known)
		}
	}
}

func TestCensus(t *testing.T) {
	was := Census{"tools": {"Bash", "Old"}, "gone": {"x"}}
	now := Census{"tools": {"Bash", "New"}, "new": {"y"}}
	want := []string{"gone: gone: x", "new: new: y", "tools: new: New", "tools: gone: Old"}
	if got := now.Against(was); !slices.Equal(got, want) {
		t.Errorf("Against = %q, want %q", got, want)
	}
	c := Census{toolsOffered: {"AskUserQuestion", "Bash", "Teleport", "Workflow"}}
	if got := c.Unsorted(); !slices.Equal(got, []string{"Teleport"}) {
		t.Errorf("Unsorted = %q", got)
	}
}

// The lists are found in the program's text, wherever its pieces begin.
func TestNamesInAProgram(t *testing.T) {
	file := filepath.Join(t.TempDir(), "client")
	text := strings.Repeat("x", 16<<20-20) + `,h=["PreToolUse","PostToolUse","PostToolUseFailure","Later"],t=["local_bash","dream"],u=["local_path","no"],` +
		`s="error_max_turns",e="error_during_execution",k={alpha:()=>U(xAn).optional().catch(void 0).describe("A"),beta:q.optional().describe("B")}`
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	c := Census{}
	if err := c.readProgram(file); err != nil {
		t.Fatal(err)
	}
	want := Census{
		"hook events": {"Later", "PostToolUse", "PostToolUseFailure", "PreToolUse"}, "task types": {"dream", "local_bash"},
		"result subtypes": {"error_during_execution", "error_max_turns"}, "settings": {"alpha"},
	}
	if !cmp.Equal(c, want) {
		t.Errorf("readProgram: %s", cmp.Diff(want, c))
	}
}

// A client that answers nothing keeps Run busy until it is canceled; then neither a process
// nor a folder is left.
func TestACanceledRunLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "client")
	script := "#!/bin/sh\n[ \"$1\" = --version ] && { echo '9.9.9 (Claude Code)'; exit; }\necho \"$$ $HOME\" >> " + dir + "/started\nexec sleep 1000\n"
	if err := execfile.Write(program, []byte(script)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := Run(ctx, Options{Command: []string{program}, Server: []string{"false"}, AtOnce: 2})
		done <- err
	}()
	var started []string
	if err := until(t.Context(), "two experiments", func() bool {
		data, _ := os.ReadFile(filepath.Join(dir, "started")) // not there yet
		started = strings.Split(strings.TrimSpace(string(data)), "\n")
		return len(started) >= 2 && strings.Count(string(data), "\n") >= 2
	}, nil); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v", err)
	}
	for _, line := range started {
		pid, home, _ := strings.Cut(line, " ")
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(n, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("the client %s still runs", pid)
		}
		if _, err := os.Stat(filepath.Dir(home)); err == nil {
			t.Errorf("Run left %s", filepath.Dir(home))
		}
	}
}
