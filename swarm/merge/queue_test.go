package merge_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm/merge"
)

// The test program runs the queue of a project instead of the tests if this variable names the
// project. It kills itself at the step whose number the other variable has.
const (
	projectVar = "MERGE_TEST_PROJECT"
	killVar    = "MERGE_TEST_KILL"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(projectVar); dir != "" {
		os.Exit(runQueue(dir))
	}
	os.Exit(m.Run())
}

func runQueue(dir string) int {
	at, _ := strconv.Atoi(os.Getenv(killVar)) // 0: never
	n := 0
	q, err := merge.Open(context.Background(), options(dir, func(string) {
		if n++; n == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}))
	if err == nil {
		_, err = q.Run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(n)
	return 0
}

// options are those of a queue whose verifier is red if the commit has a file red.
func options(dir string, step func(string)) merge.Options {
	return merge.Options{
		Dir: filepath.Join(dir, ".claude-swarm", "merge"), Project: dir, Environ: environ(dir), Files: durable.Files{}, Step: step,
		Verify: func(_ context.Context, commit, _ string) (merge.Verdict, error) {
			cmd := exec.Command("git", "cat-file", "-e", commit+":red")
			cmd.Dir, cmd.Env = dir, environ(dir)
			if cmd.Run() == nil {
				return merge.Verdict{Result: merge.Fail, By: "test", Why: "exit status 1", Output: []string{"it is red"}}, nil
			}
			return merge.Verdict{Result: merge.Green, By: "test"}, nil
		},
		Return: func(_ context.Context, m merge.Merge) error {
			return os.WriteFile(filepath.Join(dir, ".claude-swarm", "returned-"+m.ID), nil, 0o600)
		},
	}
}

func environ(dir string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir + ".home", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
}

// A project is a repository with a commit, in which a person works.
type project struct {
	testing.TB
	dir string
}

func newProject(t testing.TB) *project {
	t.Helper()
	p := &project{t, filepath.Join(t.TempDir(), "project")}
	p.write(".gitignore", ".claude-swarm/\n")
	p.write("main.go", "package main\n")
	p.git("init", "-q", "-b", "main")
	p.git("add", ".")
	p.git("commit", "-q", "-m", "begin")
	return p
}

func (p *project) git(args ...string) string {
	p.Helper()
	out, err := p.try(args...)
	if err != nil {
		p.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

func (p *project) try(args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "user.name=Per Son", "-c", "user.email=per@example.org", "-c", "core.fsync=none"}, args...)...)
	cmd.Dir, cmd.Env = p.dir, environ(p.dir)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (p *project) write(name, text string) {
	p.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
}

// branch makes a branch with a commit of one file, on top of another branch, without a checkout.
func (p *project) branch(name, from, file, text string) string {
	p.Helper()
	p.write(".claude-swarm/blob", text)
	blob := p.git("hash-object", "-w", ".claude-swarm/blob")
	index := filepath.Join(p.dir, ".claude-swarm", "index")
	defer os.Remove(index)
	cmd := exec.Command("sh", "-ec", `git read-tree "$1"; git update-index --add --cacheinfo 100644,"$2","$3"; git write-tree`, "sh", from, blob, file)
	cmd.Dir, cmd.Env = p.dir, append(environ(p.dir), "GIT_INDEX_FILE="+index)
	tree, err := cmd.CombinedOutput()
	if err != nil {
		p.Fatalf("%v: %s", err, tree)
	}
	commit := p.git("commit-tree", strings.TrimSpace(string(tree)), "-p", from, "-m", "write "+file)
	p.git("update-ref", "refs/heads/"+name, commit)
	return commit
}

func (p *project) open() *merge.Queue {
	p.Helper()
	q, err := merge.Open(p.Context(), options(p.dir, nil))
	if err != nil {
		p.Fatal(err)
	}
	return q
}

func (p *project) ask(branch string) merge.Merge {
	p.Helper()
	m, err := p.open().Ask(p.Context(), merge.Request{Branch: branch, Target: "main", Task: merge.NameOf(branch), Agent: "coder", Subject: "Do it", By: "lead"})
	if err != nil {
		p.Fatal(err)
	}
	return m
}

// run runs the queue in this process.
func (p *project) run() {
	p.Helper()
	if _, err := p.open().Run(p.Context()); err != nil {
		p.Fatal(err)
	}
}

// program runs the queue in another process, which is killed at a step; 0 means at none.
func (p *project) program(kill int) *exec.Cmd {
	p.Helper()
	program, err := os.Executable()
	if err != nil {
		p.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(environ(p.dir), projectVar+"="+p.dir, killVar+"="+strconv.Itoa(kill))
	return cmd
}

func (p *project) get(id string) merge.Merge {
	p.Helper()
	all, err := p.open().List()
	if err != nil {
		p.Fatal(err)
	}
	i := slices.IndexFunc(all, func(m merge.Merge) bool { return m.ID == id })
	if i < 0 {
		p.Fatalf("no merge %s in %+v", id, all)
	}
	return all[i]
}

// expect checks the state of a merge.
func (p *project) expect(id string, want merge.State) merge.Merge {
	p.Helper()
	m := p.get(id)
	if m.State != want {
		p.Errorf("%s is %s (%s), want %s", id, m.State, m.Why, want)
	}
	return m
}

// clean checks that the engine has left nothing behind but its records.
func (p *project) clean() {
	p.Helper()
	if list := p.git("worktree", "list"); strings.Count(list, "merge-") > 0 {
		p.Errorf("working trees are left:\n%s", list)
	}
	for _, pattern := range []string{".git/worktrees/merge-*", ".claude-swarm/merge/tree/*", ".git/*.lock", ".git/refs/heads/*.lock", ".claude-swarm/merge/cur/*.json"} {
		if left, _ := filepath.Glob(filepath.Join(p.dir, pattern)); len(left) > 0 {
			p.Errorf("left behind: %v", left)
		}
	}
	// The lock is free: otherwise another Run would wait.
	busy := false
	o := options(p.dir, nil)
	o.Busy = func() { busy = true }
	q, err := merge.Open(p.Context(), o)
	if err == nil {
		_, err = q.Run(p.Context())
	}
	if err != nil || busy {
		p.Errorf("another run: busy %v, %v", busy, err)
	}
}

// mine returns all that belongs to the person and that no merge may change: the untracked files,
// stash, HEAD, other branches, and configuration.
func (p *project) mine() string {
	p.Helper()
	var b strings.Builder
	for _, args := range [][]string{
		{"symbolic-ref", "HEAD"}, {"stash", "list"}, {"ls-files", "--others", "--exclude-standard"}, {"config", "--local", "--list"},
		{"for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/other", "refs/tags", "refs/stash"},
	} {
		b.WriteString(p.git(args...) + "\n")
	}
	return b.String()
}

// asPerson gives the person a stash, an untracked file, a tag and a branch.
func (p *project) asPerson() {
	p.Helper()
	p.write("main.go", "package main // stashed\n")
	p.git("stash")
	p.write("notes.txt", "mine\n")
	p.git("tag", "v1")
	p.git("branch", "other")
}

// A merge into the branch that a person has checked out brings the files there, and into another
// branch only moves that branch.
func TestAMerge(t *testing.T) {
	for _, checkedOut := range []bool{true, false} {
		t.Run(fmt.Sprintf("checked out %v", checkedOut), func(t *testing.T) {
			p := newProject(t)
			p.asPerson()
			if !checkedOut {
				p.git("switch", "-q", "other")
			}
			begin := p.git("rev-parse", "main")
			commit := p.branch("task/k7f3", "main", "new.go", "package main\n")
			mine := p.mine()
			id := p.ask("task/k7f3").ID
			p.run()
			m := p.expect(id, merge.Merged)
			if got := p.git("rev-parse", "main^1", "main^2"); got != begin+"\n"+commit || p.git("rev-parse", "main") != m.Result {
				t.Errorf("the parents of the merge are %s; the record is %+v", got, m)
			}
			want := "swarm <swarm@claude-swarm.invalid>\nMerge task/k7f3 into main: Do it\n\nTask: k7f3\nAgent: coder\nVerified: test\nMerge-Id: " + id
			if got := p.git("log", "-1", "--format=%an <%ae>%n%B", "main"); got != want {
				t.Errorf("the commit says\n%s\nwant\n%s", got, want)
			}
			if _, err := os.Stat(filepath.Join(p.dir, "new.go")); (err == nil) != checkedOut {
				t.Errorf("new.go in the person's folder: %v", err)
			}
			if got := p.mine(); got != mine {
				t.Errorf("of the person's own\n%s\nis now\n%s", mine, got)
			}
			if status := p.git("status", "--porcelain", "--untracked-files=no"); status != "" {
				t.Errorf("the status shows %s", status)
			}
			if m.Verified != "test: green" {
				t.Errorf("verified: %q", m.Verified)
			}
			p.clean()

			// And back.
			u, err := p.open().Undo(t.Context(), id, "lead")
			if err != nil {
				t.Fatal(err)
			}
			p.run()
			p.expect(u.ID, merge.Merged)
			if diff := p.git("diff", "--stat", begin, "main"); diff != "" || p.get(id).Undone != p.git("rev-parse", "main") {
				t.Errorf("undone, the target differs: %s; %+v", diff, p.get(id))
			}
			if got := p.mine(); got != mine {
				t.Errorf("of the person's own\n%s\nis now\n%s", mine, got)
			}
			if _, err := p.open().Undo(t.Context(), id, "lead"); err == nil {
				t.Error("it was undone twice")
			}
			p.branch("task/k7f3", "task/k7f3", "more.go", "package main\n")
			if _, err := p.open().Ask(t.Context(), merge.Request{Branch: "task/k7f3", Target: "main"}); err == nil || !strings.Contains(err.Error(), "undone") {
				t.Errorf("more commits on an undone branch: %v", err)
			}
			p.clean()
		})
	}
}

// A merge that cannot be leaves the target as it is, and its record says why.
func TestAMergeThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		before   func(p *project) // before the merge is asked for
		after    func(p *project) // between asking and merging
		state    merge.State
		cause    merge.Cause
		why      string
		resolve  func(p *project) // then the same merge works
		returned bool
		moves    bool // the person moves the target
	}{
		"changed file": {
			after: func(p *project) { p.write("main.go", "package main // mine\n") },
			state: merge.Waiting, why: "not committed: main.go", resolve: func(p *project) { p.git("checkout", "-q", "main.go") },
		},
		"staged file": {
			after: func(p *project) { p.write("a.go", "package main\n"); p.git("add", "a.go") },
			state: merge.Waiting, why: "not committed: a.go", resolve: func(p *project) { p.git("reset", "-q") },
		},
		"untracked file in the way": {
			after: func(p *project) { p.write("new.go", "mine\n") },
			state: merge.Waiting, why: "new.go", resolve: func(p *project) { os.Remove(filepath.Join(p.dir, "new.go")) },
		},
		"ignored file in the way": {
			before: func(p *project) {
				p.write(".gitignore", ".claude-swarm/\nnew.go\n")
				p.git("commit", "-q", "-am", "ignore")
			},
			after: func(p *project) { p.write("new.go", "mine\n") },
			state: merge.Waiting, why: "new.go", resolve: func(p *project) { os.Remove(filepath.Join(p.dir, "new.go")) },
		},
		"index.lock": {
			after: func(p *project) { p.write(".git/index.lock", "") },
			state: merge.Waiting, why: "index.lock", resolve: func(p *project) { os.Remove(filepath.Join(p.dir, ".git/index.lock")) },
		},
		"lock of the branch": {
			before: func(p *project) { p.git("switch", "-q", "-c", "elsewhere") },
			after:  func(p *project) { p.write(".git/refs/heads/main.lock", "") },
			state:  merge.Waiting, why: "another git process", resolve: func(p *project) { os.Remove(filepath.Join(p.dir, ".git/refs/heads/main.lock")) },
		},
		"a merge under way": {
			before: func(p *project) { p.branch("side", "main", "side.go", "package main\n") },
			after:  func(p *project) { p.git("merge", "-q", "--no-ff", "--no-commit", "side") },
			state:  merge.Waiting, why: "MERGE_HEAD", resolve: func(p *project) { p.git("merge", "--abort") },
		},
		"conflict": {
			after: func(p *project) {
				p.write("new.go", "package other\n")
				p.git("add", ".")
				p.git("commit", "-q", "-m", "mine")
			},
			state: merge.Refused, cause: merge.Conflict, why: "new.go", returned: true, moves: true,
		},
		"red": {
			before: func(p *project) {
				p.write("red", "x")
				p.git("add", ".")
				p.git("commit", "-q", "-m", "red")
			},
			state: merge.Refused, cause: merge.Red, why: "exit status 1", returned: true,
		},
		"deleted branch": {
			after: func(p *project) { p.git("branch", "-q", "-D", "task/k7f3") },
			state: merge.Refused, cause: merge.Gone, why: "was deleted",
		},
		"rebased branch": {
			after: func(p *project) {
				p.git("branch", "-q", "-D", "task/k7f3")
				p.branch("task/k7f3", "main", "new.go", "package rebased\n")
			},
			state: merge.Refused, cause: merge.Moved, why: "is at",
		},
		"deleted target": {
			after: func(p *project) { p.git("switch", "-q", "-c", "elsewhere"); p.git("branch", "-q", "-D", "main") },
			state: merge.Refused, cause: merge.Gone, why: "does not exist", moves: true,
		},
		"worktree that is not there": {
			before: func(p *project) {
				p.git("switch", "-q", "-c", "elsewhere")
				p.git("worktree", "add", "-q", p.dir+".linked", "main")
			},
			after: func(p *project) { os.RemoveAll(p.dir + ".linked") },
			state: merge.Waiting, why: "which is not there", resolve: func(p *project) { p.git("worktree", "prune") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			if c.before != nil {
				c.before(p)
			}
			p.branch("task/k7f3", "main", "new.go", "package main\n")
			id := p.ask("task/k7f3").ID
			was := p.git("rev-parse", "main")
			if c.after != nil {
				c.after(p)
			}
			status := p.git("status", "--porcelain")
			p.run()
			m := p.expect(id, c.state)
			if m.Cause != c.cause || !strings.Contains(m.Why, c.why) || m.Next == "" {
				t.Errorf("cause %q, why %q, next %q", m.Cause, m.Why, m.Next)
			}
			if _, err := os.Stat(filepath.Join(p.dir, ".claude-swarm/returned-"+id)); (err == nil) != c.returned {
				t.Errorf("returned to the author: %v", err)
			}
			if got := p.git("status", "--porcelain"); got != status {
				t.Errorf("the status was %q, and is %q", status, got)
			}
			if !c.moves && p.git("rev-parse", "main") != was {
				t.Error("the target has moved")
			}
			if c.resolve != nil {
				c.resolve(p)
				p.run()
				p.expect(id, merge.Merged)
			}
			if c.state == merge.Refused && m.Result != "" {
				t.Errorf("a refused merge has the result %s", m.Result)
			}
			p.clean()
		})
	}
}

// A program that the repository's configuration names for signatures does not run, even if merges
// need signed commits.
func TestASignedCommit(t *testing.T) {
	p := newProject(t)
	p.branch("task/one", "main", "one", "1\n")
	text := p.git("cat-file", "commit", "task/one")
	head, message, _ := strings.Cut(text, "\n\n")
	p.write(".claude-swarm/commit", head+"\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n"+message+"\n")
	p.git("update-ref", "refs/heads/task/one", p.git("hash-object", "-t", "commit", "-w", ".claude-swarm/commit"))
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "gpg")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+ran+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.git("config", "merge.verifySignatures", "true")
	p.git("config", "gpg.program", program)
	m := p.ask("task/one")
	p.run()
	if _, err := os.Stat(ran); err == nil {
		t.Error("the program that the configuration names for signatures ran")
	}
	p.expect(m.ID, merge.Waiting)
}

// The target moves while the verifier runs: the merge begins again, from the new target, also if
// that was force-pushed.
func TestATargetThatMoves(t *testing.T) {
	for name, moveTo := range map[string]string{"forward": "side", "to another history": "forced"} {
		for _, checkedOut := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, checked out %v", name, checkedOut), func(t *testing.T) {
				p := newProject(t)
				p.write("second.go", "package main\n")
				p.git("add", ".")
				p.git("commit", "-q", "-m", "second")
				p.branch("side", "main", "side.go", "package main\n")
				p.branch("forced", "main~1", "side.go", "package main\n")
				p.branch("task/k7f3", "main~1", "new.go", "package main\n")
				if !checkedOut {
					p.git("switch", "-q", "-c", "elsewhere")
				}
				id := p.ask("task/k7f3").ID
				o, n := options(p.dir, nil), 0
				verify := o.Verify
				o.Verify = func(ctx context.Context, commit, target string) (merge.Verdict, error) {
					if n++; n == 1 && checkedOut {
						p.git("reset", "-q", "--hard", moveTo)
					} else if n == 1 {
						p.git("update-ref", "refs/heads/main", moveTo)
					}
					return verify(ctx, commit, target)
				}
				q, err := merge.Open(t.Context(), o)
				if err == nil {
					_, err = q.Run(t.Context())
				}
				if err != nil {
					t.Fatal(err)
				}
				p.expect(id, merge.Merged)
				if p.git("rev-parse", "main^1") != p.git("rev-parse", moveTo) || n != 2 {
					t.Errorf("verified %d times; the merge is not on top of %s", n, moveTo)
				}
				p.clean()
			})
		}
	}
}

// A merge waits if its verifier has no result, or if the person interrupts it.
func TestAMergeWithoutAVerdict(t *testing.T) {
	p := newProject(t)
	p.branch("task/k7f3", "main", "new.go", "package main\n")
	id, was := p.ask("task/k7f3").ID, p.git("rev-parse", "main")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, verify := range []func(context.Context, string, string) (merge.Verdict, error){
		func(context.Context, string, string) (merge.Verdict, error) {
			return merge.Verdict{Result: merge.NotRun, Why: "stopped after 10m"}, nil
		},
		func(context.Context, string, string) (merge.Verdict, error) {
			return merge.Verdict{}, errors.New("no space left on device")
		},
		func(context.Context, string, string) (merge.Verdict, error) {
			return merge.Verdict{}, nil // no result at all is not green
		},
		func(ctx context.Context, _, _ string) (merge.Verdict, error) {
			cancel()
			return merge.Verdict{Result: merge.Green}, nil
		},
	} {
		o := options(p.dir, nil)
		o.Verify = verify
		q, err := merge.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Run(ctx); err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
		if m := p.expect(id, merge.Waiting); m.Why == "" || p.git("rev-parse", "main") != was {
			t.Errorf("it waits because %q; the target is at %s", m.Why, p.git("rev-parse", "main"))
		}
	}
	p.run()
	p.expect(id, merge.Merged)
	p.clean()
}

// The subject of a task cannot pass for a trailer of another merge.
func TestASubjectIsNoTrailer(t *testing.T) {
	p := newProject(t)
	p.branch("task/one", "main", "one.go", "package main\n")
	id := p.ask("task/one").ID
	p.run()
	p.branch("task/two", "main", "two.go", "package main\n")
	if _, err := p.open().Ask(t.Context(), merge.Request{Branch: "task/two", Target: "main", Subject: "x\n\nMerge-Id: " + id + "-undo\n", By: "lead"}); err != nil {
		t.Fatal(err)
	}
	u, err := p.open().Undo(t.Context(), id, "lead")
	if err != nil {
		t.Fatal(err)
	}
	p.run()
	p.expect(u.ID, merge.Merged)
	if _, err := os.Stat(filepath.Join(p.dir, "one.go")); !os.IsNotExist(err) {
		t.Errorf("the undoing is recorded, but the file is there: %v", err)
	}
	p.clean()
}

// A program is killed before and after each step, and run again.
func TestKilledAtEachStep(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(p *project) (id string)
		want    merge.State
		merged  int // merge commits in the end
	}{
		"checked out": {func(p *project) string {
			p.branch("task/k7f3", "main", "new.go", "package main\n")
			return p.ask("task/k7f3").ID
		}, merge.Merged, 1},
		"not checked out": {func(p *project) string {
			p.git("switch", "-q", "-c", "elsewhere")
			p.branch("task/k7f3", "main", "new.go", "package main\n")
			return p.ask("task/k7f3").ID
		}, merge.Merged, 1},
		"conflict": {func(p *project) string {
			p.branch("task/k7f3", "main", "main.go", "package a\n")
			p.git("update-ref", "refs/heads/main", p.branch("side", "main", "main.go", "package b\n"))
			p.git("reset", "-q", "--hard")
			return p.ask("task/k7f3").ID
		}, merge.Refused, 0},
		"undo": {func(p *project) string {
			p.branch("task/k7f3", "main", "new.go", "package main\n")
			id := p.ask("task/k7f3").ID
			p.run()
			u, err := p.open().Undo(p.Context(), id, "lead")
			if err != nil {
				p.Fatal(err)
			}
			return u.ID
		}, merge.Merged, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			every := 1
			if testing.Short() {
				every = 7
			}
			for kill := 1; ; kill += every {
				p := newProject(t)
				p.asPerson()
				id := c.prepare(p)
				mine := p.mine()
				out, err := p.program(kill).CombinedOutput()
				if err != nil && !strings.Contains(err.Error(), "killed") {
					t.Fatalf("step %d: %v\n%s", kill, err, out)
				}
				p.run()
				p.expect(id, c.want)
				if n := p.git("rev-list", "--count", "--grep=^Merge-Id: ", "main"); n != strconv.Itoa(c.merged) {
					t.Errorf("killed at step %d: %s merge commits, want %d", kill, n, c.merged)
				}
				if got := p.mine(); got != mine {
					t.Errorf("killed at step %d: of the person's own\n%s\nis now\n%s", kill, mine, got)
				}
				if status := p.git("status", "--porcelain", "--untracked-files=no"); status != "" {
					t.Errorf("killed at step %d: the status shows %s", kill, status)
				}
				p.clean()
				if t.Failed() {
					return
				}
				if err == nil {
					if kill < 20 {
						t.Errorf("only %d steps", kill)
					}
					t.Logf("fewer than %d steps", kill)
					return
				}
			}
		})
	}
}

// Of many merges through many kills none is lost and none happens twice, and the target is green
// at each of its commits.
func TestManyMergesThroughKills(t *testing.T) {
	merges, kills := 200, 100
	if testing.Short() {
		merges, kills = 20, 10
	}
	p := newProject(t)
	p.asPerson()
	ids := map[string]bool{} // whether the merge is expected to be refused
	for i := range merges {
		file, red := fmt.Sprintf("file%d.go", i), i%10 == 7
		if red {
			file = "red"
		}
		p.branch(fmt.Sprintf("task/t%d", i), "main", file, "package main\n")
		ids[p.ask(fmt.Sprintf("task/t%d", i)).ID] = red
	}
	mine := p.mine()
	waiting := func() (n int) {
		all, err := p.open().List()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			if m.State == merge.Waiting || m.State == merge.Merging {
				n++
			}
		}
		return n
	}
	// A program gets so many steps that the merges last as long as the kills. Every second one is
	// killed by the clock, and so in the middle of a step: git goes on by itself then.
	killed := 0
	for killed < kills && waiting() > 0 {
		steps, after := 1+rand.IntN(100*merges/kills), time.Duration(rand.IntN(150*merges/kills))*time.Millisecond
		if killed%2 == 1 {
			steps = 0
		}
		var out strings.Builder
		cmd := p.program(steps)
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if steps == 0 {
			time.Sleep(after)
			_ = cmd.Process.Kill() // it may have ended
		}
		if err := cmd.Wait(); err != nil && !strings.Contains(err.Error(), "killed") {
			t.Fatalf("%v\n%s", err, out.String())
		} else if err != nil {
			killed++
		}
	}
	t.Logf("%d kills", killed)
	if killed < kills/2 {
		t.Errorf("only %d kills", killed)
	}
	for p.run(); waiting() > 0 && !t.Failed(); p.run() { // a git that goes on by itself holds locks
		t.Logf("%d merges wait for another git", waiting())
	}
	counts := map[string]int{}
	for line := range strings.Lines(p.git("log", "--first-parent", "--format=%(trailers:key=Merge-Id,valueonly,separator=%x2C)", "main")) {
		if id := strings.TrimSpace(line); id != "" {
			counts[id]++
		}
	}
	lost, double := 0, 0
	for id, red := range ids {
		m := p.get(id)
		switch {
		case red && (m.State != merge.Refused || counts[id] != 0), !red && (m.State != merge.Merged || counts[id] == 0):
			lost++
			t.Errorf("%s is %s, with %d merge commits: %s", id, m.State, counts[id], m.Why)
		case counts[id] > 1:
			double++
		}
	}
	if lost != 0 || double != 0 || len(counts) > len(ids) {
		t.Errorf("%d lost, %d double", lost, double)
	}
	if red := p.git("log", "--format=%H", "main", "--", "red"); red != "" {
		t.Errorf("the target was red: %s", red)
	}
	if got := p.mine(); got != mine {
		t.Errorf("of the person's own\n%s\nis now\n%s", mine, got)
	}
	if status := p.git("status", "--porcelain", "--untracked-files=no"); status != "" {
		t.Errorf("the status shows %s", status)
	}
	p.clean()
}
