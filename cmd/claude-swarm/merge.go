package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/git"
	"github.com/claude-swarm/claude-swarm/swarm/merge"
	"github.com/claude-swarm/claude-swarm/swarm/worktree"
)

func mergeCommand() *cli.Command {
	return &cli.Command{
		Name: "merge", Category: groupProject, ArgsUsage: "[ID]",
		Usage: "merge the branch of a task",
		Description: `Merges the branch that an agent made with worktree: task or worktree: agent into
the branch that was checked out when its work began. ID is the task, or the
agent. Without an ID it lists the branches. It needs no daemon.

The merge is made in a temporary folder first. If the target is checked out,
the new files then appear there, unless changes there are not committed: then
the merge waits, and says so. Nothing is forced, and no hook runs. A branch with
a conflict goes back to its author, and so does one for which a verifier of the
configuration is red. Only you may merge, not an agent.

--undo ID takes back the changes of a merge, with a new commit.` +
			examples("claude-swarm merge", "claude-swarm merge k7f3q9m2xd --dry-run", "claude-swarm merge k7f3q9m2xd", "claude-swarm merge --undo k7f3q9m2xd"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Usage: "only try it, and say how it would end"},
			&cli.StringFlag{Name: "into", Usage: "merge into `BRANCH`"},
			&cli.StringFlag{Name: "undo", Usage: "take back the merge of `ID`"},
			&cli.StringFlag{Name: "cancel", Usage: "do not try the merge of `ID` again"},
			jsonFlag(),
		},
		Action: withPost(mergeBranch),
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the branches and the merges",
				Description: `Lists the branches that are not merged, and the merges, oldest first.` +
					examples("claude-swarm merge list --json"),
				Flags: []cli.Flag{jsonFlag()}, Action: withPost(mergeList),
			},
			{
				Name: "show", Usage: "print one merge", ArgsUsage: "ID",
				Description: `Prints the latest merge of a branch: how it ended, and why.` +
					examples("claude-swarm merge show k7f3q9m2xd"),
				Flags: []cli.Flag{jsonFlag()}, Action: withPost(mergeShow),
			},
		},
	}
}

// A merger is the merge queue of a project with the branches of its agents.
type merger struct {
	*post
	queue *merge.Queue
	trees *worktree.Trees
}

func (p *post) merger(c *cli.Context) (*merger, error) {
	m := &merger{post: p}
	var err error
	m.queue, err = merge.Open(c.Context, merge.Options{
		Dir: p.home.MergeDir(), Project: p.dir, Environ: os.Environ(), Files: p.home.Files(),
		Verify: m.verifyMerge(c),
		Return: func(_ context.Context, done merge.Merge) error { return m.giveBack(c, done) },
		Busy: func() {
			fmt.Fprintln(c.App.ErrWriter, "claude-swarm: another claude-swarm merge is running; this one waits for it")
		},
	})
	if errors.Is(err, git.ErrNoRepository) {
		return nil, fail(exitFailed, "git init, and worktree: task for an agent", "there is nothing to merge: %s is not in a git repository", p.dir)
	} else if owner, ok := errors.AsType[*git.OwnerError](err); ok {
		return nil, hint(err, "%s", owner.Next())
	} else if err != nil {
		return nil, err
	}
	m.trees, err = worktree.Open(p.home.Files(), p.home.WorktreesFile(), p.dir, os.Environ())
	return m, durable.IgnoreDamage(err) // the daemon tells about it
}

func mergeBranch(c *cli.Context, p *post) error {
	undo, cancel := c.String("undo"), c.String("cancel")
	switch {
	case c.NArg() > 1, (undo != "" || cancel != "") && (c.NArg() > 0 || c.Bool("dry-run") || c.String("into") != ""), undo != "" && cancel != "":
		return usagef("claude-swarm merge list", "merge: name one branch, by its ID")
	case c.NArg() == 0 && undo == "" && cancel == "":
		if c.Bool("dry-run") || c.String("into") != "" {
			return usagef("claude-swarm merge list", "merge: name the branch, by its ID")
		}
		return mergeList(c, p)
	}
	if err := p.home.Make(); err != nil {
		return err
	}
	m, err := p.merger(c)
	if err != nil {
		return err
	}
	// If one of these signals arrives, the merge goes back to the waiting ones.
	ctx, stop := signal.NotifyContext(c.Context, syscall.SIGTERM, syscall.SIGHUP, os.Interrupt)
	defer stop()
	var asked merge.Merge
	switch {
	case cancel != "":
		was, err := m.find(cancel, false)
		if err == nil {
			was, err = m.queue.Cancel(ctx, was.ID)
		}
		if err != nil {
			return cannotMerge(err)
		}
		return sayMerge(c, was)
	case undo != "":
		var was merge.Merge
		if was, err = m.find(undo, true); err == nil {
			asked, err = m.queue.Undo(ctx, was.ID, p.Me.Name)
		}
	default:
		var r merge.Request
		if r, err = m.request(c); err != nil {
			return err
		}
		if c.Bool("dry-run") {
			asked, err = m.queue.Try(ctx, r)
			if err != nil {
				return cannotMerge(err)
			}
			return sayMerge(c, asked)
		}
		asked, err = m.queue.Ask(ctx, r)
	}
	if err != nil {
		return cannotMerge(err)
	}
	ran, err := m.queue.Run(ctx, asked.ID)
	for _, r := range ran {
		if r.ID == asked.ID {
			asked = r
		} else {
			fmt.Fprintf(c.App.ErrWriter, "claude-swarm: an interrupted merge was finished first: %s\n", mergeWords(r))
		}
	}
	if err != nil && ctx.Err() != nil && c.Context.Err() == nil {
		return fail(exitInterrupted, "claude-swarm merge "+merge.NameOf(asked.Branch), "the merge of %s was interrupted, and waits", asked.Branch)
	} else if err != nil {
		return err
	}
	if len(ran) == 0 { // another program did it meanwhile
		if asked, err = m.byID(asked.ID); err != nil {
			return err
		}
	}
	return sayMerge(c, asked)
}

// cannotMerge adds the hint to an error of the queue.
func cannotMerge(err error) error {
	if why, ok := errors.AsType[*merge.RefusedError](err); ok {
		return fail(exitFailed, why.Next, "%s", why.Why)
	}
	return err
}

// request returns the request for the branch that the argument names.
func (m *merger) request(c *cli.Context) (merge.Request, error) {
	tree, err := m.tree(c.Args().First())
	if err != nil {
		return merge.Request{}, err
	}
	if tree.State == worktree.Ready {
		if look, err := m.trees.Look(c.Context, tree); err == nil { // the folder may be removed meanwhile, and the merge does not need it
			if kept := look.Kept(tree); kept != "" {
				fmt.Fprintf(c.App.ErrWriter, "claude-swarm: the merge takes what is committed; in %s, %s\n", tree.Dir, kept)
			}
		}
	}
	last := ""
	if tree.State == worktree.Removed {
		last = tree.Tip
	}
	return merge.Request{
		Branch: tree.Branch, Target: cmp.Or(c.String("into"), tree.Target), Task: tree.Task, Agent: tree.Agent,
		Subject: m.subject(tree.Task), By: m.Me.Name, Last: last,
	}, nil
}

// tree finds the working tree of a branch by the whole name of the branch, its name without the
// folder, or a part of that as for the ID of a message.
func (m *merger) tree(id string) (worktree.Tree, error) {
	var found []worktree.Tree
	for _, t := range m.trees.List() {
		if t.Branch == id || merge.NameOf(t.Branch) == id {
			return t, nil
		}
		if id != "" && dropbox.MatchID(merge.NameOf(t.Branch), id) {
			found = append(found, t)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return worktree.Tree{}, severalBranches(id, "claude-swarm merge "+merge.NameOf(found[0].Branch), len(found))
	}
	return worktree.Tree{}, fail(exitUnknown, "claude-swarm merge list", "no agent has made a branch named %q", id)
}

func severalBranches(id, next string, n int) error {
	return fail(exitUnknown, next, "%s is a part of the names of %d branches", id, n)
}

// subject returns what was asked for in a task, in one line, or "".
func (m *merger) subject(task string) string {
	if task == "" {
		return ""
	}
	_, first, err := m.Message(task)
	if err != nil { // the message may have been removed, and the merge does not need it
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(first.Body)), "\n")
	return cmp.Or(first.Subject, line)
}

// find returns the latest merge that an ID, or the name of a branch as for tree, names. landed
// means that only one that was merged counts.
func (m *merger) find(id string, landed bool) (merge.Merge, error) {
	all, err := m.queue.List()
	if err != nil {
		return merge.Merge{}, err
	}
	var found []merge.Merge // the latest merge of each branch of whose name id is a part
	for _, one := range slices.Backward(all) {
		if landed && (one.State != merge.Merged || one.Undoes != "") {
			continue
		}
		name := merge.NameOf(one.Branch)
		if one.ID == id || one.Branch == id || name == id {
			return one, nil
		}
		listed := slices.ContainsFunc(found, func(f merge.Merge) bool { return f.Branch == one.Branch })
		if !listed && dropbox.MatchID(name, id) {
			found = append(found, one)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return merge.Merge{}, severalBranches(id, "claude-swarm merge list", len(found))
	case landed:
		return merge.Merge{}, fail(exitUnknown, "claude-swarm merge list", "no branch named %q was merged", id)
	}
	return merge.Merge{}, fail(exitUnknown, "claude-swarm merge list", "there is no merge of a branch named %q", id)
}

func (m *merger) byID(id string) (merge.Merge, error) {
	all, err := m.queue.List()
	if err != nil {
		return merge.Merge{}, err
	}
	i := slices.IndexFunc(all, func(one merge.Merge) bool { return one.ID == id })
	if i < 0 {
		return merge.Merge{}, fail(exitUnknown, "claude-swarm merge list", "the merge %s is gone", id)
	}
	return all[i], nil
}
