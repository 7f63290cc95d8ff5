package backends_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acptest"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// tests maps each row of [acptest.Rows] to its test.
var tests = map[string]func(*live) error{
	"start":   start,
	"turn":    turn,
	"tool":    allowed,
	"refused": refused,
	"cancel":  cancelled,
	"resume":  resumedSession,
	"mcp":     ownTool,
	"unknown": unknownSession,
	"tokens":  tokens,
	"limit":   func(l *live) error { return limited(l, "@limit 3600") },
	"429":     func(l *live) error { return limited(l, "@status 429 retry-after 1") },
	"500":     func(l *live) error { return limited(l, "@status 500") },
	"kill":    nothingLeft,
}

func TestBackends(t *testing.T) {
	for _, r := range acptest.Rows {
		if tests[r.Name] == nil || len(tests) != len(acptest.Rows) {
			t.Fatalf("%d tests of %d rows; a test of %s: %v", len(tests), len(acptest.Rows), r.Name, tests[r.Name] != nil)
		}
	}
	for _, c := range acptest.Clients {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if commit := provenAt(t, c); commit != "" && os.Getenv("BACKENDS") == "changed" {
				t.Skipf("all rows passed at %.12s, and nothing that they depend on has changed since then", commit)
			}
			for _, r := range acptest.Rows {
				if !r.Full || os.Getenv("BACKENDS") == "full" {
					t.Run(r.Name, func(t *testing.T) { check(t, c, r) })
				}
			}
		})
	}
}

func start(l *live) error {
	cmd := exec.Command(l.home.Program, "--version")
	cmd.Env, cmd.Dir = l.home.Env, l.home.Work
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(out), "\n")
	version, fit := l.backend.Kind().Version.Read(first)
	if version != l.home.Client.Version || fit != runner.Tested {
		return fmt.Errorf("%q is read as version %q, fit %v", first, version, fit)
	}
	return nil
}

func turn(l *live) error {
	out, err := l.good("@say ready", newSession())
	if err == nil && (out.Text != "ready" || out.Session == "") {
		err = fmt.Errorf("the last words are %q in session %q", out.Text, out.Session)
	}
	return err
}

// remove creates a folder and returns a script with a command that removes it. Every
// client asks for permission to run this command. The returned function reports whether
// the folder still exists.
func (l *live) remove() (script string, there func() bool, err error) {
	dir := filepath.Join(l.home.Work, "sub")
	return "@sh rm -rf sub\n@say after it", func() bool { _, err := os.Stat(dir); return err == nil }, os.Mkdir(dir, 0o700)
}

func allowed(l *live) error {
	script, there, err := l.remove()
	if err != nil {
		return err
	}
	out, err := l.good(script, newSession())
	switch {
	case err != nil:
		return err
	case there():
		return errors.New("the command did not run")
	case out.ToolCalls != 1:
		return fmt.Errorf("%d tool calls are counted, want 1", out.ToolCalls)
	case out.Text != "after it":
		return fmt.Errorf("the last words are %q", out.Text)
	}
	return l.decided(out, true)
}

func refused(l *live) error {
	script, there, err := l.remove()
	if err != nil {
		return err
	}
	l.allow = false
	out, err := l.good(script, newSession())
	if err != nil {
		return err
	}
	if !there() {
		return errors.New("the refused command ran")
	}
	return l.decided(out, false)
}

// decided checks that the outcome contains the expected decision about the command.
func (l *live) decided(out runner.Outcome, want bool) error {
	if len(l.asked) == 0 || len(out.Decisions) != len(l.asked) {
		return fmt.Errorf("the client asked for %+v, the outcome has %+v", l.asked, out.Decisions)
	}
	d := out.Decisions[0]
	if d.Allowed != want || d.Request.Kind != "execute" || !strings.Contains(d.Request.Command, "rm -rf sub") {
		return fmt.Errorf("the decision is %+v", d)
	}
	return nil
}

func cancelled(l *live) error {
	ctx, stop := context.WithCancel(l.t.Context())
	defer stop()
	script := l.turn("@say begun\n@sleep 100s\n@say ended", newSession())
	var first runner.Outcome
	running := make(chan error, 1)
	go func() {
		out, err := l.runUntil(ctx, script)
		if err == nil && out.End != runner.Stopped {
			err = fmt.Errorf("the turn ended %s (%s), want %s", out.End, out.Reason, runner.Stopped)
		}
		first = out
		running <- err
	}()
	err := l.until("the request", func() bool { return len(l.model.Requests()) > 0 })
	time.Sleep(time.Second) // gives the client time to read the first words
	stop()
	if e := <-running; err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	l.wait()
	out, err := l.good("@say going on", resumed(first))
	if err == nil && out.Text != "going on" {
		err = fmt.Errorf("after it the last words are %q", out.Text)
	}
	return err
}

// wait waits until the current minute is over, because gemini 0.61.0 cannot resume a
// session within the calendar minute in which it began.
func (l *live) wait() {
	if l.home.Client.Name == "gemini" {
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(61 * time.Second)))
	}
}

func resumedSession(l *live) error {
	first, err := l.good("@say a word to remember", newSession())
	if err != nil {
		return err
	}
	for _, word := range []string{"second", "third"} {
		l.wait()
		out, err := l.good("@say "+word, resumed(first))
		switch {
		case err != nil:
			return err
		case out.Text != word:
			return fmt.Errorf("the last words are %q, want %q", out.Text, word)
		case out.Session != first.Session:
			return fmt.Errorf("the session is %s, want %s", out.Session, first.Session)
		case !l.sent("a word to remember"):
			return errors.New("the model does not get the first turn again")
		}
	}
	return nil
}

func ownTool(l *live) error {
	out, err := l.good(`@tool board_write {"page":"status","text":"all is well"}`+"\n@say written", newSession())
	if err != nil {
		return err
	}
	var found string
	err = filepath.WalkDir(filepath.Join(l.home.Work, ".dead-drop", "board"), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			data, _ := os.ReadFile(path)
			found += string(data)
		}
		return err
	})
	if err != nil || !strings.Contains(found, "all is well") {
		return fmt.Errorf("the board has %q, %v; the turn said %q", found, err, out.Text)
	}
	if out.ToolCalls != 1 || out.Text != "written" {
		return fmt.Errorf("%d tool calls are counted, the last words are %q", out.ToolCalls, out.Text)
	}
	return nil
}

func unknownSession(l *live) error {
	_, err := l.ends("@say ready", runner.Session{ID: "11111111-2222-4333-8444-555555555555", How: runner.Resume}, runner.NoSession)
	return err
}

func tokens(l *live) error {
	out, err := l.good("@sh true\n@say ready", newSession())
	if err == nil && (out.Tokens.Input != 200 || out.Tokens.Output != 20) {
		err = fmt.Errorf("%+v tokens are counted, the model reported 200 in and 20 out", out.Tokens)
	}
	return err
}

func limited(l *live, script string) error {
	out, err := l.ends(script, newSession(), runner.Limited)
	if err == nil && out.Reason == "" {
		err = errors.New("no reason is told")
	}
	return err
}

func nothingLeft(l *live) error {
	ctx, stop := context.WithCancel(l.t.Context())
	defer stop()
	turn := l.turn("@sh (setsid sleep 311 &); (sleep 312 &); sleep 313\n@say never", newSession())
	running := make(chan error, 1)
	go func() {
		out, err := l.runUntil(ctx, turn)
		if err == nil && out.End != runner.Stopped {
			err = fmt.Errorf("the turn ended %s (%s), want %s", out.End, out.Reason, runner.Stopped)
		}
		running <- err
	}()
	err := l.until("the command", func() bool { return len(l.sleeping()) >= 3 })
	stop()
	if e := <-running; err == nil {
		err = e
	}
	if left := l.sleeping(); err == nil && len(left) > 0 {
		err = fmt.Errorf("%v are left", left)
	}
	return err
}

// sleeping returns the running sleep commands of this client. It recognizes them by the
// client's home folder in their environment.
func (l *live) sleeping() []string {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var found []string
	for _, dir := range dirs {
		environ, _ := os.ReadFile(filepath.Join(dir, "environ"))
		words, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		line := strings.ReplaceAll(strings.TrimRight(string(words), "\x00"), "\x00", " ")
		if strings.Contains(string(environ), l.home.Dir) && strings.HasPrefix(line, "sleep 31") {
			found = append(found, filepath.Base(dir)+" "+line)
		}
	}
	return found
}
