package worktree_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/worktree"
)

// Many agents make, use and leave trees of one repository at once, while they and a person commit
// there. No lock surfaces, and no worktree is left.
func TestManyAgentsInOneRepository(t *testing.T) {
	const agents, tasks = 50, 2
	p := newProject(t)
	trees := p.open()
	var all sync.WaitGroup
	for n := range agents {
		all.Go(func() {
			for task := range tasks {
				r := worktree.Request{Agent: fmt.Sprintf("coder%d", n), Task: fmt.Sprintf("task%d-%d", n, task)}
				tree, err := trees.Make(t.Context(), r)
				if err != nil {
					t.Errorf("make %s: %v", r.Task, err)
					return
				}
				p.write(tree.Dir+"/work.txt", r.Task)
				commit, kept, err := trees.Incomplete(t.Context(), tree, r.Task)
				if commit == "" || kept != "" || err != nil {
					t.Errorf("incomplete %s: %q, %q, %v", r.Task, commit, kept, err)
				}
				if kept, err := trees.Remove(t.Context(), tree); kept != "" || err != nil {
					t.Errorf("remove %s: kept %q, %v", r.Task, kept, err)
				}
			}
		})
	}
	all.Go(func() {
		for range 20 {
			p.git("commit", "-q", "--allow-empty", "-m", "by a person")
		}
	})
	all.Wait()
	if list := p.git("worktree", "list"); strings.Contains(list, "\n") {
		t.Errorf("worktrees are left:\n%s", list)
	}
	if left, err := filepath.Glob(filepath.Join(p.dir, ".worktrees/*")); err != nil || len(left) > 0 {
		t.Errorf("folders are left: %v, %v", left, err)
	}
	if n := len(trees.List()); n != agents*tasks {
		t.Errorf("the ledger has %d trees", n)
	}
	var bytes int64
	err := filepath.Walk(filepath.Join(p.dir, ".git"), func(_ string, info os.FileInfo, err error) error {
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	t.Logf("the repository has %d KiB after %d tasks", bytes>>10, agents*tasks)
}
