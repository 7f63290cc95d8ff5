package merge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/git"
)

// A RefusedError says why something cannot be merged or undone, and what a person can do.
type RefusedError struct{ Why, Next string }

func (e *RefusedError) Error() string { return e.Why }

// Options are what a [Queue] needs.
type Options struct {
	Dir     string // the folder of the queue, absolute
	Project string // a folder in the repository, absolute
	Environ []string
	Files   durable.Files
	// Verify judges a merge before the target is written. commit has the merged files, and target
	// is the commit into which they go. nil means that no verifier is configured. An error, like
	// [NotRun], makes the merge wait.
	Verify func(ctx context.Context, commit, target string) (Verdict, error)
	// Return gives a merge with a conflict or a red verifier back to its author. It is called again
	// after a crash, so it must tolerate that. nil means that nobody is told.
	Return func(ctx context.Context, m Merge) error
	// Busy is called if another program merges, and this one has to wait.
	Busy func()
	// Step is called before and after each change on disk, with its name; nil means that nobody wants
	// to know.
	Step func(name string)
}

// A Queue merges branches of one repository. It keeps no files or processes open between calls. It
// is not safe for concurrent use, but several processes may have a Queue for the same folder.
type Queue struct {
	o    Options
	repo *git.Repo
}

// Open finds the repository. The error is one of [git.Find].
func Open(ctx context.Context, o Options) (*Queue, error) {
	repo, err := git.Find(ctx, "", o.Environ, o.Project)
	if err != nil {
		return nil, err
	}
	return &Queue{o: o, repo: repo}, nil
}

func (q *Queue) step(name string) {
	if q.o.Step != nil {
		q.o.Step(name)
	}
}

// A Request asks for a merge.
type Request struct {
	Branch  string
	Target  string // the branch into which it goes
	Task    string // the task of the branch, or ""
	Agent   string // the author, or ""
	Subject string // what was asked for, or ""
	By      string // who asks for the merge
	Last    string // the last known commit of the branch, or ""; the error names it if there is no such branch
}

// Ask puts a merge into the queue. A merge that was refused is put there again. The error is a
// [*RefusedError] if there is nothing to merge, or nothing that can be merged.
func (q *Queue) Ask(ctx context.Context, r Request) (Merge, error) {
	m, err := q.plan(ctx, r)
	if err != nil {
		return Merge{}, err
	}
	return q.enqueue(ctx, m)
}

// plan returns the merge that a request asks for.
func (q *Queue) plan(ctx context.Context, r Request) (Merge, error) {
	commit, err := q.branch(ctx, r.Branch)
	if err != nil {
		return Merge{}, err
	} else if commit == "" && r.Last != "" {
		return Merge{}, &RefusedError{fmt.Sprintf("the branch %s does not exist; it was at %.12s when its folder was removed", r.Branch, r.Last), fmt.Sprintf("git branch %s %.12s", r.Branch, r.Last)}
	} else if commit == "" {
		return Merge{}, &RefusedError{fmt.Sprintf("the branch %s does not exist", r.Branch), "git branch --list 'task/*' 'agent/*'"}
	}
	if r.Target == r.Branch {
		return Merge{}, &RefusedError{fmt.Sprintf("the branch %s cannot be merged into itself", r.Branch), "claude-swarm merge " + NameOf(r.Branch) + " --into main"}
	}
	if r.Target == "" {
		return Merge{}, &RefusedError{fmt.Sprintf("no branch is known into which %s goes", r.Branch), "claude-swarm merge " + NameOf(r.Branch) + " --into main"}
	}
	target, err := q.branch(ctx, r.Target)
	if err != nil {
		return Merge{}, err
	} else if target == "" {
		return Merge{}, &RefusedError{fmt.Sprintf("the branch %s does not exist, into which %s goes", r.Target, r.Branch), "claude-swarm merge " + NameOf(r.Branch) + " --into main"}
	}
	m := Merge{
		ID: idOf(r.Branch, commit), Branch: r.Branch, Commit: commit, Target: r.Target,
		Task: r.Task, Agent: r.Agent, Subject: r.Subject, By: r.By, Asked: time.Now().UTC(),
	}
	all, err := q.List()
	if err != nil {
		return Merge{}, err
	}
	for _, was := range all {
		// Git would merge only what came after the undone commits, and the rest stayed undone.
		if was.Branch == r.Branch && was.Target == r.Target && was.Undone != "" {
			if back, err := q.contains(ctx, target, was.Undone); err != nil {
				return Merge{}, err
			} else if reverted, err := q.reverted(ctx, was.Undone, target); err != nil {
				return Merge{}, err
			} else if back && !reverted {
				return Merge{}, &RefusedError{fmt.Sprintf("an earlier merge of %s was undone, and git would not bring its changes back", r.Branch),
					fmt.Sprintf("git revert %.12s, which brings them back", was.Undone)}
			}
		}
	}
	if has, err := q.contains(ctx, target, commit); err != nil {
		return Merge{}, err
	} else if has {
		return Merge{}, &RefusedError{fmt.Sprintf("%s already contains %s at %.12s", r.Target, r.Branch, commit), "claude-swarm merge list"}
	}
	return m, nil
}

// enqueue puts a merge into new, unless it waits or runs already.
func (q *Queue) enqueue(ctx context.Context, m Merge) (Merge, error) {
	err := q.exclusively(ctx, func() error {
		was, known, err := q.get(m.ID)
		if err != nil {
			return err
		}
		if known && (was.State == Waiting || was.State == Merging) {
			m = was
			return nil
		}
		m.State = Waiting
		if known { // it was refused, or the target no longer has its merge
			if err := os.Remove(q.path(Merged, m.ID+undoSuffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			m.State = was.State
			m, err = q.move(m, Waiting)
			return err
		}
		return q.write(m)
	})
	return m, err
}

// Undo puts the undoing of a merge into the queue: a commit that takes back its changes.
func (q *Queue) Undo(ctx context.Context, id, by string) (Merge, error) {
	was, ok, err := q.get(id)
	switch {
	case err != nil:
		return Merge{}, err
	case !ok || was.State != Merged || was.Undoes != "":
		return Merge{}, &RefusedError{fmt.Sprintf("%s is not merged", id), "claude-swarm merge list"}
	case was.Undone != "":
		return Merge{}, &RefusedError{fmt.Sprintf("the merge %s was undone by %.12s", id, was.Undone), fmt.Sprintf("git revert %.12s, which brings it back", was.Undone)}
	case was.Result == "":
		return Merge{}, &RefusedError{fmt.Sprintf("%s was not merged by claude-swarm: %s", id, was.Why), "git log " + was.Target}
	}
	target, err := q.branch(ctx, was.Target)
	if err != nil {
		return Merge{}, err
	}
	if has, err := q.contains(ctx, target, was.Result); err != nil {
		return Merge{}, err
	} else if !has {
		return Merge{}, &RefusedError{fmt.Sprintf("%s no longer contains the merge commit %.12s", was.Target, was.Result), "git log " + was.Target}
	}
	m := Merge{
		ID: was.ID + undoSuffix, Undoes: was.ID, Branch: was.Branch, Commit: was.Result, Target: was.Target,
		Task: was.Task, Agent: was.Agent, Subject: was.Subject, By: by, Asked: time.Now().UTC(),
	}
	return q.enqueue(ctx, m)
}

// Cancel takes a waiting merge out of the queue.
func (q *Queue) Cancel(ctx context.Context, id string) (m Merge, err error) {
	err = q.exclusively(ctx, func() error {
		was, ok, err := q.get(id)
		if err != nil {
			return err
		}
		if !ok || was.State != Waiting && was.State != Merging {
			return &RefusedError{fmt.Sprintf("the merge %s does not wait", id), "claude-swarm merge list"}
		}
		was.Cause, was.Why, was.Next, was.Ended = Cancelled, "taken back by a person", "claude-swarm merge "+NameOf(was.Branch), time.Now().UTC()
		m, err = q.move(was, Refused)
		return err
	})
	return m, err
}

// Run works on the waiting merges with these IDs, or on all, the oldest first, and returns the
// merges that it looked at. Before that it finishes what a crash interrupted. It waits while
// another program merges. If ctx is cancelled, the current merge goes back to the waiting ones. An
// error is a failure of git or of the disk, after which the next Run tries again.
func (q *Queue) Run(ctx context.Context, ids ...string) (ran []Merge, err error) {
	err = q.exclusively(ctx, func() (err error) {
		defer func() { err = errors.Join(err, q.sweep()) }()
		if err := q.sweep(); err != nil {
			return err
		}
		all, err := q.List()
		if err != nil {
			return err
		}
		for _, state := range []State{Merging, Waiting} {
			for _, m := range all {
				if m.State != state || state == Waiting && len(ids) > 0 && !slices.Contains(ids, m.ID) {
					continue
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				m, err := q.attempt(ctx, m)
				ran = append(ran, m)
				if err != nil {
					return fmt.Errorf("merge %s: %w", m.ID, err)
				}
			}
		}
		return nil
	})
	return ran, err
}

// attempt moves a merge into cur and works on it.
func (q *Queue) attempt(ctx context.Context, m Merge) (Merge, error) {
	m, err := q.move(m.fresh(), Merging)
	if err != nil {
		return m, err
	}
	m, err = q.one(ctx, m)
	if err != nil && ctx.Err() != nil && m.State == Merging {
		var moved error
		m, moved = q.wait(m, "it was interrupted", m.retry())
		return m, errors.Join(err, moved)
	}
	return m, err
}

// Try merges and verifies without writing anything but the temporary working tree. The state of
// the returned merge says how it would end.
func (q *Queue) Try(ctx context.Context, r Request) (m Merge, err error) {
	if m, err = q.plan(ctx, r); err != nil {
		return m, err
	}
	err = q.exclusively(ctx, func() (err error) {
		defer func() { err = errors.Join(err, q.sweep()) }()
		if err := q.sweep(); err != nil {
			return err
		}
		old, err := q.branch(ctx, m.Target)
		if err != nil {
			return err
		}
		if m.State, err = q.prepare(ctx, &m, old); err != nil || m.State != Merging {
			if m.Cause == Red { // there will be no record to show
				m.Next = "git diff " + m.Target + "..." + m.Branch
			}
			return err
		}
		m.State = Merged
		if _, why, err := q.checkout(ctx, m); err != nil {
			return err
		} else if why != nil {
			m.State, m.Why, m.Next = Waiting, why.Why, why.Next
		}
		return nil
	})
	return m, err
}
