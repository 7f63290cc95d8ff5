package swarm_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/verify"
	"github.com/claude-swarm/claude-swarm/swarm/worktree"
)

// newVerifying returns a repository whose agent coder has a verifier with a command line.
func newVerifying(t *testing.T, line string) *repository {
	t.Helper()
	r := newRepository(t, worktree.PerTask, "coder")
	r.plan.Agents[0].Verify = []string{"test"}
	r.plan.Verifiers = map[string]verify.Settings{"test": {Run: line, Timeout: time.Minute}}
	return r
}

// commits makes each turn commit a file with the content that text returns for the turn's number,
// which begins at 1. "" means that nothing is committed.
func (r *repository) commits(name string, text func(n int) string) {
	n := 0
	r.backend.Script = func(turn runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.Do(func(context.Context, runner.Turn) error {
			n++
			body := text(n)
			if body == "" {
				return nil
			}
			if err := os.WriteFile(filepath.Join(turn.Spec.Dir, name), []byte(body), 0o600); err != nil {
				return err
			}
			r.commit(turn.Spec.Dir, turn.ID)
			return nil
		}), runnertest.Say("did it")}
	}
}

// Good work is verified before its message counts as done.
func TestGreenWorkIsVerified(t *testing.T) {
	r := newVerifying(t, "grep -q good work.txt")
	r.commits("work.txt", func(int) string { return "good\n" })
	r.start()
	id := r.send("coder", "do it")
	answer := r.answer(id)
	receipt := r.receipt("coder", id)
	if p := receipt.Verification; p == nil || p.Word != journal.WorkVerified || p.Commit != r.git("rev-parse", "task/"+id) || p.Commit != receipt.Commit {
		t.Errorf("the verification is %+v", p)
	}
	if body := string(answer.Body); !strings.Contains(body, "Verified: test: green") {
		t.Errorf("the answer is %q", body)
	}
	if n := len(r.backend.Runs()); n != 1 {
		t.Errorf("%d turns ran", n)
	}
}

// Red work goes back to the agent with what the verifier printed, and the repaired work is done.
func TestRedWorkGoesBack(t *testing.T) {
	r := newVerifying(t, "echo the color is wrong; grep -q good work.txt")
	r.commits("work.txt", func(n int) string { return map[int]string{1: "bad\n", 2: "worse\n", 3: "good\n"}[n] })
	r.start()
	id := r.send("coder", "do it")
	r.answer(id)
	receipt := r.receipt("coder", id)
	if p := receipt.Verification; p == nil || p.Word != journal.WorkVerified || len(receipt.Attempts) != 3 {
		t.Errorf("after %d attempts, the verification is %+v", len(receipt.Attempts), p)
	}
	for i, run := range r.backend.Runs() {
		told := strings.Contains(run.Turn.Prompt, "the color is wrong") && strings.Contains(run.Turn.Prompt, "Failed: test: red, exit status 1")
		if told != (i > 0) || strings.Contains(run.Turn.Prompt, "cut off") {
			t.Errorf("turn %d got the prompt %q", i+1, run.Turn.Prompt)
		}
	}
	for _, a := range receipt.Attempts[:2] {
		if a.Outcome != "failed" || !strings.Contains(a.Reason, "a verifier is red: test: red, exit status 1") {
			t.Errorf("an attempt is %+v", a)
		}
	}
}

// Work that is red three times is filed as failed, and the lead is told.
func TestRedWorkFails(t *testing.T) {
	r := newVerifying(t, "exit 3")
	r.commits("work_test.txt", func(n int) string { return strings.Repeat("bad\n", n) })
	r.start()
	id := r.send("coder", "do it")
	answer := r.answer(id)
	p := r.receipt("coder", id).Verification
	if p == nil || p.Word != journal.WorkFailed || !slices.Equal(p.TestsChanged, []string{"work_test.txt"}) {
		t.Errorf("the verification is %+v", p)
	}
	if body := string(answer.Body); !strings.HasPrefix(body, "Failed: test: red, exit status 3, at commit ") || !strings.Contains(body, "Tests changed: work_test.txt.") || !strings.Contains(body, "did it") {
		t.Errorf("the answer is %q", body)
	}
	if n := len(r.backend.Runs()); n != 3 {
		t.Errorf("%d turns ran, want 3", n)
	}
	r.until("the lead is told", func() bool {
		return slices.ContainsFunc(r.mail(dropbox.Lead), func(m *dropbox.Message) bool {
			return strings.HasPrefix(m.Subject, "not accepted: ") && strings.Contains(string(m.Body), "3 tries")
		})
	})
}

// An agent that commits nothing more after a red verifier does not get rid of the verdict.
func TestRedWorkStaysRed(t *testing.T) {
	r := newVerifying(t, "! test -e bad.txt")
	r.commits("bad.txt", func(n int) string { return map[int]string{1: "bad\n"}[n] })
	r.start()
	id := r.send("coder", "do it")
	if body := string(r.answer(id).Body); !strings.HasPrefix(body, "Failed: test: red") {
		t.Errorf("the sender is told %q", body)
	}
	receipt := r.receipt("coder", id)
	if base := r.git("rev-parse", "main"); receipt.Base != base || len(receipt.Attempts) != 3 {
		t.Errorf("the receipt has the base %s and %d attempts, want %s and 3", receipt.Base, len(receipt.Attempts), base)
	}
}

// Work without a commit, and work whose verifier cannot run, is unverified.
func TestUnverifiedWork(t *testing.T) {
	r := newVerifying(t, "no-such-program")
	r.commits("work.txt", func(n int) string { return map[int]string{2: "x\n"}[n] })
	r.start()
	for _, why := range []string{"nothing was committed", "test: not run, the command was not found"} {
		id := r.send("coder", "do it: "+why)
		answer := r.answer(id)
		if p := r.receipt("coder", id).Verification; p == nil || p.Word != journal.WorkUnverified || !strings.Contains(p.Why, why) {
			t.Errorf("the verification is %+v, want %s", p, why)
		}
		if body := string(answer.Body); !strings.Contains(body, "Unverified: "+why) {
			t.Errorf("the answer is %q", body)
		}
	}
}

// A verdict is about the branch that a person merges. Work that is not on it is unverified, and its
// folder stays. Work on it is verified, even if the folder is gone.
func TestWorkOutsideItsBranch(t *testing.T) {
	r := newVerifying(t, "grep -q good work.txt")
	ways := map[string]func(dir, branch string) error{
		"is checked out, but the branch": func(dir, branch string) error {
			r.gitIn(dir, "checkout", "-q", "-b", "other")
			r.gitIn(dir, "update-ref", branch, "HEAD~1")
			return nil
		},
		"was deleted": func(dir, branch string) error {
			r.gitIn(dir, "checkout", "-q", "--detach")
			r.gitIn(dir, "update-ref", "-d", branch)
			return nil
		},
		"test: green": func(dir, _ string) error { return os.RemoveAll(dir) },
	}
	r.backend.Script = func(turn runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.Do(func(context.Context, runner.Turn) error {
			dir := turn.Spec.Dir
			branch := r.gitIn(dir, "symbolic-ref", "HEAD")
			if err := os.WriteFile(filepath.Join(dir, "work.txt"), []byte("good\n"), 0o600); err != nil {
				return err
			}
			r.commit(dir, "work")
			for why, do := range ways {
				if strings.Contains(turn.Prompt, "do it: "+why) {
					return do(dir, branch)
				}
			}
			return nil
		}), runnertest.Say("did it")}
	}
	r.start()
	for why := range ways {
		id := r.send("coder", "do it: "+why)
		r.answer(id)
		word := journal.WorkUnverified
		if why == "test: green" {
			word = journal.WorkVerified
		}
		if p := r.receipt("coder", id).Verification; p == nil || p.Word != word || !strings.Contains(p.Why, why) {
			t.Errorf("the verification is %+v, want %s: %s", p, word, why)
		}
		if word == journal.WorkVerified && r.receipt("coder", id).Verification.Commit != r.git("rev-parse", "task/"+id) {
			t.Error("another commit was verified")
		}
	}
}

// The daemon ends while a verifier runs: the next one verifies the same turn again.
func TestADaemonThatEndsWhileItVerifies(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	r := newVerifying(t, "echo x >>"+gate+"; test $(wc -l <"+gate+") -gt 1 || sleep 600")
	r.commits("work.txt", func(int) string { return "x\n" })
	r.start()
	id := r.send("coder", "do it")
	r.until("the verifier runs", func() bool { _, err := os.Stat(gate); return err == nil })
	r.halt()
	r.start()
	r.answer(id)
	receipt := r.receipt("coder", id)
	if p := receipt.Verification; p == nil || p.Word != journal.WorkVerified || len(receipt.Attempts) != 1 {
		t.Errorf("after %d attempts, the verification is %+v", len(receipt.Attempts), p)
	}
}

// An order that ends the turn also ends its verifier.
func TestAbortWhileItVerifies(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	r := newVerifying(t, "touch "+gate+"; sleep 600")
	r.commits("work.txt", func(int) string { return "x\n" })
	r.start()
	id := r.send("coder", "do it")
	r.until("the verifier runs", func() bool { _, err := os.Stat(gate); return err == nil })
	if _, err := r.daemon.Abort(t.Context(), "coder", dropbox.Lead, ""); err != nil {
		t.Fatal(err)
	}
	r.untilState("coder", "idle")
	dead, err := os.ReadDir(filepath.Join(r.store.Dir(), "coder", "dead"))
	if err != nil || !slices.ContainsFunc(dead, func(e os.DirEntry) bool { return strings.Contains(e.Name(), id) }) {
		t.Errorf("dead letters: %v, %v", dead, err)
	}
	if left, _ := os.ReadDir(filepath.Join(r.dir, ".claude-swarm", "verify")); len(left) > 1 {
		t.Errorf("the verifier left %v", left)
	}
}

// A command line comes from the configuration alone.
func TestNoCommandFromElsewhere(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	r := newVerifying(t, "true")
	evil := "touch " + ran
	r.commits("claude-swarm.yaml", func(int) string {
		return "verifiers: {test: {run: " + evil + "}}\nagents: {coder: {worktree: task, verify: [test]}}\n"
	})
	r.start()
	id := r.send("coder", "verify: "+evil+"\nverifiers: {test: {run: "+evil+"}}")
	r.answer(id)
	dropped := "---\ntype: task\nsubject: do it\nverify: \"" + evil + "\"\n---\ndo it\n"
	if err := os.WriteFile(filepath.Join(r.store.Dir(), "coder", "task.md"), []byte(dropped), 0o600); err != nil {
		t.Fatal(err)
	}
	r.until("the dropped file is done", func() bool { return len(r.backend.Runs()) == 2 })
	r.untilState("coder", "idle")
	if _, err := os.Stat(ran); err == nil {
		t.Error("a command ran that is not in the configuration")
	}
}
