package swarm

import (
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
//	collect  after a turn: mail that was dropped in the tree goes to the mailboxes
//	tip      after a turn that ended well: the commit, for the receipt
//	leave    when the message is done: the folder goes, if nothing is lost and no other
//	         mail of the task waits
//	giveUp   when the message is given up: what is not committed is committed first
//	sweep    when the agent begins: the two for messages that an earlier daemon settled
type agentTree struct {
	name    string
	trees   *worktree.Trees
	control *control
	inbox   *mail.Inbox
	turns   *turn.Turns
	notices *notice.Teller
}

// enter returns the settings of a turn for a message, in the agent's working tree, and notes the
// tree in the turn's record. The error is a [*worktree.RefusedError], a [*worktree.BusyError], or
// one from git or the disk.
func (t *agentTree) enter(ctx context.Context, s turn.Settings, j *mail.Job, rec *journal.Record) (turn.Settings, error) {
	m := j.Claim.Message
	asked := t.control.settings().Worktree
	if !asked.Mode.On() {
		return s, nil
	}
	tree, err := t.trees.Make(ctx, worktree.Request{
		Agent: t.name, Task: treeTask(asked.Mode, m), Message: m.ID, Cwd: s.Client.Dir, From: t.from(m), Settings: asked,
	})
	if err != nil {
		return s, err
	}
	rec.Tree, rec.Branch = tree.Dir, tree.Branch
	if rec.Base, err = t.base(ctx, tree, j); err != nil {
		return s, err
	}
	s = t.in(rec, s)
	rec.Cwd = s.Client.Dir
	return s, nil
}

// from returns the branch of the agent that sent a message, if it has one for the task. A new tree
// begins there, so that a reviewer sees the work that it reviews. "" means the project's HEAD.
func (t *agentTree) from(m *dropbox.Message) string {
	for _, task := range []string{taskOf(m), ""} {
		if tree, ok := t.trees.Of(m.From, task); ok && m.From != t.name {
			return "refs/heads/" + tree.Branch
		}
	}
	return ""
}

// base returns the commit of a tree's branch before the work on a message began. The work includes
// what an earlier attempt committed.
func (t *agentTree) base(ctx context.Context, tree worktree.Tree, j *mail.Job) (string, error) {
	earlier, err := journal.Records(t.inbox.Home, j.Claim.ID, j.Claim.Begun)
	if err != nil {
		return "", err
	}
	for _, rec := range earlier {
		if rec.Branch == tree.Branch && rec.Base != "" {
			return rec.Base, nil
		}
	}
	return t.trees.Tip(ctx, tree)
}

// treeTask returns the task for which a turn on a message needs a tree; "" means the tree of all
// tasks.
func treeTask(mode worktree.Mode, m *dropbox.Message) string {
	if mode == worktree.PerAgent {
		return ""
	}
	return taskOf(m)
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
	return fmt.Sprintf("Your folder is %s, a git worktree with the branch %s. Work there and nowhere else, and commit what you finish to that branch: uncommitted work counts as unfinished. "+
		"Do not switch to another branch there, and do not use git worktree.", dir, rec.Branch)
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

// collect brings the mail that a turn dropped in its tree. A file that cannot be moved keeps the
// folder.
func (t *agentTree) collect(ctx context.Context, rec *journal.Record) error {
	tree, ok := t.recorded(rec)
	if !ok {
		return nil
	}
	return t.bringMail(ctx, tree, rec)
}

// leave removes the folder of a task's tree when a message of the task is done, unless it must
// stay. The lead is told once why a folder stays.
func (t *agentTree) leave(ctx context.Context, rec *journal.Record) error {
	tree, ok := t.recorded(rec)
	if !ok {
		return nil
	}
	return t.remove(ctx, tree)
}

func (t *agentTree) remove(ctx context.Context, tree worktree.Tree) error {
	if tree.Task == "" {
		return nil
	}
	if waits, err := t.inbox.TaskWaits(tree.Task); err != nil || waits {
		return err
	}
	t.turns.Close(ctx, "its working tree is no longer needed")
	if err := t.bringMail(ctx, tree, nil); err != nil { // git would delete what it ignores
		return err
	}
	kept, err := t.trees.Remove(ctx, tree)
	if err != nil {
		return err
	}
	if kept != "" {
		t.notices.Tell(notice.TreeStays{Agent: t.name, Dir: tree.Dir, Branch: tree.Branch, Why: kept})
	}
	return nil
}

// gaveUp is giveUp for a message that may have been given up after a turn.
func (t *agentTree) gaveUp(ctx context.Context, rec *journal.Record) error {
	tree, ok := t.recorded(rec)
	if !ok {
		return nil
	}
	found, err := t.inbox.Service.Store.Find(rec.Message)
	if err != nil || found.State != dropbox.Dead {
		return ignoreMissing(err)
	}
	return t.giveUp(ctx, tree, rec.Message)
}

// giveUp commits what a message that was given up left in its tree, tells the lead, and removes the
// folder as leave does.
func (t *agentTree) giveUp(ctx context.Context, tree worktree.Tree, message string) error {
	t.turns.Close(ctx, "its message was given up")
	title := message
	if m, err := t.inbox.Service.Store.Message(message); err == nil {
		title = mail.Describe(m)
	}
	if err := t.bringMail(ctx, tree, nil); err != nil {
		return err
	}
	commit, kept, err := t.trees.Incomplete(ctx, tree, title)
	if err != nil {
		return err
	}
	if kept != "" {
		t.notices.Tell(notice.TreeStays{Agent: t.name, Dir: tree.Dir, Branch: tree.Branch, Why: kept})
		return nil
	}
	if commit != "" {
		t.notices.Tell(notice.Incomplete{Agent: t.name, Message: message, Title: title, Branch: tree.Branch, Commit: commit, Base: tree.Base})
	}
	// Otherwise a later daemon would commit the work of a person there.
	return errors.Join(t.remove(ctx, tree), t.trees.Settled(tree))
}

// sweep leaves the trees of messages that were settled when an earlier daemon ended.
func (t *agentTree) sweep(ctx context.Context) error {
	var errs []error
	for _, tree := range t.trees.List() {
		if tree.Agent != t.name || tree.State != worktree.Ready || tree.Message == "" {
			continue
		}
		found, err := t.inbox.Service.Store.Find(tree.Message)
		switch {
		case err != nil:
			errs = append(errs, ignoreMissing(err))
		case found.State == dropbox.Dead:
			errs = append(errs, t.giveUp(ctx, tree, tree.Message))
		case found.State == dropbox.Done:
			errs = append(errs, t.remove(ctx, tree))
		}
	}
	return errors.Join(errs...)
}

// logErr logs an error, unless it came because the daemon ends: then the next daemon does the step.
func (t *agentTree) logErr(ctx context.Context, err error) {
	if ctx.Err() == nil {
		t.inbox.Note(err)
	}
}

// ignoreMissing returns nil if a message no longer exists.
func ignoreMissing(err error) error {
	if errors.Is(err, dropbox.ErrNotFound) {
		return nil
	}
	return err
}

// waitsForTree reports whether an agent gets its working tree only after a person has done
// something. why says so, and next is what a person can do. stops says that trying again does not
// help.
func waitsForTree(err error) (why, next string, stops, ok bool) {
	if e, ok := errors.AsType[*worktree.RefusedError](err); ok {
		return e.Why, e.Next, true, true
	}
	if e, ok := errors.AsType[*worktree.BusyError](err); ok {
		return e.Why, e.Next, false, true
	}
	return "", "", false, false
}
