package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// attempts limits how often one Run begins a merge again because its target has moved.
const attempts = 10

// errMoved reports that the target is not at the commit from which the merge began.
var errMoved = errors.New("the target has moved")

// one works on a merge in cur until it is in another folder, and returns it. After an error it is
// still in cur.
func (q *Queue) one(ctx context.Context, m Merge) (Merge, error) {
	for range attempts {
		old, err := q.branch(ctx, m.Target)
		if err != nil {
			return m, err
		} else if old == "" {
			return q.refuse(m, Gone, fmt.Sprintf("the branch %s, into which it goes, does not exist", m.Target), "git branch --all")
		}
		if m.From == "" {
			m.From = old
		}
		if done, err := q.already(ctx, &m, old); err != nil {
			return m, err
		} else if done {
			m.Ended = time.Now().UTC()
			return q.move(m, Merged)
		}
		if m, refused, err := q.unfit(ctx, m); refused || err != nil {
			return m, err
		}
		// Before the verifiers, which may take long.
		if _, why, err := q.checkout(ctx, m); err != nil {
			return m, err
		} else if why != nil {
			return q.wait(m, why.Why, why.Next)
		}
		switch end, err := q.prepare(ctx, &m, old); {
		case err != nil:
			return m, err
		case end == Refused:
			return q.giveBack(ctx, m)
		case end == Waiting:
			return q.wait(m, m.Why, m.Next)
		}
		if err := q.write(m); err != nil {
			return m, err
		}
		err = q.publish(ctx, m)
		if why, ok := errors.AsType[*RefusedError](err); ok {
			return q.wait(m, why.Why, why.Next)
		} else if err != nil && !errors.Is(err, errMoved) {
			return m, err
		}
		// Also after success: only git says what is merged.
		m = m.fresh()
	}
	return q.wait(m, fmt.Sprintf("%s moved %d times during the merge", m.Target, attempts), m.retry())
}

// already reports whether the target, which is at old, contains the merge. It sets the merge's
// result.
func (q *Queue) already(ctx context.Context, m *Merge, old string) (bool, error) {
	result, verified, err := q.byTrailer(ctx, *m, old)
	if err != nil {
		return false, err
	}
	if result != "" {
		m.Verified = verified
	}
	if m.Undoes != "" {
		m.Result = result
		return result != "", nil
	}
	// The commit decides, because anybody can write a trailer.
	done, err := q.contains(ctx, old, m.Commit)
	if done {
		m.Result = result
		if result == "" {
			m.Why = fmt.Sprintf("%s contained %.12s already", m.Target, m.Commit)
		}
	}
	return done, err
}

// unfit refuses a merge whose branch is not as it was when the merge was asked for.
func (q *Queue) unfit(ctx context.Context, m Merge) (_ Merge, refused bool, err error) {
	if m.Undoes != "" {
		return m, false, nil
	}
	tip, err := q.branch(ctx, m.Branch)
	switch {
	case err != nil:
		return m, false, err
	case tip == "":
		m, err = q.refuse(m, Gone, fmt.Sprintf("the branch %s was deleted; its commit was %s", m.Branch, m.Commit), fmt.Sprintf("git branch %s %.12s", m.Branch, m.Commit))
		return m, true, err
	case tip != m.Commit:
		m, err = q.refuse(m, Moved, fmt.Sprintf("%s was at %.12s when its merge was asked for, and is at %.12s now", m.Branch, m.Commit, tip), m.retry())
		return m, true, err
	}
	return m, false, nil
}

// prepare makes and verifies the merge commit on top of the target's commit old. The state is
// [Merging] if it can be published.
func (q *Queue) prepare(ctx context.Context, m *Merge, old string) (State, error) {
	tree, paths, err := q.merged(ctx, *m, old)
	if why, ok := errors.AsType[*RefusedError](err); ok {
		m.Why, m.Next = why.Why, why.Next
		return Waiting, nil
	} else if err != nil {
		return Waiting, err
	}
	if len(paths) > 0 {
		m.Cause, m.Paths = Conflict, paths
		m.Why = fmt.Sprintf("%s and %s changed the same lines: %s", m.Branch, m.Target, some(paths))
		m.Next = "git switch " + m.Branch + " && git merge " + m.Target
		return Refused, nil
	}
	if was, err := q.run(ctx, "rev-parse", old+"^{tree}"); err != nil {
		return Waiting, err
	} else if m.Undoes != "" && was == tree {
		m.Cause, m.Why, m.Next = Gone, fmt.Sprintf("%s no longer has the changes", m.Target), "git log "+m.Target
		return Refused, nil
	}
	var v Verdict
	if q.o.Verify != nil {
		candidate, err := q.commit(ctx, *m, old, tree, v)
		if err != nil {
			return Waiting, err
		}
		q.step("verify")
		v, err = q.o.Verify(ctx, candidate, old)
		q.step("verified")
		if err != nil {
			v = Verdict{Result: NotRun, Why: err.Error()}
		}
		m.Verified = v.String()
		switch v.Result {
		case Green:
		case Fail:
			m.Cause, m.Output, m.Why = Red, v.Output, cmp.Or(v.Why, "a verifier is red")
			m.Next = "claude-swarm merge show " + NameOf(m.Branch)
			return Refused, nil
		default:
			m.Why, m.Next = "it could not be verified: "+cmp.Or(v.Why, string(v.Result)), m.retry()
			return Waiting, nil
		}
	}
	m.Verified, m.Old = v.String(), old
	m.Result, err = q.commit(ctx, *m, old, tree, v)
	return Merging, err
}

func (q *Queue) wait(m Merge, why, next string) (Merge, error) {
	m.Why, m.Next = why, next
	return q.move(m, Waiting)
}

func (q *Queue) refuse(m Merge, cause Cause, why, next string) (Merge, error) {
	m.Cause, m.Why, m.Next, m.Ended = cause, why, next, time.Now().UTC()
	return q.move(m, Refused)
}

// giveBack tells the author about a conflict or a red verifier, and then refuses the merge.
func (q *Queue) giveBack(ctx context.Context, m Merge) (Merge, error) {
	if q.o.Return != nil && m.Undoes == "" { // the author cannot help with an undoing
		q.step("return")
		if err := q.o.Return(ctx, m); err != nil {
			return m, fmt.Errorf("tell the author: %w", err)
		}
		q.step("returned")
	}
	return q.refuse(m, m.Cause, m.Why, m.Next)
}
