package swarm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/verify"
	"github.com/claude-swarm/claude-swarm/swarm/worktree"
)

// errUnverified reports that the daemon ended while a verifier was running. The next daemon runs it
// again.
var errUnverified = errors.New("the daemon ends before the work is verified")

// maxRed is how many times a message goes back to its agent because a verifier was red.
const maxRed = 2

// An agentVerifiers runs the verifiers of one agent after a turn that ended well in a working tree.
// Only the agent's goroutine uses it.
//
//	turn ended well -> judge -> verified, unverified: the receipt says it
//	                     |----> failed: the message waits again, and its next prompt has the output
//	                     |----> failed for the third time: the receipt says it, and the lead is told
//	                     '----> the daemon ends: nothing is written; the next daemon finds the end of
//	                            the turn in its stream, and verifies again
type agentVerifiers struct {
	runner *verify.Runner
	plan   func() Plan
	tree   *agentTree
	show   func(State, string, string)
	inbox  *mail.Inbox
}

// judge runs the verifiers for the commit of a turn that ended well, and notes the verification and the
// commit in j. It returns nil if the agent has no verifiers or the turn ran in no tree. If ctx is
// done, the error is its cause, and there is no verification.
func (p *agentVerifiers) judge(ctx context.Context, names []string, j *mail.Job) error {
	tree, ok := p.tree.recorded(j.Rec)
	if !ok || len(names) == 0 {
		return nil
	}
	tip, err := p.tree.tip(ctx, j.Rec)
	if err != nil {
		j.Verification = &journal.Verification{Word: journal.WorkUnverified, Why: err.Error()}
		return context.Cause(ctx)
	}
	j.Commit = tip
	// A person merges the branch, so a verdict on another commit would prove nothing.
	branch, err := p.tree.trees.Tip(ctx, tree)
	if err != nil {
		j.Verification = &journal.Verification{Word: journal.WorkUnverified, Why: err.Error()}
		return context.Cause(ctx)
	} else if branch != tip {
		j.Verification = &journal.Verification{Word: journal.WorkUnverified, Why: elsewhere(tree, branch, tip)}
		return nil
	}
	if tip == j.Rec.Base {
		j.Verification = &journal.Verification{Word: journal.WorkUnverified, Why: "nothing was committed"}
		return nil
	}
	target := j.Rec.Base
	if tree.Target != "" {
		target = "refs/heads/" + tree.Target
	}
	plan, verification := p.plan(), &journal.Verification{Word: journal.WorkVerified, Commit: tip}
	var said []string
	for _, name := range names {
		p.show(Working, "verifying: "+name, "")
		settings, known := plan.Verifiers[name]
		v := verify.Verdict{Verifier: name, Result: verify.NotRun, Cause: verify.Unknown, Why: "the configuration has no such verifier"}
		if known {
			v, err = p.runner.Run(ctx, verify.Request{
				Name: name, Settings: settings, Protect: plan.Protect, Drop: plan.VerifierDrop, Commit: tip, Target: target,
			})
			p.inbox.Note(err)
		}
		if v.Cause == verify.Cut {
			return context.Cause(ctx)
		}
		text := p.inbox.Hidden.Text(v.String())
		p.inbox.AgentLog.Line(j.Claim.ID, "= "+text)
		verification.TestsChanged = append(verification.TestsChanged, v.Changed...)
		if said = append(said, text); v.Result == verify.Red {
			verification.Word = journal.WorkFailed
			for _, line := range v.Output {
				verification.Output = append(verification.Output, p.inbox.Hidden.Text(line))
			}
			break
		}
		if v.Result == verify.NotRun {
			verification.Word = journal.WorkUnverified
		}
	}
	verification.Why = strings.Join(said, "; ")
	slices.Sort(verification.TestsChanged)
	verification.TestsChanged = slices.Compact(verification.TestsChanged)
	j.Verification = verification
	return nil
}

// elsewhere says why the commit at which a turn ended is not that of its branch.
func elsewhere(tree worktree.Tree, branch, tip string) string {
	if branch == "" {
		return fmt.Sprintf("the branch %s was deleted, and the commit %.12s is checked out", tree.Branch, tip)
	}
	return fmt.Sprintf("the commit %.12s is checked out, but the branch %s is at %.12s", tip, tree.Branch, branch)
}

// verified runs the verifiers after a turn that ended well, before its end is settled. ctx is the
// context of the turn: an order that ends the turn also ends a verifier. The error says that the
// daemon ends.
func (a *agent) verified(kill, ctx context.Context, e *ending, j *mail.Job) error {
	if e.out.End != runner.Done {
		return nil
	}
	running, stop := context.WithCancelCause(kill)
	defer stop(nil)
	defer context.AfterFunc(ctx, func() {
		if cause := context.Cause(ctx); !errors.Is(cause, errTimeUsed) { // the time of a turn is that of its client
			stop(cause)
		}
	})()
	err := a.verifiers.judge(running, a.spec().Verify, j)
	e.verification, e.commit = j.Verification, j.Commit
	if err == nil {
		return nil
	} else if kill.Err() != nil {
		return errUnverified
	}
	// An order, such as abort, ended the verifier, and so the turn.
	e.out.End, e.cause, e.by = runner.Stopped, a.control.endCause(err), a.control.endedBy()
	return nil
}

// red puts a message back whose work a verifier did not accept.
func (t *settler) red(j *mail.Job, out runner.Outcome) error {
	j.Rec.Verification = j.Verification
	return t.inbox.PutBackAll(j, out)
}

// goesBack reports whether a verifier was red and the agent gets another try.
func (t *settler) goesBack(j *mail.Job, out runner.Outcome) (bool, error) {
	if out.End != runner.Done || j.Verification == nil || j.Verification.Word != journal.WorkFailed {
		return false, nil
	}
	before, err := t.redBefore(j)
	return before < maxRed, err
}

// redBefore returns how many times a verifier was red after a turn of the message.
func (t *settler) redBefore(j *mail.Job) (n int, err error) {
	records, err := journal.Records(t.inbox.Home, j.Claim.ID, j.Claim.Begun)
	for _, r := range records {
		if r.Verification != nil && r.Turn != j.Rec.Turn {
			n++
		}
	}
	return n, err
}

// redReason is the reason in the record of a turn whose work was not accepted.
func redReason(p *journal.Verification) string { return fmt.Sprintf("a verifier is red: %s", p.Why) }
