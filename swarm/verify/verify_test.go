package verify_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/verify"
)

// patience is how long a test waits for what must happen.
const patience = 2 * time.Minute

func TestMain(m *testing.M) {
	if os.Getenv(victimStep) != "" {
		victim()
		return
	}
	os.Exit(m.Run())
}

// A field is a project in a git repository, with a Runner.
type field struct {
	t       *testing.T
	dir     string
	environ []string
	cache   *verify.Cache
	*verify.Runner
}

func newField(t *testing.T) *field {
	t.Helper()
	f := &field{t: t, dir: filepath.Join(t.TempDir(), "project")}
	f.environ = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+t.TempDir(),
		"GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=ann", "GIT_COMMITTER_EMAIL=ann@example.org")
	if err := os.MkdirAll(filepath.Join(f.dir, ".claude-swarm"), 0o700); err != nil {
		t.Fatal(err)
	}
	f.write(".gitignore", ".claude-swarm\n")
	f.git("init", "-q", "-b", "main")
	f.commit("begin")
	f.open()
	return f
}

func (f *field) open() {
	f.t.Helper()
	var err error
	if f.cache, err = verify.OpenCache(durable.Files{}, filepath.Join(f.home(), "verified.json")); err != nil {
		f.t.Fatal(err)
	}
	f.Runner = verify.New(verify.Options{Project: f.dir, Home: f.home(), Environ: f.environ, Cache: f.cache})
}

func (f *field) home() string { return filepath.Join(f.dir, ".claude-swarm") }

func (f *field) git(args ...string) string {
	f.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = f.dir, f.environ
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (f *field) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
		f.t.Fatal(err)
	}
}

// commit commits everything, and returns the commit.
func (f *field) commit(subject string) string {
	f.t.Helper()
	f.git("add", "-A")
	f.git("commit", "-q", "-m", subject)
	return f.git("rev-parse", "HEAD")
}

// run runs a command line at HEAD, and checks that nothing is left of the run.
func (f *field) run(line string, change ...func(*verify.Request)) verify.Verdict {
	f.t.Helper()
	q := verify.Request{Name: "test", Settings: verify.Settings{Run: line, Timeout: patience}, Commit: "HEAD"}
	for _, c := range change {
		c(&q)
	}
	v, err := f.Run(f.t.Context(), q)
	if err != nil {
		f.t.Error(err)
	}
	f.nothingLeft()
	return v
}

// nothingLeft checks that no folder, worktree or lock of a run is left, and that the project is as
// it was committed.
func (f *field) nothingLeft() {
	f.t.Helper()
	files, err := os.ReadDir(filepath.Join(f.home(), "verify"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.t.Error(err)
	}
	for _, file := range files {
		if file.Name() != "lock" {
			f.t.Errorf("%s is left", file.Name())
		}
	}
	if list := f.git("worktree", "list", "--porcelain"); strings.Count(list, "worktree ") != 1 {
		f.t.Errorf("git still knows\n%s", list)
	}
	if _, err := os.Stat(filepath.Join(f.dir, ".git/worktrees")); !errors.Is(err, fs.ErrNotExist) {
		f.t.Errorf(".git/worktrees: %v", err)
	}
	if status := f.git("status", "--porcelain"); status != "" {
		f.t.Errorf("the project has changes:\n%s", status)
	}
}

func want(t *testing.T, v verify.Verdict, result verify.Result, cause verify.Cause, why string) {
	t.Helper()
	if v.Result != result || v.Cause != cause || !strings.Contains(v.Why, why) {
		t.Errorf("the verdict is %+v, want %s %s %q", v, result, cause, why)
	}
}

// The exit status decides, and the run is in a clean tree at the commit.
func TestVerdict(t *testing.T) {
	f := newField(t)
	f.write("a.txt", "committed\n")
	head := f.commit("a")
	f.write("ignored-by-nobody.txt", "x")
	f.commit("b")
	f.git("reset", "-q", "--hard", head)

	v := f.run(`cat a.txt; test "$(git rev-parse HEAD)" = ` + head + ` && git symbolic-ref -q HEAD || test -z "$(git status --porcelain)"`)
	want(t, v, verify.Green, "", "")
	if v.Commit != head || v.Tree != f.git("rev-parse", "HEAD^{tree}") || !slices.Equal(v.Output, []string{"committed"}) {
		t.Errorf("the verdict is %+v", v)
	}
	want(t, f.run("exit 3"), verify.Red, "", "exit status 3")
	want(t, f.run("kill -KILL $$"), verify.Red, "", "killed")
	want(t, f.run("no-such-program"), verify.NotRun, verify.NoCommand, "not found")
	want(t, f.run("true", func(q *verify.Request) { q.Settings.RunIn = []string{"no-such-sandbox"} }), verify.NotRun, verify.NoCommand, "no-such-sandbox was not found")
	want(t, f.run("true", func(q *verify.Request) { q.Commit = "no-such-commit" }), verify.NotRun, verify.NoTree, "no such commit")
	want(t, f.run("read x; test $? = 1"), verify.Green, "", "")
	want(t, f.run("test $INSIDE = 1", func(q *verify.Request) { q.Settings.RunIn = []string{"env", "INSIDE=1"} }), verify.Green, "", "")
}

func TestNoRepository(t *testing.T) {
	f := newField(t)
	if err := os.RemoveAll(filepath.Join(f.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	v, err := f.Run(t.Context(), verify.Request{Name: "test", Settings: verify.Settings{Run: "true"}, Commit: "HEAD"})
	if err != nil {
		t.Error(err)
	}
	want(t, v, verify.NotRun, verify.NoTree, "not in a git repository")
}

// A project in a folder of a repository is verified in that folder.
func TestAFolderOfARepository(t *testing.T) {
	f := newField(t)
	f.write("shop/.claude-swarm/.gitignore", "*\n")
	f.write("shop/a.txt", "a\n")
	f.commit("shop")
	r := verify.New(verify.Options{Project: filepath.Join(f.dir, "shop"), Home: filepath.Join(f.dir, "shop/.claude-swarm"), Environ: f.environ})
	v, err := r.Run(t.Context(), verify.Request{Name: "test", Settings: verify.Settings{Run: "test -f a.txt", Timeout: patience}, Commit: "HEAD"})
	if err != nil {
		t.Error(err)
	}
	want(t, v, verify.Green, "", "")
	f.nothingLeft()
}

// A verifier that hangs is stopped, with everything that it started.
func TestAVerifierThatHangs(t *testing.T) {
	f := newField(t)
	pids := filepath.Join(t.TempDir(), "pids")
	v := f.run(`trap "" TERM; sleep 600 & echo $! >>`+pids+`; setsid sh -c 'echo $$ >>`+pids+`; sleep 600' & while [ "$(wc -l <`+pids+`)" -lt 2 ]; do sleep 0.01; done; echo ready; while :; do sleep 1; done`,
		func(q *verify.Request) { q.Settings.Timeout = 3 * time.Second })
	want(t, v, verify.NotRun, verify.TimedOut, "stopped after 3s")
	ended(t, pids)
}

// ended checks that the processes in a file have ended.
func ended(t *testing.T, pids string) {
	t.Helper()
	data, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	for pid := range strings.FieldsSeq(string(data)) {
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := runner.Identify(n); err == nil && p.Alive() {
			t.Errorf("process %d is alive", n)
		}
	}
}

// A verifier whose children outlive it has its own verdict, and they end.
func TestAVerifierThatLeavesChildren(t *testing.T) {
	f := newField(t)
	pids := filepath.Join(t.TempDir(), "pids")
	v := f.run(`setsid sh -c 'echo $$ >` + pids + `.new; mv ` + pids + `.new ` + pids + `; exec sleep 600' & while [ ! -f ` + pids + ` ]; do sleep 0.01; done`)
	want(t, v, verify.Green, "", "")
	ended(t, pids)
}

func TestAVerifierThatIsCancelled(t *testing.T) {
	f := newField(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.AtStep(func(name string) {
		if name == "started" {
			cancel()
		}
	})
	v, err := f.Run(ctx, verify.Request{Name: "test", Settings: verify.Settings{Run: "sleep 600", Timeout: patience}, Commit: "HEAD"})
	if err != nil {
		t.Error(err)
	}
	want(t, v, verify.NotRun, verify.Cut, "canceled")
	f.nothingLeft()
}

func TestAVerifierThatNeedsTooMuchMemory(t *testing.T) {
	f := newField(t)
	// The shell keeps 64 MB in a variable.
	v := f.run(`x=$(head -c 64000000 /dev/zero | tr '\0' x); sleep 600`, func(q *verify.Request) { q.Settings.Memory = 20 })
	want(t, v, verify.NotRun, verify.OutOfRoom, "more than 20 MB")
}

// The last lines are kept, whatever a verifier prints: a gigabyte in lines, or in one line.
func TestAVerifierThatPrintsALot(t *testing.T) {
	f := newField(t)
	size := "1000000000"
	if testing.Short() {
		size = "20000000"
	}
	v := f.run("yes 0123456789 | head -c " + size + "; echo; echo last; exit 1")
	want(t, v, verify.Red, "", "exit status 1")
	if len(v.Output) != 100 || v.Output[99] != "last" || v.Output[0] != "0123456789" {
		t.Errorf("%d lines are kept, the last is %q", len(v.Output), v.Output[len(v.Output)-1])
	}
	v = f.run("head -c " + size + " /dev/zero | tr '\\0' x; exit 1")
	if len(v.Output) != 1 || len(v.Output[0]) != 4<<10 {
		t.Errorf("of one line, %d lines are kept", len(v.Output))
	}
	v = f.run(`i=0; while [ $i -lt 120 ]; do printf '%02000d\n' $i; i=$((i+1)); done; exit 1`)
	if n := len(v.Output); n == 0 || n > 33 || !strings.HasSuffix(v.Output[n-1], "0119") {
		t.Errorf("of 120 long lines, %d are kept", n)
	}
}

// A verifier may do anything to its working tree; it is removed.
func TestAVerifierThatHarmsItsTree(t *testing.T) {
	for name, line := range map[string]string{
		"deletes it":            `rm -rf "$PWD"`,
		"makes it read-only":    `mkdir -p d/e; touch d/e/f; chmod -R a-w d . `,
		"replaces .git":         `rm .git; mkdir .git; touch .git/x`,
		"leaves a lock of git":  `touch "$(git rev-parse --git-dir)/index.lock" "$(git rev-parse --git-dir)/HEAD.lock"`,
		"locks the worktree":    `git worktree lock --reason no .`,
		"removes the worktree":  `cd / && git -C "$OLDPWD" worktree remove --force "$OLDPWD"`,
		"prunes the worktrees":  `mv .git .away && git --git-dir="$(sed 's/gitdir: //' .away)/../.." worktree prune --expire=now`,
		"leaves another branch": `git checkout -q -b other && git commit -q --allow-empty -m x && git checkout -q --detach && git branch -q -D other`,
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t)
			want(t, f.run(line), verify.Green, "", "")
			want(t, f.run("true"), verify.Green, "", "")
		})
	}
}

// Only green is cached, so a test that passes only when it runs twice is red the first time.
func TestOnlyGreenIsCached(t *testing.T) {
	f := newField(t)
	runs := filepath.Join(t.TempDir(), "runs")
	flaky := "echo x >>" + runs + "; test $(wc -l <" + runs + ") -gt 1"
	count := func() int {
		data, err := os.ReadFile(runs)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(data), "x")
	}
	want(t, f.run(flaky), verify.Red, "", "exit status 1")
	if v := f.run(flaky); v.Result != verify.Green || v.Cached {
		t.Errorf("the second verdict is %+v", v)
	}
	f.open() // another process
	f.git("commit", "-q", "--allow-empty", "-m", "the same files")
	if v := f.run(flaky); v.Result != verify.Green || !v.Cached || count() != 2 {
		t.Errorf("after %d runs, the verdict about the same files is %+v", count(), v)
	}
	if v := f.run(flaky, func(q *verify.Request) { q.Again = true }); v.Cached || count() != 3 {
		t.Errorf("after %d runs, the verdict of another run is %+v", count(), v)
	}
	if v := f.run(flaky + " "); v.Cached {
		t.Error("another command line has the verdict of the first")
	}
	f.write("a.txt", "a")
	f.commit("a")
	if v := f.run(flaky); v.Cached {
		t.Error("another tree has the verdict of the first")
	}
}

func TestTheCacheIsBounded(t *testing.T) {
	f := newField(t)
	now := time.Now()
	for i := range verify.MostCached + 3 {
		if err := verify.Add(f.cache, fmt.Sprint(i), now.Add(time.Duration(i))); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(filepath.Join(f.home(), "verified.json"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), now.UTC().Format("2006-01-02")); n != verify.MostCached || strings.Contains(string(data), `"2":`) {
		t.Errorf("%d entries are kept", n)
	}
}

// An agent that edits a protected file gains nothing, and it is told.
func TestProtect(t *testing.T) {
	f := newField(t)
	f.write("ci/test.sh", "test -f good\n")
	f.write("ci/old/x", "x")
	f.write("a.go", "a")
	main := f.commit("the target")
	f.git("checkout", "-q", "-b", "task")
	f.write("ci/test.sh", "exit 0\n")
	f.write("ci/more.sh", "true\n")
	f.write("a_test.go", "x")
	f.write("a.go", "b")
	if err := os.RemoveAll(filepath.Join(f.dir, "ci/old")); err != nil {
		t.Fatal(err)
	}
	f.write("ci/old", "now it is a file\n")
	work := f.commit("an easier test")
	protected := func(q *verify.Request) { q.Target, q.Protect = "main", []string{"ci/"} }

	v := f.run("sh ci/test.sh", protected)
	want(t, v, verify.Red, "", "exit status 1")
	if want := []string{"a_test.go", "ci/more.sh", "ci/old", "ci/old/x", "ci/test.sh"}; !slices.Equal(v.Changed, want) {
		t.Errorf("changed are %q, want %q", v.Changed, want)
	}
	want(t, f.run("test -f ci/old/x && test ! -e ci/more.sh && test -f a_test.go && test $(cat a.go) = b && test $(git rev-parse HEAD) = "+work, protected), verify.Green, "", "")
	want(t, f.run("sh ci/test.sh", func(q *verify.Request) { q.Target = "main" }), verify.Green, "", "")

	// The target goes on: the same commit is judged by the new test.
	f.git("checkout", "-q", "main")
	f.write("ci/test.sh", "exit 0\n")
	f.commit("the target goes on")
	v = f.run("sh ci/test.sh", protected, func(q *verify.Request) { q.Commit = "task" })
	want(t, v, verify.Green, "", "")
	if v.Cached || v.Commit != work {
		t.Errorf("the verdict is %+v", v)
	}
	if base := f.git("merge-base", "main", "task"); base != main {
		t.Fatalf("the test has another base: %s", base)
	}
}

// Attributes change how git writes a protected file, so they are those of the target, too.
func TestProtectFromAttributes(t *testing.T) {
	f := newField(t)
	f.write("ci/forbidden", "bad\n")
	f.commit("the target")
	f.git("checkout", "-q", "-b", "task")
	f.write("a.go", "bad\n")
	f.write(".gitattributes", "ci/forbidden text eol=crlf\n")
	f.commit("another line end")
	v := f.run("! grep -qxf ci/forbidden a.go", func(q *verify.Request) { q.Target, q.Protect = "main", []string{"ci/"} })
	want(t, v, verify.Red, "", "exit status 1")
	if !slices.Equal(v.Changed, []string{".gitattributes", "a.go"}) {
		t.Errorf("changed are %q", v.Changed)
	}
}

// No hook runs, wherever the configuration of the repository says that hooks are.
func TestNoHookRuns(t *testing.T) {
	f := newField(t)
	ran := filepath.Join(t.TempDir(), "ran")
	for _, hook := range []string{"post-checkout", "post-index-change", "reference-transaction"} {
		f.write(".husky/"+hook, "#!/bin/sh\necho "+hook+" >>"+ran+"\n")
	}
	f.commit("hooks")
	f.git("config", "core.hooksPath", ".husky")
	f.git("config", "core.fsmonitor", "echo fsmonitor >>"+ran)
	v, err := f.Run(t.Context(), verify.Request{Name: "test", Settings: verify.Settings{Run: "true", Timeout: patience}, Commit: "HEAD"})
	if err != nil {
		t.Error(err)
	}
	want(t, v, verify.Green, "", "")
	if data, err := os.ReadFile(ran); err == nil {
		t.Errorf("these ran: %s", data)
	}
}

func TestEnviron(t *testing.T) {
	env := verify.EnvironOf([]string{"PATH=/bin", "HOME=/h", "GIT_DIR=/x", "CLAUDE_SWARM_TOKEN=secret", "CLAUDE_SWARM_AGENT=coder", "CLAUDE_SWARM_DIR=/d", "CLAUDE_SWARM_TURN=k7-1",
		"CLAUDE_CODE_OAUTH_TOKEN=login", "ANTHROPIC_API_KEY=login", "HOOK=secret", "AWS_KEY=secret", "GOFLAGS=-v"}, []string{"HOOK", "AWS_*"}, "verify-v1")
	if diff := cmp.Diff([]string{"CLAUDE_SWARM_TURN=verify-v1", "GOFLAGS=-v", "HOME=/h", "PATH=/bin"}, env); diff != "" {
		t.Errorf("the environment (-want +got):\n%s", diff)
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, yes, no string
	}{
		{"*_test.go", "a_test.go b/c/a_test.go x_test.go/y", "a_test.goo test.go"},
		{"ci/", "ci/a b/ci/a ci/d/e", "ci b/ci"},
		{"/ci", "ci ci/a", "b/ci"},
		{"/ci/", "ci/a ci/b/c", "ci b/ci/a"},
		{"a/b.sh", "a/b.sh a/b.sh/c", "x/a/b.sh a/bb.sh"},
		{"a/**/*.snap", "a/x.snap a/b/x.snap a/b/c/x.snap", "x.snap b/x.snap"},
		{"**/x", "x a/x a/b/x x/y", "ax"},
		{"a/*", "a/b a/b/c", "a b/a/c"},
	} {
		for path := range strings.FieldsSeq(c.yes) {
			if !verify.Match(c.pattern, path) {
				t.Errorf("%s does not match %s", c.pattern, path)
			}
		}
		for path := range strings.FieldsSeq(c.no) {
			if verify.Match(c.pattern, path) {
				t.Errorf("%s matches %s", c.pattern, path)
			}
		}
	}
	for _, bad := range []string{"", "/", "../a", "a/./b", "[a", "!a"} {
		if verify.CheckPattern(bad) == nil {
			t.Errorf("the pattern %q is accepted", bad)
		}
	}
}

// The steps after which a process that runs a verifier is killed.
const (
	victimStep = "VERIFY_STEP"
	victimDir  = "VERIFY_DIR"
)

// victim runs a verifier, and is killed after a step.
func victim() {
	dir := os.Getenv(victimDir)
	r := verify.New(verify.Options{Project: dir, Home: filepath.Join(dir, ".claude-swarm"), Environ: os.Environ()})
	r.AtStep(func(name string) {
		if name == os.Getenv(victimStep) {
			if name == "started" {
				for {
					if _, err := os.Stat(filepath.Join(dir, ".claude-swarm/pids")); err == nil {
						break
					}
					time.Sleep(time.Millisecond) // the interval between checks
				}
			}
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	})
	line := "true"
	if os.Getenv(victimStep) == "started" {
		pids := dir + "/.claude-swarm/pids"
		line = "setsid sleep 600 & echo $! $$ >" + pids + ".new; mv " + pids + ".new " + pids + "; sleep 600"
	}
	r.Run(context.Background(), verify.Request{Name: "test", Settings: verify.Settings{Run: line, Timeout: patience}, Commit: "task", Target: "main", Protect: []string{"*.sh"}})
}

// A process that runs a verifier is killed after each step. The next one finds and removes
// everything, and does not disturb a verifier that is running.
func TestAKillAtEachStep(t *testing.T) {
	for _, step := range []string{"locked", "built", "added", "checked out", "started", "ended", "emptied", "forgotten"} {
		t.Run(step, func(t *testing.T) {
			f := newField(t)
			f.write("a.sh", "true")
			f.commit("target")
			f.git("checkout", "-q", "-b", "task")
			f.write("a.sh", "false")
			f.commit("work")
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(f.environ, victimStep+"="+step, victimDir+"="+f.dir)
			out, err := cmd.CombinedOutput()
			if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("the victim ended with %v\n%s", err, out)
			}
			swept := func() {
				if found, err := f.Sweep(t.Context()); found != 1 || err != nil {
					t.Errorf("Sweep found %d, %v", found, err)
				}
			}
			f.AtStep(func(name string) {
				if name == "started" {
					swept()
				}
			})
			want(t, f.run("test -f a.sh"), verify.Green, "", "")
			if step == "started" {
				ended(t, filepath.Join(f.home(), "pids"))
			}
			if found, err := f.Sweep(t.Context()); found != 0 || err != nil {
				t.Errorf("the second Sweep found %d, %v", found, err)
			}
		})
	}
}
