package swarm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// An ending is how a turn ended. The agent remembers an ending that could not be filed,
// for example because the disk was full. The turn's files show whether the turn succeeded,
// but not why the daemon ended it.
type ending struct {
	turn         string
	rec          *journal.Record // the turn's record
	out          runner.Outcome
	cause        error                 // why the turn's context was cancelled, or nil
	by           string                // who gave the order that ended the turn, if cause is such an order
	verification *journal.Verification // what the verifiers found out; nil if none ran
	commit       string                // the commit of the turn's branch, if it is known already
	reported     bool                  // the logs and the feed have it
}

// of returns e if it is the ending of the given turn, otherwise nil. e may be nil.
func (e *ending) of(turn string) *ending {
	if e == nil || e.turn != turn {
		return nil
	}
	return e
}

// settleEnd settles a turn as it ended. An error means that a file could not be written.
// In this case, the agent remembers the ending until settleEnd succeeds.
func (a *agent) settleEnd(ctx context.Context, e *ending, j *mail.Job) error {
	j.Verification, j.Commit = e.verification, e.commit
	settle, out := a.settler.of(e)
	if red, err := a.settler.goesBack(j, out); err != nil {
		a.unfiled = e
		return err
	} else if red {
		settle, out.End, out.Reason = a.settler.red, runner.Failed, redReason(j.Verification)
	}
	if !e.reported {
		a.settler.report(j, out)
		e.reported = true
	}
	a.unfiled = e
	err := a.restoreTurn()
	if err == nil {
		a.unfiled = nil // in case settle panics
		a.tree.logErr(ctx, a.tree.collect(ctx, e.rec))
		if out.End == runner.Done && j.Commit == "" {
			j.Commit, err = a.tree.tip(ctx, e.rec)
			a.inbox.Note(err)
		}
		err = settle(j, out)
	}
	if err != nil {
		a.unfiled = e
	} else if out.End == runner.Done {
		a.tree.logErr(ctx, a.tree.leave(ctx, e.rec))
	} else {
		a.tree.logErr(ctx, a.tree.gaveUp(ctx, e.rec))
	}
	return err
}

// A settler files the end of an agent's turns: it decides from the outcome whether the message is
// done, waits again or is given up, and how the agent continues. Only the agent's goroutine uses
// it.
type settler struct {
	name     string
	control  *control
	inbox    *mail.Inbox
	view     *turn.View
	holds    *journal.Holds
	notices  *notice.Teller
	accounts accounts
	limits   *usageLimits
	breaker  *breaker
	restart  RestartPolicy
	feed     *feed
	writes   *fileWrites
	log      *slog.Logger
}

// account returns the name of the account that the agent's client uses.
func (t *settler) account() string { return t.accounts.of(t.control.settings()) }

// of returns the method that files a turn as it ended, and the turn's outcome with the reason why
// the daemon ended it.
func (t *settler) of(e *ending) (settle func(*mail.Job, runner.Outcome) error, out runner.Outcome) {
	settle, out = t.settle, e.out
	if out.End == runner.Stopped {
		switch {
		case errors.Is(e.cause, errAborted):
			settle, out.Reason = t.aborted, mail.Aborted+e.by
		case errors.Is(e.cause, errInterrupted):
			settle, out.Reason = t.interrupted, "interrupted by "+e.by
		case errors.Is(e.cause, errStuck):
			settle, out.Reason = t.interrupted, "interrupted: "+stuckNow(t.holds.Of(t.name))
		case errors.Is(e.cause, errTimeUsed):
			out.End, out.Reason = runner.CapReached, errTimeUsed.Error()
		}
	}
	return settle, out
}

// stateAfter returns the state of a message after its turn, if the turn did not succeed.
// err is the error from settling the turn. After an error, the mailbox shows how far the
// message has come.
func stateAfter(err error, box *dropbox.Mailbox, c *dropbox.Claim) dropbox.State {
	if err == nil {
		return dropbox.Waiting
	}
	claimed, err := box.Claimed()
	if err != nil || slices.ContainsFunc(claimed, func(e dropbox.Entry) bool { return e.ID == c.ID }) {
		return dropbox.Claimed
	}
	if dead, err := box.DeadLetters().Has(c.Entry); err == nil && dead {
		return dropbox.Dead
	}
	return dropbox.Waiting
}

// settle files the outcome of a turn that was neither aborted nor interrupted.
func (t *settler) settle(j *mail.Job, out runner.Outcome) error {
	if err := t.inbox.TellHalted(j.Claim.Message, ""); err != nil {
		return err
	}
	switch out.End {
	case runner.Done:
		return t.done(j, out)
	case runner.Stopped, runner.CapReached:
		return t.inbox.PutBackAll(j, out)
	case runner.Limited:
		return t.limited(j, out)
	case runner.BadSetup:
		if err := t.inbox.PutBackAll(j, out); err != nil {
			return err
		}
		t.breaker.open(out.Reason, startHint(cmp.Or(out.Hint, "claude-swarm doctor"), t.name))
		return nil
	}
	return t.failed(j, out)
}

// startHint returns a hint that explains what a person must do before starting a stopped
// agent, and which command starts it.
func startHint(hint, agent string) string { return hint + ", then claude-swarm start " + agent }

// report adds the end of a turn to the logs and the feed.
func (t *settler) report(j *mail.Job, out runner.Outcome) {
	t.inbox.Started(j)
	took := journal.Took(j.Rec.Begun, out.Ended)
	text := fmt.Sprintf("= %s %s %s", journal.OutcomeOf(out), screen.Took(took), screen.Cost(out.CostUSD, out.CostUnknown))
	if most := j.Rec.ReservedUSD; most > 0 && out.CostUSD > most {
		text += ", over its cap of " + screen.USD(most)
	}
	if out.Reason != "" {
		text += ": " + out.Reason
	}
	t.inbox.AgentLog.Line(j.Claim.ID, text)
	t.log.Info("turn ended", keyMessage, j.Claim.ID, keyTurn, j.Rec.Turn, "end", journal.OutcomeOf(out), keyWhy, out.Reason, keyTook, took, costAttr(out.Spent))
	t.feed.publish(FeedEvent{Kind: FeedTurn, At: time.Now().UTC(), Agent: t.name, ID: j.Claim.ID, Text: journal.OutcomeOf(out), Cost: out.CostUSD, CostUnknown: out.CostUnknown})
}

// aborted gives up the message of a turn that was stopped by an order to abort. The agent
// continues with the next message, and the aborted message can be retried from dead/.
func (t *settler) aborted(j *mail.Job, out runner.Outcome) error {
	if err := t.inbox.RecordEnd(j, out, false); err != nil {
		return err
	}
	if err := t.inbox.PutBackNotes(j); err != nil {
		return err
	}
	if err := t.inbox.GiveUp(j.Claim, out.Reason); err != nil {
		return err
	}
	t.control.comesTo(dropbox.Dead)
	return nil
}

// interrupted puts back the message of a turn that was ended to make way for more urgent
// mail, or because the agent is stuck. The message gets another turn after that mail, or
// after a person lets the agent continue.
func (t *settler) interrupted(j *mail.Job, out runner.Outcome) error {
	t.inbox.Queue.Changed("") // the event about the urgent message may not have arrived yet
	return t.inbox.PutBackAll(j, out)
}

// done files a successful turn. Once the receipt has been written, the turn counts as
// done no matter what happens next, and Finish can be repeated after a crash at any
// step.
func (t *settler) done(j *mail.Job, out runner.Outcome) error {
	r, err := t.inbox.Commit(j, out)
	if err != nil {
		return err
	}
	t.control.comesTo(dropbox.Done)
	t.writes.add(t.name, r.Ended, r.Files)
	if r.Outcome == journal.OutcomeRefused {
		t.view.Refused(r.Ended)
	}
	if st := t.holds.Of(t.name); len(st.Failures) > 0 || !st.Until.IsZero() || st.Doubt != nil {
		t.inbox.Note(t.holds.Change(t.name, func(s *journal.Hold) {
			s.Failures, s.Until, s.Why, s.Doubt = nil, time.Time{}, "", nil
		}))
	}
	if p := r.Verification; p != nil && p.Word == journal.WorkFailed {
		t.notices.Tell(notice.NotAccepted{
			Agent: t.name, Turn: r.Turn, Message: r.ID, Title: mail.Describe(j.Claim.Message), Branch: r.Branch, Why: p.Line(), Tries: maxRed + 1,
		})
	}
	t.serviceWorks(j.Claim.ID, out)
	t.limits.liftOpen(t.account())
	return t.inbox.Finish(j, r)
}

// failed counts a failure of the message and of the agent, and decides how the agent
// continues.
func (t *settler) failed(j *mail.Job, out runner.Outcome) error {
	// If a client printed nothing, it did not get the prompt or did not read it, so the
	// message did not cause the failure.
	notBegun := out.End == runner.NoFirstEvent || out.End == runner.NoSession || out.End == runner.PromptNotRun ||
		out.End == runner.Failed && !out.FirstEvent
	reason := cmp.Or(out.Reason, string(out.End))
	givenUp := !notBegun && j.Claim.Failed+1 >= t.control.settings().maxFailures()
	if err := t.inbox.RecordEnd(j, out, !notBegun); err != nil {
		return err
	}
	now := time.Now().UTC()
	before := t.holds.Of(t.name).Failures
	failures := append(append([]journal.Failure(nil), before...),
		journal.Failure{At: now, Message: j.Claim.ID, NotBegun: notBegun, GivenUp: givenUp, Reason: reason})
	if len(failures) > journal.MaxFailureMemory {
		failures = failures[len(failures)-journal.MaxFailureMemory:]
	}
	d := t.restart.Decide(failures, t.control.settings().retryDelay(), now)
	wait, next := jitter(d.After), ""
	told := j.Claim.Failed > 0 || slices.ContainsFunc(before, func(f journal.Failure) bool { return f.Message == j.Claim.ID })
	if !told && !givenUp && !d.Open {
		next = "It will be tried again at " + screen.Ahead(now.Add(wait), now)
	}
	if err := t.inbox.FailedTurn(j.Claim.Message, j.Rec, t.inbox.AttemptLine(j, out), reason, next); err != nil {
		return err
	}
	if err := t.inbox.PutBackNotes(j); err != nil {
		return err
	}
	if givenUp {
		if err := t.inbox.GiveUp(j.Claim, mail.FailedTimes(j.Claim.Failed+1, reason)); err != nil {
			return err
		}
		t.control.comesTo(dropbox.Dead)
	} else if err := t.inbox.PutBack(j.Claim, !notBegun); err != nil {
		return err
	}
	if d.Open {
		t.breaker.open(fmt.Sprintf("%s; last: %s", d.Reason, reason), startHint(cmp.Or(out.Hint, "see claude-swarm logs "+t.name), t.name))
		return nil
	}
	return t.holds.Change(t.name, func(s *journal.Hold) {
		s.Failures, s.Until, s.Why = failures, now.Add(wait), reason
		if givenUp { // the wait was for another try of this message
			s.Until, s.Why = time.Time{}, ""
		}
	})
}

// limited parks every agent of the account, unless an error of the service is the agent's
// own. It counts no failure, unless the message has been parked for an unknown reason for
// too long.
func (t *settler) limited(j *mail.Job, out runner.Outcome) error {
	now := time.Now()
	if out.Unknown && t.doubts(j.Claim.ID, now) >= longestDoubt {
		out.End = runner.Failed
		return t.failed(j, out)
	}
	if out.Service != runner.NoServiceError {
		if own, err := t.serviceFailed(j, out, now); own || err != nil {
			return err
		}
	}
	if err := t.inbox.PutBackAll(j, out); err != nil {
		return err
	}
	return t.limits.park(t.name, t.account(), journal.LimitFrom(t.name, out, t.control.settings().retryDelay(), now), now)
}

// longestDoubt is the maximum time for which a message is parked for an unknown reason.
// After that, the message's turns count as failures.
const longestDoubt = 24 * time.Hour

// doubts records that a message is parked for an unknown reason, and returns how long it
// has been parked for unknown reasons.
func (t *settler) doubts(message string, now time.Time) time.Duration {
	if d := t.holds.Of(t.name).Doubt; d != nil && d.Message == message {
		return now.Round(0).Sub(d.Since)
	}
	t.inbox.Note(t.holds.Change(t.name, func(s *journal.Hold) {
		s.Doubt = &journal.Doubt{Message: message, Since: now.UTC().Round(0)}
	}))
	return 0
}

// costAttr returns the cost of a turn, for the daemon's log.
func costAttr(s runner.Spent) slog.Attr {
	if s.CostUnknown {
		return slog.String(keyCost, screen.CostCell(s.CostUSD, true, screen.Digits(s.CostUSD)))
	}
	return slog.Float64(keyCost, s.CostUSD)
}
