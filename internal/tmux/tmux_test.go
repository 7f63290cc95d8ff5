package tmux_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
	"github.com/claude-swarm/claude-swarm/internal/tmux"
)

// A bench is a tmux server for one test, which ends with the test.
type bench struct {
	*tmux.Server
	env []string
}

func newBench(t *testing.T) bench {
	t.Helper()
	need.Program(t, "tmux")
	dir, err := os.MkdirTemp("", "tmux") // the socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMUX_TMPDIR=" + dir, "LANG=C.UTF-8", "SHELL=/bin/sh",
		"CLAUDE_SWARM_AGENT=coder", "CLAUDE_SWARM_TURN=t1", "CLAUDE_SWARM_TOKEN=secret",
	}
	s, err := tmux.Find(tmux.Options{Socket: "test", Environ: env})
	if err != nil {
		t.Fatal(err)
	}
	b := bench{s, env}
	t.Cleanup(func() { b.tmux("kill-server") }) // this fails if the server has already ended
	return b
}

// tmux runs the tmux program directly on the same server, as an independent check.
func (b bench) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-L", "test"}, args...)...)
	cmd.Env = b.env
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// eventually waits until is() returns true.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(2 * time.Minute)
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("after 2 minutes still not: %s", what)
		}
	}
}

func show(t *testing.T, b bench, session string, panes ...tmux.Pane) tmux.Shown {
	t.Helper()
	shown, err := b.Show(t.Context(), session, panes)
	if err != nil {
		t.Fatalf("Show: %v", err)
	}
	return shown
}

// says returns a pane whose command prints text and keeps running, as a viewer does.
func says(title string) tmux.Pane {
	return tmux.Pane{Title: title, Command: []string{"sh", "-c", "echo this is $0; exec cat", title}}
}

func TestShowMakesAPaneForEach(t *testing.T) {
	b := newBench(t)
	got := show(t, b, "swarm", says("coder"), says("reviewer"), says("status"))
	if diff := cmp.Diff(tmux.Shown{Created: true, Added: []string{"coder", "reviewer", "status"}}, got); diff != "" {
		t.Errorf("Show, -want +got:\n%s", diff)
	}
	for _, name := range []string{"coder", "reviewer", "status"} {
		id := paneID(t, b, name)
		eventually(t, name+" runs its command", func() bool {
			text, _ := b.tmux("capture-pane", "-p", "-t", id)
			return strings.Contains(text, "this is "+name)
		})
	}
	if status, _ := b.tmux("show-options", "-wv", "-t", "=swarm:", "pane-border-status"); status != "top" {
		t.Errorf("pane-border-status = %q, want top", status)
	}
	border, _ := b.tmux("list-panes", "-t", "=swarm:", "-F", "#{E:pane-border-format}")
	if border != "coder \n reviewer \n status" {
		t.Errorf("borders show %q", border)
	}
}

func paneID(t *testing.T, b bench, title string) string {
	t.Helper()
	out, err := b.tmux("list-panes", "-s", "-t", "=swarm", "-F", "#{pane_id} #{pane_title}")
	if err != nil {
		t.Fatalf("list-panes: %v: %s", err, out)
	}
	for line := range strings.Lines(out) {
		if id, name, _ := strings.Cut(strings.TrimSpace(line), " "); name == title {
			return id
		}
	}
	t.Fatalf("no pane is titled %s:\n%s", title, out)
	return ""
}

func TestShowJoinsWhatIsThere(t *testing.T) {
	b := newBench(t)
	show(t, b, "swarm", says("coder"), says("status"))
	before := paneID(t, b, "coder")
	if out, err := b.tmux("new-window", "-d", "-t", "=swarm:", "cat"); err != nil { // a window that a person made
		t.Fatal(err, out)
	}

	got := show(t, b, "swarm", says("coder"), says("status"))
	if got.Created || got.Added != nil || got.Revived != nil {
		t.Errorf("Show of existing panes = %+v, want no change", got)
	}

	// Show recreates a closed pane and adds a pane for a new agent. The other panes
	// remain unchanged.
	if out, err := b.tmux("kill-pane", "-t", paneID(t, b, "status")); err != nil {
		t.Fatal(err, out)
	}
	got = show(t, b, "swarm", says("coder"), says("reviewer"), says("status"))
	if diff := cmp.Diff(tmux.Shown{Added: []string{"reviewer", "status"}}, got); diff != "" {
		t.Errorf("Show, -want +got:\n%s", diff)
	}
	if id := paneID(t, b, "coder"); id != before {
		t.Errorf("the pane of coder was recreated: %s, was %s", id, before)
	}
	if out, _ := b.tmux("list-windows", "-t", "=swarm", "-F", "x"); strings.Count(out, "x") != 2 {
		t.Errorf("%d windows, want ours and the person's", strings.Count(out, "x"))
	}
}

func TestShowRunsAgainWhatEnded(t *testing.T) {
	b := newBench(t)
	once := filepath.Join(t.TempDir(), "once")
	ends := tmux.Pane{Title: "coder", Command: []string{"sh", "-c", `test -e "$0" && exec cat; : >"$0"`, once}}
	show(t, b, "swarm", says("status"), ends)
	eventually(t, "the command of coder has ended, and the pane is there", func() bool {
		titles, err := b.Titles(t.Context(), "swarm")
		running, there := titles["coder"]
		return err == nil && there && !running
	})
	got := show(t, b, "swarm", says("status"), ends)
	if diff := cmp.Diff(tmux.Shown{Revived: []string{"coder"}}, got); diff != "" {
		t.Errorf("Show, -want +got:\n%s", diff)
	}
	titles, err := b.Titles(t.Context(), "swarm")
	if diff := cmp.Diff(map[string]bool{"coder": true, "status": true}, titles); diff != "" || err != nil {
		t.Errorf("Titles (%v), -want +got:\n%s", err, diff)
	}
}

func TestManyAgentsGetMoreWindows(t *testing.T) {
	b := newBench(t)
	var panes []tmux.Pane
	for i := range 20 {
		panes = append(panes, tmux.Pane{Title: fmt.Sprintf("a%02d", i), Command: []string{"cat", "-"}})
	}
	show(t, b, "swarm", panes...)
	titles, err := b.Titles(t.Context(), "swarm")
	if err != nil || len(titles) != 20 {
		t.Errorf("%d panes (%v), want 20", len(titles), err)
	}
	out, _ := b.tmux("list-windows", "-t", "=swarm", "-F", "#{window_panes}")
	if out != "9\n9\n2" {
		t.Errorf("panes by window %q, want 9, 9 and 2", out)
	}
}

// The variables that mark a process as part of a turn are not passed to tmux. Otherwise,
// the panes would be killed at the end of that turn.
func TestTheMarksOfATurnAreLeftOut(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	show(t, b, "swarm", tmux.Pane{Title: "env", Dir: dir, Command: []string{"sh", "-c", "env >env.tmp; mv env.tmp env.txt; exec cat"}})
	var text []byte
	eventually(t, "the pane has written its environment into its folder", func() (ok bool) {
		var err error
		text, err = os.ReadFile(filepath.Join(dir, "env.txt"))
		return err == nil
	})
	if !strings.Contains(string(text), "TMUX_TMPDIR=") {
		t.Fatalf("this is not the environment of the test:\n%s", text)
	}
	if strings.Contains(string(text), "CLAUDE_SWARM_") {
		t.Errorf("the pane has marks of a turn:\n%s", text)
	}
}

func TestCommandsAreTakenAsTheyAre(t *testing.T) {
	b := newBench(t)
	dir := filepath.Join(t.TempDir(), "it's #{pane_id}; a folder;")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "a program;")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n: >started\nexec cat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	words := []string{"a b", "$HOME", "semi;", ";", "quo'te", "#{pane_id}", "*"}
	script := []string{"sh", "-c", `printf '%s\n' "$@" >words.tmp; mv words.tmp words.txt; exec cat`, "sh"}
	show(t, b, "swarm",
		tmux.Pane{Title: "one word", Dir: dir, Command: []string{program}},
		tmux.Pane{Title: "many #words", Dir: dir, Command: append(script, words...)})
	eventually(t, "a program whose path needs quotes has started", func() bool {
		_, err := os.Stat(filepath.Join(dir, "started"))
		return err == nil
	})
	var text []byte
	eventually(t, "the words are written", func() (ok bool) {
		var err error
		text, err = os.ReadFile(filepath.Join(dir, "words.txt"))
		return err == nil
	})
	if got := strings.Split(strings.TrimSpace(string(text)), "\n"); !slices.Equal(got, words) {
		t.Errorf("the program got %q, want %q", got, words)
	}
	if titles, err := b.Titles(t.Context(), "swarm"); err != nil || !titles["many #words"] || !titles["one word"] {
		t.Errorf("Titles() = %v, %v", titles, err)
	}
}

func TestClose(t *testing.T) {
	b := newBench(t)
	if there, err := b.Has(t.Context(), "swarm"); there || err != nil {
		t.Errorf("Has without a server = %v, %v, want false", there, err)
	}
	show(t, b, "swarm-2", says("coder"))
	if there, err := b.Has(t.Context(), "swarm"); there || err != nil {
		t.Errorf("Has(swarm) beside swarm-2 = %v, %v: a name is not the beginning of another", there, err)
	}
	if there, err := b.Has(t.Context(), "swarm-2"); !there || err != nil {
		t.Errorf("Has(swarm-2) = %v, %v, want true", there, err)
	}
	if err := b.Close(t.Context(), "swarm"); err == nil {
		t.Error("Close of a session that is not there: no error")
	}
	if err := b.Close(t.Context(), "swarm-2"); err != nil {
		t.Errorf("Close: %v", err)
	}
	if there, err := b.Has(t.Context(), "swarm-2"); there || err != nil {
		t.Errorf("Has after Close = %v, %v, want false", there, err)
	}
}

func TestShowRefuses(t *testing.T) {
	b := newBench(t)
	cases := map[string][]tmux.Pane{
		"no panes":   nil,
		"no title":   {{Command: []string{"cat", "-"}}},
		"no command": {{Title: "a"}},
	}
	for name, panes := range cases {
		if _, err := b.Show(t.Context(), "swarm", panes); err == nil {
			t.Errorf("%s: no error", name)
		}
		if there, _ := b.Has(t.Context(), "swarm"); there {
			t.Errorf("%s: a session was made", name)
		}
	}
}

func TestAttach(t *testing.T) {
	program := filepath.Join(t.TempDir(), "tmux")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		o    tmux.Options
		want []string
	}{
		"from a terminal":       {tmux.Options{}, []string{program, "attach-session", "-t", "=s"}},
		"inside tmux":           {tmux.Options{Environ: []string{"TMUX=/tmp/x,1,0"}}, []string{program, "switch-client", "-t", "=s"}},
		"inside another server": {tmux.Options{Socket: "x", Environ: []string{"TMUX=/tmp/x,1,0"}}, []string{program, "-L", "x", "attach-session", "-t", "=s"}},
	}
	for name, c := range cases {
		c.o.Program = program
		if c.o.Environ == nil {
			c.o.Environ = []string{"A=b"}
		}
		s, err := tmux.Find(c.o)
		if err != nil {
			t.Fatal(err)
		}
		cmd := s.Attach(t.Context(), "s")
		if diff := cmp.Diff(c.want, cmd.Args); diff != "" {
			t.Errorf("%s, -want +got:\n%s", name, diff)
		}
		nested := slices.ContainsFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "TMUX=") })
		if nested && cmd.Args[len(cmd.Args)-3] == "attach-session" {
			t.Errorf("%s: tmux would refuse to nest: %q", name, cmd.Env)
		}
	}
}

func TestFindWithoutTmux(t *testing.T) {
	if _, err := tmux.Find(tmux.Options{Program: filepath.Join(t.TempDir(), "tmux")}); !errors.Is(err, tmux.ErrMissing) {
		t.Errorf("Find of a program that is not there: %v, want ErrMissing", err)
	}
}

func TestSessionName(t *testing.T) {
	a, b := tmux.SessionName("/home/a/TTS.cpp"), tmux.SessionName("/home/b/TTS.cpp")
	if a == b {
		t.Errorf("two folders have one name, %s", a)
	}
	if !strings.HasPrefix(a, "swarm-TTS-cpp-") || strings.ContainsAny(a, ".:=@%$") {
		t.Errorf("SessionName = %q, want one that tmux takes as it is", a)
	}
	if again := tmux.SessionName("/home/a/TTS.cpp"); again != a {
		t.Errorf("SessionName = %q, then %q", a, again)
	}
	if long := tmux.SessionName("/" + strings.Repeat("ä", 300)); len(long) > 50 {
		t.Errorf("SessionName has %d bytes", len(long))
	}
}
