package swarm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
	"github.com/claude-swarm/claude-swarm/swarm/worktree"
)

// agentTree gives the turns of one agent their working trees. Only the agent's goroutine uses
// it.
//
//	enter    before the turn: the tree is made, if the agent has one
//	         ... the turn runs there; its record says where ...
//	tip      after a turn that ended well: the commit, for the receipt
//	leave    when the message is done: the folder goes, if nothing is lost and no other
//	         mail of the task waits
type agentTree struct {
	name    string
	trees   *worktree.Trees
	control *control
	inbox   *mail.Inbox
	turns   *turn.Turns
	notices *notice.Teller
}

// enter returns the settings of a turn for a message, in the agent's working tree, and notes the
// tree in the turn's record. The error is a [*worktree.RefusedError], or one from git or the disk.
func (t *agentTree) enter(ctx context.Context, s turn.Settings, m *dropbox.Message, rec *journal.Record) (turn.Settings, error) {
	asked := t.control.settings().Worktree
	if !asked.Mode.On() {
		return s, nil
	}
	tree, err := t.trees.Make(ctx, worktree.Request{Agent: t.name, Task: taskOf(asked.Mode, m), Settings: asked})
	if err != nil {
		return s, err
	}
	if rec.Base, err = t.trees.Tip(ctx, tree); err != nil {
		return s, err
	}
	rec.Tree, rec.Branch = tree.Dir, tree.Branch
	return t.in(rec, s), nil
}

// taskOf returns the task for which a turn on a message needs a tree; "" means the tree of all
// tasks.
func taskOf(mode worktree.Mode, m *dropbox.Message) string {
	if mode == worktree.PerAgent {
		return ""
	}
	return cmp.Or(m.Trace, m.ID)
}

// in returns the settings of a turn in the working tree that its record names.
func (t *agentTree) in(rec *journal.Record, s turn.Settings) turn.Settings {
	if tree, ok := t.recorded(rec); ok {
		s.Client.Dir, s.Moves = t.trees.WorkDir(tree, s.Client.Dir), true
	}
	return s
}

// recorded returns the tree in which a turn ran.
func (t *agentTree) recorded(rec *journal.Record) (worktree.Tree, bool) {
	if rec == nil || rec.Tree == "" {
		return worktree.Tree{}, false
	}
	trees := t.trees.List()
	i := slices.IndexFunc(trees, func(tree worktree.Tree) bool { return tree.Dir == rec.Tree })
	if i < 0 {
		return worktree.Tree{}, false
	}
	return trees[i], true
}

// line returns the line of a prompt about the working tree of the turn, or "".
func (t *agentTree) line(rec *journal.Record, dir string) string {
	if rec.Tree == "" {
		return ""
	}
	return fmt.Sprintf("Your folder is %s, a git worktree with the branch %s, now at %.12s. Work there and nowhere else, and commit what you finish to that branch: uncommitted work counts as unfinished. "+
		"Do not switch to another branch there, and do not use git worktree.", dir, rec.Branch, rec.Base)
}

// tip returns the commit of a turn's branch, or "" if the turn ran in no tree.
func (t *agentTree) tip(ctx context.Context, rec *journal.Record) (string, error) {
	tree, ok := t.recorded(rec)
	if !ok {
		return "", nil
	}
	look, err := t.trees.Look(ctx, tree)
	return look.Head, err
}

// leave removes the folder of a task's tree when a message of the task is done, unless it must
// stay. The lead is told once why a folder stays.
func (t *agentTree) leave(ctx context.Context, rec *journal.Record) error {
	tree, ok := t.recorded(rec)
	if !ok || tree.Task == "" {
		return nil
	}
	if waits, err := t.inbox.TaskWaits(tree.Task); err != nil || waits {
		return err
	}
	t.turns.Close(ctx, "its working tree is no longer needed")
	kept, err := t.trees.Remove(ctx, tree)
	if err != nil {
		return err
	}
	if kept != "" {
		t.notices.Tell(notice.TreeStays{Agent: t.name, Dir: tree.Dir, Branch: tree.Branch, Why: kept})
	}
	return nil
}

// refusedTree returns the reason why an agent can get no working tree, if err is one, and what a
// person can do.
func refusedTree(err error) (why, next string, ok bool) {
	e, ok := errors.AsType[*worktree.RefusedError](err)
	if !ok {
		return "", "", false
	}
	return e.Why, e.Next, true
}
