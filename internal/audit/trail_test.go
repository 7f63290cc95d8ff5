package audit_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/audit"
)

func textLog(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// gitThat returns options with a git program that runs a shell script before or instead of
// the real git. In the script, $git is the real program, and "$*" contains its arguments.
func (p *project) gitThat(script string) audit.Options {
	p.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		p.Fatal(err)
	}
	name := filepath.Join(p.home, "git-wrapper")
	p.script(name, "git="+real+"\n"+script+"\nexec $git \"$@\"\n")
	o := p.options()
	o.Git = name
	return o
}

func TestABacklogIsMadeUpInOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	p := newProject(t)
	// More than 100 objects become a pack, which the next Record reads.
	const n = 100
	want := make([]string, n)
	bases := make([]string, n)
	start := p.now.AddDate(0, 0, -20)
	for i := range n {
		// The order by time differs from the orders by id and by agent.
		k := (i * 37) % n
		ended := start.Add(time.Duration(k) * 5 * time.Hour) // crosses 20 midnights
		bases[i] = p.turn([]string{"coder", "reviewer", "tester"}[i%3], i, ended, nil)
		want[k] = fmt.Sprintf("k%09d", i)
	}
	p.record(p.audit())
	ids := p.log("%(trailers:key=Message-Id,valueonly,separator=%x2c)")
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Fatalf("commits (-want +got):\n%s", diff)
	}
	tree := p.tree()
	for _, base := range bases {
		for _, end := range []string{".md", ".receipt.yaml"} {
			if !slices.Contains(tree, ".dead-drop/"+base+end) {
				t.Errorf("%s%s is not in the tree", base, end)
			}
		}
	}
	// Two turns ended while the audit was off, one long ago and one just now. Each turn
	// becomes one commit.
	p.turn("coder", 1000, start, nil)
	p.turn("coder", 1001, p.now, nil)
	p.record(p.audit())
	if got := p.log("%s")[n:]; !slices.Equal(got, []string{"coder: Do PERF-1000", "coder: Do PERF-1001"}) {
		t.Errorf("commits after the gap = %q", got)
	}
	p.git("fsck", "--strict", "--no-dangling")
}

func TestABacklogOfManyBatches(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	p := newProject(t)
	p.record(p.audit())
	// One turn more than a full batch of 1000. The full batch follows a commit and another
	// batch follows it, as in the middle of a longer backlog. At most 24 turns share a
	// folder, because each commit writes a new tree of its folder.
	const n = 1001
	want := []string{"swarm: record 2 files"}
	for i := range n {
		p.turn("coder", i, p.now.Add(time.Duration(i-n)*time.Hour), nil)
		want = append(want, fmt.Sprintf("coder: Do PERF-%d", i))
	}
	p.write(filepath.Join(p.drop, "board/status.md"), "rides along with the last turn")
	calls := filepath.Join(p.home, "calls")
	p.record(p.auditWith(p.gitThat(`case "$*" in *fast-import*) echo x >>` + calls + `;; esac`)))
	if diff := cmp.Diff(want, p.log("%s")); diff != "" {
		t.Errorf("commits (-want +got):\n%s", diff)
	}
	if got := p.git("log", "-1", "--format=%s", audit.Branch, "--", ".dead-drop/board/status.md"); got != want[n]+"\n" {
		t.Errorf("the page of the board is in %q, want %q", got, want[n])
	}
	if data, err := os.ReadFile(calls); err != nil || len(data) != 2*2 {
		t.Errorf("calls of fast-import = %q, %v; want 2", data, err)
	}
}

func TestCutsAreMadeUp(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	// Each script affects only the first calls to fast-import, one for each byte in the file
	// named fault.
	for name, script := range map[string]string{
		"killed before the word done":       `head -c 700 | $git "$@"; kill -9 $$`,
		"killed in the middle of a file":    `head -c 300 | $git "$@"; kill -9 $$`,
		"killed between two files":          `awk '/^M /{n++} n==2{exit} {print}' | $git "$@"; kill -9 $$`,
		"killed between objects and branch": `sed s,refs/heads/dead-drop,refs/scratch/x, | $git "$@" >/dev/null; $git --git-dir="$GIT" update-ref -d refs/scratch/x; kill -9 $$`,
		"killed after the branch moved":     `$git "$@" >/dev/null; kill -9 $$`,
		"refused":                           `exit 1`,
		"objects damaged on the way":        `head -c 700 >/dev/null; exit 0`,
	} {
		for _, retries := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s %d times", name, retries), func(t *testing.T) {
				t.Parallel()
				p := newProject(t)
				fault := filepath.Join(p.home, "fault")
				a := p.auditWith(p.gitThat(fmt.Sprintf(`GIT=%s/.git
case "$*" in *fast-import*)
	if [ -s %s ]; then truncate -s -1 %s; %s; fi;;
esac`, p.dir, fault, fault, script)))
				if retries == 1 {
					p.record(a) // so that this audit's memory can become outdated
				} else {
					p.record(p.audit())
				}
				for i := range 3 {
					p.turn("coder", i, p.now.Add(time.Duration(i)*time.Second), nil)
				}
				p.write(filepath.Join(p.drop, "board/status.md"), "rides along")
				p.write(fault, strings.Repeat("x", retries))
				err := a.Record(t.Context())
				if retries == 1 && err != nil {
					t.Errorf("Record after one failure = %v, want nil: it tries again", err)
				}
				p.record(a)
				p.turn("coder", 3, p.now.Add(time.Hour), nil)
				p.record(a)
				p.record(p.audit())
				want := []string{"swarm: record 2 files", "coder: Do PERF-0", "coder: Do PERF-1", "coder: Do PERF-2", "coder: Do PERF-3"}
				if diff := cmp.Diff(want, p.log("%s")); diff != "" {
					t.Errorf("commits (-want +got):\n%s", diff)
				}
				if found, _ := filepath.Glob(filepath.Join(p.dir, ".git/fast_import_crash_*")); len(found) > 0 {
					t.Errorf("left behind: %q", found)
				}
				p.git("fsck", "--strict", "--no-dangling")
			})
		}
	}
}

func TestSomebodyElseMovesTheBranchMeanwhile(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.record(p.audit())
	p.turn("coder", 1, p.now, nil)
	once := filepath.Join(p.home, "once")
	p.write(once, "")
	a := p.auditWith(p.gitThat(fmt.Sprintf(`case "$*" in *fast-import*)
	if [ -e %[1]s ]; then rm %[1]s
		c=$($git -C %[2]s commit-tree -p dead-drop -m theirs 'dead-drop^{tree}') && $git -C %[2]s update-ref refs/heads/dead-drop $c
	fi;;
esac`, once, p.dir)))
	p.record(a)
	if got := p.log("%s"); !slices.Equal(got, []string{"swarm: record 2 files", "theirs", "coder: Do PERF-1"}) {
		t.Errorf("commits = %q, want theirs kept and ours on top", got)
	}
}

func TestALockIsTold(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	p := newProject(t)
	a := p.audit()
	p.record(a)
	lock := filepath.Join(p.dir, ".git/refs/heads/dead-drop.lock")
	p.write(lock, "")
	p.turn("coder", 1, p.now, nil)
	if err := a.Record(t.Context()); err == nil || !strings.Contains(err.Error(), "dead-drop.lock") {
		t.Errorf("Record with the branch locked = %v, want the lock's name", err)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	p.record(a)
	if got := p.log("%s"); len(got) != 2 {
		t.Errorf("commits = %q, want 2", got)
	}
}

func TestADeletedOrRewrittenBranchIsMadeAgain(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	for i := range 3 {
		p.turn("coder", i, p.now.AddDate(0, 0, -9+5*i), nil)
	}
	a := p.audit()
	p.record(a)
	p.git("update-ref", "refs/heads/dead-drop", "dead-drop~2") // keeps only the first commit
	p.record(a)
	want := []string{"coder: Do PERF-0", "coder: Do PERF-1", "coder: Do PERF-2"}
	if diff := cmp.Diff(want, p.log("%s")); diff != "" {
		t.Errorf("commits after a reset (-want +got):\n%s", diff)
	}
	p.git("branch", "-q", "-D", "dead-drop") // also deletes the branch's reflog
	p.git("prune", "--expire=now")
	if left, err := filepath.Glob(filepath.Join(p.dir, ".git/objects/??/*")); err != nil || len(left) > 0 {
		t.Errorf("left after the deletion: %q, %v", left, err)
	}
	p.record(a)
	if diff := cmp.Diff(want, p.log("%s")); diff != "" {
		t.Errorf("commits after a delete (-want +got):\n%s", diff)
	}
}

func TestGarbageCollectionInBetween(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	p := newProject(t)
	a := p.audit()
	// The second and the fourth commit follow one that is in a pack, with the branch in
	// packed-refs; the third follows loose objects and a branch that is in both places.
	for i := range 4 {
		p.turn("coder", i, p.now.Add(time.Duration(i)*time.Second), nil)
		p.record(a)
		if i%2 == 0 {
			p.git("gc", "-q", "--prune=now") // also packs the branches
		}
	}
	p.git("fsck", "--strict", "--no-dangling")
	if got := p.log("%s"); len(got) != 4 {
		t.Errorf("commits = %q, want 4", got)
	}
}

func TestTwoWorktreesShareTheBranch(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.git("commit", "-q", "--allow-empty", "-m", "start")
	p.git("worktree", "add", "-q", "../linked")
	q := *p
	q.dir = filepath.Join(p.dir, "../linked")
	q.drop = filepath.Join(q.dir, ".dead-drop")
	for _, name := range []string{"version", ".gitignore"} {
		data, err := os.ReadFile(filepath.Join(p.drop, name))
		if err != nil {
			t.Fatal(err)
		}
		q.write(filepath.Join(q.drop, name), string(data))
	}
	p.write(filepath.Join(p.drop, "coder/dead/1-x.md"), "here")
	p.write(filepath.Join(p.drop, "board/status.md"), "here")
	q.write(filepath.Join(q.drop, "board/status.md"), "there")
	a, b := p.audit(), q.audit()
	for i := range 3 {
		p.turn("coder", 2*i, p.now, nil)
		p.record(a)
		q.turn("coder", 2*i+1, q.now, nil)
		q.record(b)
	}
	n := len(p.log("%s"))
	if n != 6 {
		t.Errorf("commits = %q, want 6", p.log("%s"))
	}
	// If there are no new turns, neither audit reverts what the other has recorded.
	for range 3 {
		p.record(a)
		q.record(b)
	}
	if got := p.log("%s"); len(got) != n {
		t.Errorf("Record without news made commits: %q", got[n:])
	}
	if !slices.Contains(p.tree(), ".dead-drop/coder/dead/1-x.md") {
		t.Error("the audit of one worktree removed the dead letter of the other")
	}
}

func TestATurnCostsTwoProcesses(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	for i := range 20 {
		p.turn("coder", i, p.now.AddDate(0, 0, -i), nil)
	}
	calls := filepath.Join(p.home, "calls")
	a := p.auditWith(p.gitThat(`echo "$*" >>` + calls))
	p.record(a)
	if err := os.Remove(calls); err != nil {
		t.Fatal(err)
	}
	p.turn("coder", 100, p.now, nil)
	p.record(a)
	p.record(a) // nothing is new, so this call runs git only once
	data, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	var verbs []string
	for line := range strings.Lines(string(data)) {
		for _, verb := range []string{"for-each-ref", "fast-import", "ls-tree", "rev-list", "diff-tree"} {
			if strings.Contains(line, " "+verb+" ") {
				verbs = append(verbs, verb)
			}
		}
	}
	if want := []string{"for-each-ref", "fast-import", "for-each-ref"}; !slices.Equal(verbs, want) || strings.Count(string(data), "\n") != len(want) {
		t.Errorf("git was called for %q, want %q:\n%s", verbs, want, data)
	}
	// A receipt that is more than two days old is found only at the next start.
	p.turn("coder", 101, p.now.AddDate(0, 0, -5), nil)
	p.record(a)
	if got := len(p.log("%s")); got != 21 {
		t.Errorf("%d commits, want 21: old days are not listed", got)
	}
	p.record(p.audit())
	if got := len(p.log("%s")); got != 22 {
		t.Errorf("%d commits after a new start, want 22", got)
	}
}

func TestMidnightIsNotMissed(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	a := p.audit()
	p.record(a)
	day := p.now
	p.now = day.AddDate(0, 0, 3) // nothing was recorded for three days
	p.turn("coder", 1, day.Add(time.Minute), nil)
	p.turn("coder", 2, day.AddDate(0, 0, 2), nil)
	p.record(a)
	// The message was filed just before midnight, and its receipt was renamed just after
	// the call to look.
	p.turn("coder", 3, p.now.AddDate(0, 0, -1), nil)
	p.record(a)
	if got := p.log("%an"); !slices.Equal(got, []string{"swarm", "coder", "coder", "coder"}) {
		t.Errorf("commits by %q", got)
	}
}

// Record stops git when its context is done. The branch then contains no commit of the
// batch.
func TestAnEndedContextEndsGit(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.turn("coder", 1, p.now, nil)
	fifo := filepath.Join(p.home, "began")
	a := p.auditWith(p.gitThat(`case "$*" in *fast-import*) echo >` + fifo + `; exec sleep 600;; esac`))
	ctx, cancel := contextWhen(t, fifo)
	defer cancel()
	if err := a.Record(ctx); err == nil {
		t.Error("Record = nil, want an error")
	}
	if _, err := p.gitIn(p.dir, "rev-parse", "-q", "--verify", audit.Branch); err == nil {
		t.Error("the branch exists")
	}
	p.record(p.audit())
	if got := p.log("%s"); len(got) != 1 {
		t.Errorf("commits = %q, want 1", got)
	}
}

// contextWhen creates a named pipe. It returns a context that ends when a process opens the
// pipe, or after a minute.
func contextWhen(t *testing.T, fifo string) (context.Context, context.CancelFunc) {
	t.Helper()
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	var wg sync.WaitGroup
	wg.Go(func() {
		f, err := os.Open(fifo)
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Error(err)
		}
		cancel()
	})
	t.Cleanup(wg.Wait)
	return ctx, cancel
}
