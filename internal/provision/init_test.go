package provision_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/provision"
)

func initIn(t *testing.T, dir string, o provision.Options) provision.Report {
	t.Helper()
	r, err := provision.Init(dir, o)
	if err != nil {
		t.Fatalf("Init: %v", err)
	}
	return r
}

func items(r provision.Report) string {
	var b strings.Builder
	for _, i := range r.Items {
		b.WriteString(string(i.State) + " " + i.Path + "\n")
	}
	return b.String()
}

// tree returns every path below dir, with the contents of the files, so that two states
// can be compared.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			all[path] = "folder"
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestInitMakesAProject(t *testing.T) {
	dir := t.TempDir()
	r := initIn(t, dir, provision.Options{})
	want := "made claude-swarm.yaml\nmade .dead-drop\nmade .dead-drop/coder\nmade .dead-drop/reviewer\nmade .dead-drop/lead\n"
	if diff := cmp.Diff(want, items(r)); diff != "" || !r.Changed() || r.Above != "" {
		t.Errorf("report %+v, -want +got:\n%s", r, diff)
	}
	if text, err := os.ReadFile(r.Config); err != nil || string(text) != config.Template() {
		t.Errorf("claude-swarm.yaml is not the template (%v)", err)
	}
	if path, err := discovery.Find(dir); err != nil || path != r.Config {
		t.Errorf("Find = %q, %v, want %q", path, err, r.Config)
	}

	// A message can be sent right away.
	store, err := dropbox.Open(filepath.Join(dir, ".dead-drop"), dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := store.Deliver("coder", &dropbox.Message{Body: []byte("hello\n")}); err != nil {
		t.Errorf("Deliver to coder: %v", err)
	}

	before := tree(t, dir)
	again := initIn(t, dir, provision.Options{})
	if diff := cmp.Diff(strings.ReplaceAll(want, "made", "there"), items(again)); diff != "" || again.Changed() {
		t.Errorf("the second time, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("the second Init changed something, -before +after:\n%s", diff)
	}
}

func TestInitCompletesAProject(t *testing.T) {
	dir := t.TempDir()
	const text = "dead_drop_dir: mail\nagents: {one: , two: }\n"
	path := filepath.Join(dir, config.Name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := "there claude-swarm.yaml\nmade mail\nmade mail/one\nmade mail/two\nmade mail/lead\n"
	if diff := cmp.Diff(want, items(initIn(t, dir, provision.Options{Config: "not looked at"}))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got, _ := os.ReadFile(path); string(got) != text {
		t.Errorf("claude-swarm.yaml was changed to %q", got)
	}

	// A deleted mailbox is recreated.
	if err := os.WriteFile(path, []byte(text+"defaults: {role: x}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "mail", "two")); err != nil {
		t.Fatal(err)
	}
	want = "there claude-swarm.yaml\nthere mail\nthere mail/one\nmade mail/two\nthere mail/lead\n"
	if diff := cmp.Diff(want, items(initIn(t, dir, provision.Options{}))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestInitRefuses(t *testing.T) {
	t.Run("a bad configuration", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, config.Name), []byte("agents: {Coder: }\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		before := tree(t, dir)
		r, err := provision.Init(dir, provision.Options{})
		if _, ok := errors.AsType[config.Errors](err); !ok || r.Changed() {
			t.Errorf("Init = %+v, %v, want config.Errors and nothing made", r, err)
		}
		if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
			t.Errorf("something was made, -before +after:\n%s", diff)
		}
	})
	t.Run("a bad text to write", func(t *testing.T) {
		dir := t.TempDir()
		_, err := provision.Init(dir, provision.Options{Config: "agents: []"})
		if _, ok := errors.AsType[config.Errors](err); !ok {
			t.Errorf("Init = %v, want config.Errors", err)
		}
		if got := tree(t, dir); len(got) != 1 {
			t.Errorf("left behind: %v", got)
		}
	})
	t.Run("a folder that is not there", func(t *testing.T) {
		if _, err := provision.Init(filepath.Join(t.TempDir(), "gone"), provision.Options{}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Init = %v, want fs.ErrNotExist", err)
		}
	})
	t.Run("a file where the mailboxes go", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ".dead-drop"), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := provision.Init(dir, provision.Options{})
		if err == nil || items(r) != "made claude-swarm.yaml\n" {
			t.Errorf("Init = %v, %v, want an error after claude-swarm.yaml was made", r, err)
		}
		if text, _ := os.ReadFile(filepath.Join(dir, ".dead-drop")); string(text) != "x" {
			t.Errorf("the file was changed to %q", text)
		}
	})
}

func TestInitInsideAnotherProject(t *testing.T) {
	dir := t.TempDir()
	outer := initIn(t, dir, provision.Options{})
	inner := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	if r := initIn(t, inner, provision.Options{}); r.Above != outer.Config {
		t.Errorf("Above = %q, want %q", r.Above, outer.Config)
	}
}

func TestGitIgnore(t *testing.T) {
	const none = "\x00"
	const fenced = "# >>> claude-swarm >>>\n.claude-swarm/\n# <<< claude-swarm <<<\n"
	cases := map[string]struct {
		git    bool
		before string
		after  string
		state  provision.State
	}{
		"no git":                        {false, none, none, ""},
		"in a work tree":                {true, none, ".claude-swarm/\n", provision.Made},
		"a file, no git yet":            {false, "x\n", "x\n" + fenced, provision.Added},
		"last line without an end":      {true, "x", "x\n" + fenced, provision.Added},
		"empty":                         {true, "", fenced, provision.Added},
		"carriage returns":              {true, "x\r\ny\r\n", "x\r\ny\r\n" + strings.ReplaceAll(fenced, "\n", "\r\n"), provision.Added},
		"there":                         {true, "a\n.claude-swarm/\nb\n", "a\n.claude-swarm/\nb\n", provision.There},
		"there in another way":          {true, "/.claude-swarm", "/.claude-swarm", provision.There},
		"a name that begins like it":    {true, ".claude-swarm-x/\n", ".claude-swarm-x/\n" + fenced, provision.Added},
		"a rule that is only a comment": {true, "#.claude-swarm/\n", "#.claude-swarm/\n" + fenced, provision.Added},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			dir := filepath.Join(top, "sub")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if c.git {
				if err := os.Mkdir(filepath.Join(top, ".git"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(dir, ".gitignore")
			if c.before != none {
				if err := os.WriteFile(path, []byte(c.before), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			last := func(r provision.Report) (state provision.State) {
				if i := r.Items[len(r.Items)-1]; i.Path == ".gitignore" {
					state = i.State
				}
				return state
			}
			if got := last(initIn(t, dir, provision.Options{})); got != c.state {
				t.Errorf("state of .gitignore %q, want %q", got, c.state)
			}
			second := last(initIn(t, dir, provision.Options{}))
			if c.state != "" && second != provision.There {
				t.Errorf("the second time %q, want %q", second, provision.There)
			}
			text, err := os.ReadFile(path)
			if c.after == none {
				if !errors.Is(err, fs.ErrNotExist) {
					t.Errorf(".gitignore was made: %q, %v", text, err)
				}
				return
			}
			if string(text) != c.after || err != nil {
				t.Errorf(".gitignore = %q, %v, want %q", text, err, c.after)
			}
		})
	}
}

// After init, a commit of all files contains the configuration, but none of the daemon's
// files, and none of the mailboxes, because no message is finished. The test checks this
// with git.
func TestWhatGitTracks(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	git("init", "-q")
	initIn(t, dir, provision.Options{})
	secret := filepath.Join(dir, ".claude-swarm", "tokens")
	if err := os.MkdirAll(filepath.Dir(secret), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	git("add", "-A")
	tracked := git("ls-files")
	if strings.Contains(tracked, ".claude-swarm/") || strings.Contains(tracked, ".dead-drop/") {
		t.Errorf("git tracks the daemon's files:\n%s", tracked)
	}
	for _, want := range []string{"claude-swarm.yaml\n", ".gitignore\n"} {
		if !strings.Contains(tracked, want) {
			t.Errorf("git does not track %q:\n%s", want, tracked)
		}
	}
}
