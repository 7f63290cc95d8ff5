package client_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A project is a folder together with files inside and outside of it.
type project struct{ dir, outside string }

func newProject(t *testing.T) project {
	t.Helper()
	y := project{filepath.Join(t.TempDir(), "project"), t.TempDir()}
	t.Setenv("HOME", y.outside)
	if err := dropbox.Create(y.in(".dead-drop")); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		y.in("notes.md"): "notes", y.in("sub/deep/a.go"): "code", y.in(".env"): "KEY=1",
		y.in(".claude-swarm/tokens"): "coder SECRET", y.in(".claude-swarm/turns/a.jsonl"): "{}",
		y.in(".dead-drop/coder/work/draft.md"): "draft", y.in(".dead-drop/lead/new/1.md"): "for the lead",
		y.in(".dead-drop/attach/00/a.txt"): "attached", y.out("docs/a.md"): "docs", y.out("other.txt"): "other",
		y.out("project/.claude-swarm/tokens"): "of another project",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"link": ".claude-swarm/tokens", "folder": ".claude-swarm", "away": y.out("other.txt"), "chain": "folder/tokens",
	} {
		if err := os.Symlink(target, y.in(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(y.in(".claude-swarm/tokens"), y.in("second-name")); err != nil {
		t.Fatal(err)
	}
	return y
}

func (y project) in(path string) string  { return filepath.Join(y.dir, path) }
func (y project) out(path string) string { return filepath.Join(y.outside, path) }

// client returns a client whose caller is an agent with these tools.
func (y project) client(t *testing.T, who string, allowed, denied *[]string, mode string) *client.Client {
	t.Helper()
	store, err := dropbox.Open(y.in(".dead-drop"), dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	a := config.Agent{Name: "coder"}
	a.Client = runner.Spec{Dir: y.dir, AllowedTools: allowed, DisallowedTools: denied, PermissionMode: mode}
	return &client.Client{
		Project: client.Project{Home: journal.HomeOf(y.dir), Store: store, Agents: []string{"coder"}, Reading: map[string]client.Reading{"coder": client.ReadingOf(a)}},
		Me:      journal.Identity{Name: who, Turn: "aaaaaaaaaa-1"},
	}
}

func TestReadable(t *testing.T) {
	y := newProject(t)
	t.Chdir(y.dir)
	open, err := os.Open(y.in(".claude-swarm/tokens"))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	pipe, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	defer feed.Close()
	fd := func(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

	own := []string{".dead-drop/coder/work/draft.md", ".dead-drop/attach/00/a.txt", fd(pipe)}
	never := []string{
		".claude-swarm/tokens", y.in(".claude-swarm/tokens"), "sub/../.claude-swarm/tokens", "./.claude-swarm//turns/a.jsonl",
		"link", "folder/tokens", "chain", "second-name", y.out("project/.claude-swarm/tokens"),
		fd(open), fmt.Sprintf("/proc/%d/cwd/.claude-swarm/tokens", os.Getpid()), fmt.Sprintf("/proc/self/root%s", y.in(".claude-swarm/tokens")),
	}
	folder := []string{"notes.md", "sub/deep/a.go"}
	others := []string{y.out("other.txt"), "away", y.out("docs/a.md"), ".dead-drop/lead/new/1.md", "/etc/hostname"}
	list := func(tools ...string) *[]string { return &tools }
	for name, tc := range map[string]struct {
		allowed, denied *[]string
		mode            string
		yes, no         [][]string
	}{
		"all tools":             {yes: [][]string{own, folder, others}, no: [][]string{never}},
		"a list":                {allowed: list("Glob"), yes: [][]string{own, folder}, no: [][]string{never, others}},
		"an empty list":         {allowed: list(), yes: [][]string{own, folder}, no: [][]string{never, others}},
		"Read":                  {allowed: list("Glob", "Read"), yes: [][]string{own, folder, others}, no: [][]string{never}},
		"Bash":                  {allowed: list("Bash"), yes: [][]string{own, folder, others}, no: [][]string{never}},
		"one command":           {allowed: list("Bash(git diff:*)"), yes: [][]string{own, folder}, no: [][]string{never, others}},
		"a pattern, absolute":   {allowed: list("Read(/" + y.out("docs") + "/**)"), yes: [][]string{own, folder, {y.out("docs/a.md")}}, no: [][]string{never, {y.out("other.txt")}}},
		"a pattern, of home":    {allowed: list("Read(~/docs/*.md)"), yes: [][]string{folder, {y.out("docs/a.md")}}, no: [][]string{never, {y.out("other.txt")}}},
		"a pattern, relative":   {allowed: list("Read(../../" + filepath.Base(filepath.Dir(y.outside)) + "/**)"), yes: [][]string{folder}, no: [][]string{never}},
		"Read is denied":        {denied: list("Read"), yes: [][]string{own}, no: [][]string{never, folder, others}},
		"Read is denied beside": {allowed: list("Read", "Bash"), denied: list("Edit", "Read"), yes: [][]string{own}, no: [][]string{never, folder, others}},
		"a pattern is denied":   {denied: list("Read(.env)", "Read(sub/**)"), yes: [][]string{own, {"notes.md"}}, no: [][]string{never, {".env", "sub/deep/a.go"}}},
		"planning":              {mode: "plan", yes: [][]string{own, folder}, no: [][]string{never, others}},
		"bypass":                {allowed: list("Glob"), mode: "bypassPermissions", yes: [][]string{own, folder, others}, no: [][]string{never}},
	} {
		t.Run(name, func(t *testing.T) {
			d := y.client(t, "coder", tc.allowed, tc.denied, tc.mode)
			for _, paths := range tc.yes {
				for _, path := range paths {
					if _, err := d.Readable(path); err != nil {
						t.Errorf("Readable(%s) = %v", path, err)
					}
				}
			}
			for _, paths := range tc.no {
				for _, path := range paths {
					if got, err := d.Readable(path); err == nil {
						t.Errorf("Readable(%s) = %s, want a refusal", path, got)
					} else if _, ok := errors.AsType[*client.FileError](err); !ok {
						t.Errorf("Readable(%s) = %v, want a refusal", path, err)
					}
				}
			}
		})
	}

	lead := y.client(t, dropbox.Lead, nil, nil, "")
	for _, path := range append(never, others...) {
		if _, err := lead.Readable(path); err != nil {
			t.Errorf("a person may not send %s: %v", path, err)
		}
	}
	gone := y.client(t, "nobody", nil, nil, "")
	if _, err := gone.Readable("notes.md"); err == nil {
		t.Error("an agent that is not in the configuration may send a file")
	}
}

// An agent with a list of tools may not name another configuration, because that
// configuration would then decide what the agent may read.
func TestAnAgentNamesNoOtherConfiguration(t *testing.T) {
	y := newProject(t)
	for path, text := range map[string]string{
		y.in("claude-swarm.yaml"): "agents:\n  coder: {allowed_tools: Glob}\n  free: {}\n", y.in("other.yaml"): "agents: {coder: {}}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		agent, named string
		ok           bool
	}{
		{"", "other.yaml", true},
		{"coder", "claude-swarm.yaml", true},
		{"coder", "other.yaml", false},
		{"free", "other.yaml", true},
		{"free", ".claude-swarm/tokens", false},
	} {
		env := map[string]string{"CLAUDE_SWARM_AGENT": tc.agent, "CLAUDE_SWARM_DIR": y.dir}
		_, err := client.FindConfig(y.in(tc.named), func(name string) string { return env[name] })
		if _, refused := errors.AsType[*client.FileError](err); refused == tc.ok || err != nil && tc.ok {
			t.Errorf("%q names %s: %v", tc.agent, tc.named, err)
		}
	}
}

func TestMayRead(t *testing.T) {
	d := &client.Client{Me: journal.Identity{Name: "coder"}}
	lead := &client.Client{Me: journal.Identity{Name: dropbox.Lead}}
	for _, tc := range []struct {
		mailbox, from string
		ok            bool
	}{
		{"coder", "lead", true}, {"lead", "coder", true}, {"topics", "reviewer", true},
		{"lead", "reviewer", false}, {"reviewer", "lead", false},
	} {
		found, m := dropbox.Found{Mailbox: tc.mailbox}, &dropbox.Message{From: tc.from}
		if err := d.MayReadMessage(found, m); (err == nil) != tc.ok {
			t.Errorf("a message from %s in the mailbox of %s: %v", tc.from, tc.mailbox, err)
		} else if err != nil && !strings.Contains(err.Error(), "an agent sees only its own mail") {
			t.Errorf("the refusal says %v", err)
		}
		if err := lead.MayReadMessage(found, m); err != nil {
			t.Errorf("a person may not read it: %v", err)
		}
	}
}

func TestMayTakeBack(t *testing.T) {
	found := dropbox.Found{Mailbox: "coder", Entry: dropbox.Entry{ID: "k7f3q9m2xd"}}
	for _, tc := range []struct {
		who string
		m   *dropbox.Message
		ok  bool
	}{
		{"coder", &dropbox.Message{From: "coder"}, true}, {"coder", &dropbox.Message{From: "lead"}, false}, {"coder", nil, false},
		{dropbox.Lead, &dropbox.Message{From: "coder"}, true}, {dropbox.Lead, nil, true},
	} {
		d := &client.Client{Me: journal.Identity{Name: tc.who}}
		if err := d.MayTakeBack(found, tc.m); (err == nil) != tc.ok {
			t.Errorf("%s takes back %+v: %v", tc.who, tc.m, err)
		} else if err != nil && !strings.Contains(err.Error(), "k7f3q9m2xd is not for coder to take back") {
			t.Errorf("the refusal says %v", err)
		}
	}
}
