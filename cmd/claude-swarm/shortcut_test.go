package main

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A shortcutRun is what a command line left behind.
type shortcutRun struct {
	Status         int
	Stdout, Stderr string
	Messages       []string // of all mailboxes, without what is new in each
}

var (
	idLine  = regexp.MustCompile(`(?m)^[a-z2-7]{10}(  [a-z]+)?$`)
	perMail = regexp.MustCompile(`(?m)^(id|thread|trace|created|proof): .+$`)
)

// shortcutProject makes a project with the lead's token, two mailboxes and the digest
// of the configuration, as after a start.
func shortcutProject(t *testing.T, yaml string) string {
	t.Helper()
	dir := t.TempDir()
	if yaml != "" {
		if err := os.WriteFile(filepath.Join(dir, "claude-swarm.yaml"), []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
		box := filepath.Join(dir, ".dead-drop")
		if err := dropbox.Create(box); err != nil {
			t.Fatal(err)
		}
		makeMailbox(t, dir, "coder")
		makeMailbox(t, dir, "reviewer")
		if _, err := swarm.HomeOf(dir).Tokens(dropbox.Lead); err != nil {
			t.Fatal(err)
		}
		// Only the program itself can make its digest; and this leaves nothing else.
		runIn(t, dir, nil, "send", "coder", "--priority", "normal", "x")
		for _, path := range mailIn(t, dir) {
			remove(t, path)
		}
	}
	return dir
}

// runIn runs the program as a separate process. Any variable of ours in the
// environment makes the verb do the whole of a send.
func runIn(t *testing.T, dir string, env []string, args ...string) shortcutRun {
	t.Helper()
	program, err := exec.LookPath("claude-swarm") // this test binary, see TestMain
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	home := t.TempDir()
	cmd.Env = append(withoutMarks(os.Environ()), append(env, "HOME="+home, "XDG_RUNTIME_DIR="+home, "PWD="+dir, "GORACE=atexit_sleep_ms=0")...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	ran := shortcutRun{
		Status: cmd.ProcessState.ExitCode(),
		Stdout: idLine.ReplaceAllString(stdout.String(), "ID$1"),
		Stderr: strings.ReplaceAll(stderr.String(), dir, "DIR"),
	}
	for _, path := range mailIn(t, dir) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		box, _ := filepath.Rel(dir, filepath.Dir(path))
		ran.Messages = append(ran.Messages, box+"\n"+perMail.ReplaceAllString(string(data), "$1: …"))
	}
	return ran
}

// mailIn lists the messages of all mailboxes.
func mailIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, ".dead-drop", "*", "*", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Whatever is sent, the short way and the verb do the same and say the same.
func TestShortcutAndVerbAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const agents = "agents:\n  coder: {role: coder}\n  reviewer: {}\n"
	long := strings.Repeat("x", 8192)
	for name, tc := range map[string]struct {
		args   []string
		config string // "-" for none
		before func(t *testing.T, dir string)
	}{
		"plain":             {args: []string{"coder", "Do", "PERF-015"}},
		"one word":          {args: []string{"reviewer", "Look at this.\n\nPlease.\n"}},
		"UTF-8":             {args: []string{"coder", "Größe €"}},
		"like front matter": {args: []string{"coder", "---\nid: x\n---\n"}},
		"a slash":           {args: []string{"coder", "/clear"}},
		"exactly full":      {args: []string{"coder", long}},
		"full but a byte":   {args: []string{"coder", long[1:]}},
		"too long":          {args: []string{"coder", long, "x"}},
		"empty":             {args: []string{"coder", ""}},
		"blank":             {args: []string{"coder", " "}},
		"no UTF-8":          {args: []string{"coder", "abc\xff"}},
		"no text":           {args: []string{"coder"}},
		"a dash":            {args: []string{"coder", "-5", "degrees"}},
		"after --":          {args: []string{"coder", "--", "--wait is broken"}},
		"a flag":            {args: []string{"coder", "now", "--priority", "urgent"}},
		"an unknown flag":   {args: []string{"coder", "now", "--prio", "urgent"}},
		"help":              {args: []string{"coder", "x", "--help"}},
		"to all":            {args: []string{"all", "stand up"}},
		"to two":            {args: []string{"coder,reviewer", "stand up"}},
		"to the lead":       {args: []string{"lead", "a note"}},
		"unknown agent":     {args: []string{"codr", "hello there"}},
		"a path":            {args: []string{"../coder", "hello"}},
		"no project":        {args: []string{"coder", "x"}, config: "-"},
		"bad configuration": {args: []string{"coder", "x"}, config: "agents:\n  Coder: {}\n"},
		"not YAML":          {args: []string{"coder", "x"}, config: "agents: [\n"},
		"no token": {args: []string{"coder", "x"}, before: func(t *testing.T, dir string) {
			remove(t, filepath.Join(dir, ".claude-swarm"))
		}},
		"no mailboxes": {args: []string{"coder", "x"}, before: func(t *testing.T, dir string) {
			remove(t, filepath.Join(dir, ".dead-drop"))
		}},
		"changed configuration": {args: []string{"coder", "x"}, before: func(t *testing.T, dir string) {
			overwrite(t, filepath.Join(dir, config.Name), "agents: {builder: }\n")
		}},
		"longer bodies":     {args: []string{"coder", long, "x"}, config: agents + "policy: {max_body_bytes: 20000}\n"},
		"the sentinel":      {args: []string{"coder", "stop now: <<<HALT>>>"}},
		"no sentinel":       {args: []string{"coder", "stop now: <<<HALT>>>"}, config: agents + "policy: {stop_sentinel: \"\"}\n"},
		"no tasks":          {args: []string{"coder", "x"}, config: agents + "policy: {allowed_types: [note, question]}\n"},
		"tasks alone":       {args: []string{"coder", "x"}, config: agents + "policy: {allowed_types: [task]}\n"},
		"full for the rule": {args: []string{"coder", "xx"}, config: agents + "policy: {max_body_bytes: 3}\n"},
		"shorter bodies":    {args: []string{"coder", "xxxx"}, config: agents + "policy: {max_body_bytes: 3}\n"},
		"any size":          {args: []string{"coder", long, "x"}, config: agents + "policy: {max_body_bytes: 0}\n"},
		"their sentinel":    {args: []string{"coder", "it is ENOUGH"}, config: agents + "policy: {stop_sentinel: ENOUGH}\n"},
		"only the proven":   {args: []string{"coder", "x"}, config: agents + "policy: {unproven: refuse}\n"},
		"lists for agents":  {args: []string{"coder", "x"}, config: agents + "policy: {acl: {coder: {direct: [], broadcast: false}, reviewer: {direct: []}}}\n"},
		"no rules at all":   {args: []string{"coder", "<<<HALT>>>"}, config: agents + "policy: {max_body_bytes: 0, sender_per_min: 0, thread_per_min: 0, max_hops: 0, max_returns: 0, max_echoes: 0, stop_sentinel: \"\"}\n"},
		"halted": {args: []string{"coder", "x"}, before: func(t *testing.T, dir string) {
			touch(t, filepath.Join(dir, ".dead-drop", "HALT"))
		}},
		"full mailbox": {args: []string{"coder", "x"}, before: func(t *testing.T, dir string) {
			touch(t, filepath.Join(dir, ".dead-drop", "coder", "FULL"))
		}},
		"no mailbox yet": {args: []string{"coder", "x"}, before: func(t *testing.T, dir string) {
			remove(t, filepath.Join(dir, ".dead-drop", "coder"))
		}},
		"a mailbox with a part missing": {args: []string{"coder", "x"}, before: func(t *testing.T, dir string) {
			remove(t, filepath.Join(dir, ".dead-drop", "coder", "tmp"))
		}},
		"a file for a mailbox": {args: []string{"coder", "x"}, before: func(t *testing.T, dir string) {
			remove(t, filepath.Join(dir, ".dead-drop", "coder"))
			touch(t, filepath.Join(dir, ".dead-drop", "coder"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var ran [2]shortcutRun
			for i, env := range [][]string{nil, {"CLAUDE_SWARM_TEST=the whole program"}} {
				dir := shortcutProject(t, strings.TrimPrefix(cmp.Or(tc.config, agents), "-"))
				if tc.before != nil {
					tc.before(t, dir)
				}
				ran[i] = runIn(t, dir, env, append([]string{"send"}, tc.args...)...)
			}
			if diff := gocmp.Diff(ran[1], ran[0]); diff != "" {
				t.Errorf("-the verb +the short way:\n%s", diff)
			}
		})
	}
}

// The short way is taken, and ends before what it does not need is made ready.
// With a flag the whole program is.
func TestShortcutLeavesTheRestAlone(t *testing.T) {
	dir := shortcutProject(t, "agents: {coder: , reviewer: }\n")
	heavy := regexp.MustCompile(`(?m)^init (net/http|github.com/urfave/cli/v2|text/template) `)
	trace := []string{"GODEBUG=inittrace=1"}
	short := runIn(t, dir, trace, "send", "coder", "hello")
	if found := heavy.FindString(short.Stderr); short.Status != 0 || len(short.Messages) != 1 || found != "" {
		t.Errorf("a plain send made this ready: %q\n%+v", found, short)
	}
	if whole := runIn(t, dir, trace, "send", "coder", "hello", "--priority", "normal"); !heavy.MatchString(whole.Stderr) {
		t.Errorf("a send with a flag made nothing heavy ready, so this test says nothing:\n%s", whole.Stderr)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func overwrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func touch(t *testing.T, path string) {
	t.Helper()
	overwrite(t, path, "")
}

func makeMailbox(t *testing.T, dir, name string) {
	t.Helper()
	store, err := dropbox.Open(filepath.Join(dir, ".dead-drop"), dropbox.Options{})
	if err == nil {
		err = store.MakeMailbox(name)
		store.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
