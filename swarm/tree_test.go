package swarm_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/worktree"
)

// A repository is a field whose folder is a git repository with one commit.
type repository struct{ *field }

func newRepository(t *testing.T, mode worktree.Mode, agents ...string) *repository {
	t.Helper()
	r := &repository{newField(t, agents...)}
	r.environ = append(r.environ, "PATH="+os.Getenv("PATH"), "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1")
	for i := range r.plan.Agents {
		r.plan.Agents[i].Worktree.Mode = mode
	}
	r.git("init", "-q", "-b", "main")
	r.write("main.go", "package main\n")
	r.write(".gitignore", ".dead-drop/\n.claude-swarm/\n")
	r.commit(r.dir, "begin")
	return r
}

func (r *repository) gitIn(dir string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=Per Son", "-c", "user.email=per@example.org"}, args...)...)
	cmd.Dir, cmd.Env = dir, r.environ
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Errorf("git %v in %s: %v\n%s", args, dir, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *repository) git(args ...string) string { r.t.Helper(); return r.gitIn(r.dir, args...) }

func (r *repository) write(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repository) commit(dir, subject string) {
	r.t.Helper()
	r.gitIn(dir, "add", ".")
	r.gitIn(dir, "commit", "-q", "-m", subject)
}

// works makes each turn write a file with the given text, and commit it if commits is set.
func (r *repository) works(commits bool) {
	r.backend.Script = func(turn runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.Do(func(context.Context, runner.Turn) error {
			err := os.WriteFile(filepath.Join(turn.Spec.Dir, turn.ID+".txt"), []byte("work\n"), 0o600)
			if err == nil && commits {
				r.commit(turn.Spec.Dir, turn.ID)
			}
			return err
		}), runnertest.Say("done")}
	}
}

// Each task runs in a folder of its branch, which goes when the task is committed. The
// conversation goes along, and the person's own tree stays as it is.
func TestATaskHasAWorkingTree(t *testing.T) {
	r := newRepository(t, worktree.PerTask, "coder")
	r.works(true)
	r.start()
	base := r.git("rev-parse", "main")
	for _, body := range []string{"one", "two", "three"} {
		id := r.send("coder", body)
		r.answer(id)
		receipt := r.receipt("coder", id)
		branch := "task/" + id
		if tip := r.git("rev-parse", branch); receipt.Branch != branch || receipt.Base != base || receipt.Commit != tip || tip == base {
			t.Errorf("the receipt names %s, %s, %s; the branch is at %s", receipt.Branch, receipt.Base, receipt.Commit, tip)
		}
		dir := filepath.Join(r.dir, ".worktrees", "agent-task-"+id)
		r.until("the folder is removed", func() bool { _, err := os.Stat(dir); return os.IsNotExist(err) })
		runs := r.backend.Runs()
		last := runs[len(runs)-1].Turn
		if last.Spec.Dir != dir || !strings.Contains(last.Prompt, dir) || !strings.Contains(last.Prompt, branch) {
			t.Errorf("the turn ran in %s with the prompt %q", last.Spec.Dir, last.Prompt)
		}
		if want := map[bool]runner.How{true: runner.New, false: runner.Fork}[len(runs) == 1]; last.Session.How != want {
			t.Errorf("turn %d ran in a session %s, want %s", len(runs), last.Session.How, want)
		}
	}
	if list := r.git("worktree", "list"); strings.Contains(list, "\n") {
		t.Errorf("worktrees are left:\n%s", list)
	}
	if status := r.git("status", "--porcelain"); status != "" || r.git("rev-parse", "HEAD") != base || r.git("symbolic-ref", "HEAD") != "refs/heads/main" {
		t.Errorf("the person's tree has changed: %q", status)
	}
}

// A folder with work that is not committed stays, and the lead is told where it is.
func TestUncommittedWorkKeepsItsFolder(t *testing.T) {
	r := newRepository(t, worktree.PerTask, "coder")
	r.works(false)
	r.start()
	id := r.send("coder", "one")
	r.answer(id)
	r.until("the lead is told", func() bool {
		for _, m := range r.mail(dropbox.Lead) {
			if strings.Contains(m.Subject, "working tree kept: .worktrees/agent-task-"+id) && strings.Contains(string(m.Body), id+"-1.txt") {
				return true
			}
		}
		return false
	})
	if _, err := os.Stat(filepath.Join(r.dir, ".worktrees", "agent-task-"+id, id+"-1.txt")); err != nil {
		t.Error(err)
	}
}

// The tree of an agent that gets mail from another agent of the task begins with that agent's
// work. While it commits nothing, each further mail brings it the newest commit again.
func TestAReviewerSeesTheWork(t *testing.T) {
	r := newRepository(t, worktree.PerTask, "coder", "reviewer")
	seen := make(chan string, 10)
	r.backend.Script = func(turn runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.Do(func(context.Context, runner.Turn) error {
			if turn.Agent == "reviewer" {
				data, err := os.ReadFile(filepath.Join(turn.Spec.Dir, "work.txt"))
				seen <- string(data)
				return err
			}
			err := os.WriteFile(filepath.Join(turn.Spec.Dir, "work.txt"), []byte(turn.ID), 0o600)
			r.commit(turn.Spec.Dir, turn.ID)
			return err
		}), runnertest.Say("done")}
	}
	r.start()
	task := r.send("coder", "write it")
	r.answer(task)
	inTask := func(from string) func(*dropbox.Message) {
		return func(m *dropbox.Message) { m.From, m.Trace = from, task }
	}
	for range 2 {
		review := r.send("reviewer", "review it", inTask("coder"))
		r.until("the review is done", func() bool { return len(r.files("reviewer", "new"))+len(r.files("reviewer", "cur")) == 0 })
		if got := <-seen; got != r.git("show", "task/"+task+":work.txt") {
			t.Errorf("in %s the reviewer saw %q", review, got)
		}
		again := r.send("coder", "write it again", inTask(dropbox.Lead))
		r.answer(again)
	}
}

// An agent with one tree keeps it, and keeps its conversation without a copy.
func TestAnAgentHasAWorkingTree(t *testing.T) {
	r := newRepository(t, worktree.PerAgent, "coder")
	r.works(true)
	r.start()
	r.answer(r.send("coder", "one"))
	r.answer(r.send("coder", "two"))
	runs := r.backend.Runs()
	if dir := filepath.Join(r.dir, ".worktrees/coder"); runs[1].Turn.Spec.Dir != dir || runs[1].Turn.Session.How != runner.Resume {
		t.Errorf("the second turn ran in %s, %s", runs[1].Turn.Spec.Dir, runs[1].Turn.Session.How)
	}
	if n := r.git("rev-list", "--count", "main..agent/coder"); n != "2" {
		t.Errorf("the branch has %s commits", n)
	}
}

// Without a repository the agent stops, and its message waits.
func TestNoRepositoryForAWorkingTree(t *testing.T) {
	f := newField(t, "coder")
	f.plan.Agents[0].Worktree.Mode = worktree.PerTask
	f.environ = append(f.environ, "PATH="+os.Getenv("PATH"))
	f.start()
	f.send("coder", "one")
	st := f.untilState("coder", "stopped")
	if !strings.Contains(st.Why, "not in a git repository") || !strings.Contains(st.Next, "git init") {
		t.Errorf("why %q, next %q", st.Why, st.Next)
	}
	if n := len(f.files("coder", "new")); n != 1 {
		t.Errorf("%d messages wait", n)
	}
}

// A message that is given up leaves its work in a commit on the branch, and the lead is told.
func TestAGivenUpTaskKeepsItsWork(t *testing.T) {
	r := newRepository(t, worktree.PerTask, "coder")
	r.plan.Agents[0].MaxFailures = 2
	var seen []string
	r.backend.Script = func(turn runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.Do(func(context.Context, runner.Turn) error {
			entries, err := filepath.Glob(filepath.Join(turn.Spec.Dir, "*.txt"))
			seen = append(seen, strings.Join(entries, " "))
			return errors.Join(err, os.WriteFile(filepath.Join(turn.Spec.Dir, turn.ID+".txt"), []byte("work\n"), 0o600))
		}), runnertest.Fail("no luck")}
	}
	r.start()
	id := r.send("coder", "Paint the door")
	r.until("the lead is told", func() bool {
		for _, m := range r.mail(dropbox.Lead) {
			if m.Subject == "incomplete work kept: task/"+id {
				return true
			}
		}
		return false
	})
	dir := filepath.Join(r.dir, ".worktrees", "agent-task-"+id)
	r.until("the folder is removed", func() bool { _, err := os.Stat(dir); return os.IsNotExist(err) })
	if len(seen) != 2 || !strings.HasSuffix(seen[1], id+"-1.txt") {
		t.Errorf("the second turn saw %q", seen)
	}
	if got := r.git("log", "-1", "--format=%s|%an", "--name-only", "task/"+id); got != "[INCOMPLETE] Paint the door|coder\n\n"+id+"-1.txt\n"+id+"-2.txt" {
		t.Errorf("the branch has %q", got)
	}
}

// A tree whose message was settled when the daemon ended is left when the next one begins.
func TestATreeIsLeftLater(t *testing.T) {
	r := newRepository(t, worktree.PerTask, "coder")
	r.works(false)
	r.start()
	id := r.send("coder", "one")
	r.answer(id)
	dir := filepath.Join(r.dir, ".worktrees", "agent-task-"+id)
	r.until("the lead is told", func() bool { return len(r.mail(dropbox.Lead)) > 1 })
	r.halt()
	r.commit(dir, "by a person")
	r.start()
	r.until("the folder is removed", func() bool { _, err := os.Stat(dir); return os.IsNotExist(err) })
}

// An agent waits while a person has the branch of its task, and says what to type.
func TestABusyBranchHoldsTheAgent(t *testing.T) {
	r := newRepository(t, worktree.PerAgent, "coder")
	r.works(true)
	r.start()
	r.answer(r.send("coder", "one"))
	r.git("worktree", "remove", ".worktrees/coder")
	r.git("switch", "-q", "agent/coder")
	id := r.send("coder", "two")
	st := r.untilState("coder", "backoff")
	if !strings.Contains(st.Why, "the branch agent/coder is checked out in "+r.dir+"; free it: git -C "+r.dir+" switch --detach") {
		t.Errorf("why %q", st.Why)
	}
	r.git("switch", "-q", "main")
	r.answer(id)
}

// Mail that an agent drops in its own tree arrives, with the agent's turn as its origin, and does
// not keep the folder. A file that the branch has is no mail, and a link leads nowhere.
func TestMailDroppedInATree(t *testing.T) {
	r := newRepository(t, worktree.PerTask, "coder", "tester")
	r.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if turn.Agent != "coder" {
			return []runnertest.Step{runnertest.Say("done")}
		}
		return []runnertest.Step{runnertest.Do(func(context.Context, runner.Turn) error {
			drop := filepath.Join(turn.Spec.Dir, ".dead-drop")
			err := os.MkdirAll(filepath.Join(drop, "tester"), 0o700)
			for name, text := range map[string]string{"plan.md": "test it", "kept.md": "a file of the branch"} {
				err = errors.Join(err, os.WriteFile(filepath.Join(drop, "tester", name), []byte(text), 0o600))
			}
			r.gitIn(turn.Spec.Dir, "add", "-f", ".dead-drop/tester/kept.md")
			r.gitIn(turn.Spec.Dir, "commit", "-q", "-m", "kept")
			return err
		}), runnertest.Say("done")}
	}
	r.start()
	id := r.send("coder", "one")
	r.answer(id)
	var got *dropbox.Message
	r.until("the mail arrives", func() bool {
		for _, run := range r.backend.Runs() {
			if run.Turn.Agent == "tester" && strings.Contains(run.Turn.Prompt, "test it") {
				m, err := r.store.Message(strings.TrimSuffix(run.Turn.ID, "-1"))
				got = m
				return err == nil
			}
		}
		return false
	})
	if got.Trace != id || got.Hops != 1 {
		t.Errorf("the message has trace %s and %d hops, want those of the turn on %s", got.Trace, got.Hops, id)
	}
	dir := filepath.Join(r.dir, ".worktrees", "agent-task-"+id)
	r.until("the folder is removed", func() bool { _, err := os.Stat(dir); return os.IsNotExist(err) })
}
