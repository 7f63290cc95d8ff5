package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asRepository makes the project a git repository with one commit.
func (p *project) asRepository() {
	p.t.Helper()
	p.write(".gitignore", ".dead-drop/\n.claude-swarm/\n")
	p.git("init", "-q", "-b", "main")
	p.git("add", ".")
	p.git("commit", "-q", "-m", "begin")
}

// git runs git as a person in the project, and returns its output.
func (p *project) git(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=Per Son", "-c", "user.email=per@example.org"}, args...)...)
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// threeCommits is a scenario in which each of three tasks is committed with the Bash tool, and
// then ends with a text that no other task says.
func threeCommits() string {
	var replies []string
	for _, n := range []string{"first", "second", "third"} {
		replies = append(replies, fmt.Sprintf(`{"name":"%[1]s","match":{"last_user_contains":"The %[1]s task"},"content":[{"tool_use":{"name":"Bash","input":{"command":"pwd > %[1]s.txt && git add %[1]s.txt && git -c user.name=A -c user.email=a@example.org commit -q -m %[1]s && echo committed %[1]s","description":"commit"}}}]},
			{"name":"end of %[1]s","match":{"tool_result_contains":"committed %[1]s"},"text":"The %[1]s word is ember-%[1]s."}`, n))
	}
	return `{"replies":[` + strings.Join(replies, ",") + `,{"name":"rest","times":-1,"text":"Nothing to do."}]}`
}

// A task has a folder, which goes when the task is committed. Claude Code keeps conversations by
// folder, and nevertheless the conversation goes along, also when the daemon is killed between
// two tasks, and when the client would stay for the next turn.
func TestAConversationGoesThroughThreeWorktrees(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, agent string
		kill        bool
	}{
		{"one client per turn", "  coder: {role: coder, worktree: task}\n", false},
		{"killed between two tasks", "  coder: {role: coder, worktree: task}\n", true},
		{"a client that stays", "  coder: {role: coder, worktree: task, linger: 10m}\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, threeCommits(), c.agent)
			p.asRepository()
			p.start()
			first := map[string]int{} // the number of the first request of a task
			for _, n := range []string{"first", "second", "third"} {
				first[n] = len(p.requests())
				id := p.send("coder", "The "+n+" task")
				r := p.receipt("coder", id)
				if r.Text != "The "+n+" word is ember-"+n+"." || len(r.Attempts) != 1 {
					t.Fatalf("the receipt of the %s task is %+v", n, r)
				}
				dir := filepath.Join(p.dir, ".worktrees", "agent-task-"+id)
				if r.Branch != "task/"+id || r.Commit != p.git("rev-parse", r.Branch) {
					t.Errorf("the receipt names %s at %s", r.Branch, r.Commit)
				}
				if where := p.git("show", r.Branch+":"+n+".txt"); where != dir {
					t.Errorf("the %s task ran in %s, want %s", n, where, dir)
				}
				p.until("the folder is removed", func() bool { _, err := os.Stat(dir); return os.IsNotExist(err) })
				if c.kill && n == "first" {
					p.killDaemon()
					p.start()
				}
			}
			reqs := p.requests()
			for _, said := range []string{"The first task", "ember-first", "The second task", "ember-second"} {
				if q := reqs[first["third"]]; !strings.Contains(q.LastUser, "The third task") || !strings.Contains(q.All, said) {
					t.Errorf("the first request of the third task does not hold %q", said)
				}
			}
			if n := len(reqs); n != 6 {
				t.Errorf("the model was asked %d times, want 6", n)
			}
			p.until("git lists one worktree", func() bool { return !strings.Contains(p.git("worktree", "list"), "\n") })
			if status := p.git("status", "--porcelain"); status != "" {
				t.Errorf("the person's tree has changed: %s", status)
			}
		})
	}
}

// killDaemon ends the daemon with SIGKILL, and waits until it is gone.
func (p *project) killDaemon() {
	p.t.Helper()
	daemon, err := os.FindProcess(p.status().Daemon.PID)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := daemon.Kill(); err != nil {
		p.t.Fatal(err)
	}
	p.until("the daemon is gone", func() bool { _, _, err := p.try("abort", "coder"); return err != nil && p.status().Daemon == nil })
}
