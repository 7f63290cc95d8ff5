package swarm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// takeUp continues with the messages that an earlier daemon left in cur/. The files show the
// progress of each message:
//
//	receipt beside the message   the turn was done: file it
//	reason beside the message    it was given up: GiveUp; or refused: refuse it
//	record, ending in memory     a file could not be written when the turn ended: settle it
//	record with an end           it failed: put it back, counted as it was
//	record, client alive         follow the client until it ends
//	record, result in its file   the turn was done: write the receipt from the file
//	record, no result            put it back; the prompt will say so
//	no record                    put it back
//
// takeUp also ends a client that was waiting for a message, because such a client cannot
// continue without its daemon. It also ends the processes that dead clients left running,
// which it finds by their marks.
func (a *agent) takeUp(kill context.Context) error {
	if err := a.inbox.FinishLeft(); err != nil {
		return err
	}
	left, marks, err := a.inbox.Left()
	if err != nil {
		return err
	}
	// A client that has a turn is followed to the end of that turn.
	if waited := journal.MarkInPIDFile(a.files.home.PIDFile(a.name)); waited != "" && !marks[waited] {
		endLeft(a.inbox.Service.Log, waited)
		journal.RemovePIDFile(a.files.home.PIDFile(a.name))
	}
	for _, e := range left {
		if err := a.takeUpOne(kill, e); errors.Is(err, errUnverified) {
			return nil // the daemon ends
		} else if err != nil {
			return fmt.Errorf("message %s: %w", e.ID, err)
		}
	}
	a.supervision.takeBack()
	return nil
}

func (a *agent) takeUpOne(kill context.Context, e dropbox.Entry) error {
	j, err := a.inbox.Reopen(e)
	if err != nil || j == nil {
		return err
	}
	rec := j.Rec
	a.permits.asker.TakeBackLeft(rec.Turn)
	known := a.unfiled.of(rec.Turn)
	switch {
	case known != nil && (rec.End != "" || rec.Process.PID == 0):
		defer a.inbox.AgentLog.Close()
		return a.settleEnd(kill, known, j)
	case rec.End != "":
		return a.inbox.FinishFailure(j, a.spec().maxFailures())
	}
	if rec.Process.PID != 0 {
		a.inbox.Begun(j.Claim.Message) // in case the earlier daemon had not called Begun
	}
	if !rec.Process.Alive() {
		endLeft(a.inbox.Service.Log, rec.Mark())
	}
	if rec.Process.PID == 0 {
		// There is a record but no process, so the client got no prompt.
		a.log.Info("turn had not begun", keyTurn, rec.Turn)
		return a.inbox.PutBackAll(j, runner.Outcome{End: runner.Stopped, Reason: "the daemon ended before the client was sent the prompt", Began: rec.Begun, Ended: time.Now()})
	}
	if known == nil {
		a.admission.counts.Count(a.name, rec.Begun, rec.ByLead) // the turn has no line in the ledger yet
	}
	return a.follow(kill, j, known)
}

// follow follows a client that an earlier daemon, or this one, started. If the client is
// alive, follow waits for it to end. If it is dead, follow reads the events in the turn's
// file. If the agent remembers the ending (known), follow settles that ending instead of
// the outcome. It reads the events nevertheless, because the full disk may also have kept
// the agent's window from being saved.
func (a *agent) follow(kill context.Context, j *mail.Job, known *ending) (err error) {
	rec, m := j.Rec, j.Claim.Message
	a.turns.View.Begin(&turn.MessageStatus{ID: m.ID, From: m.From, Subject: mail.Describe(m), Since: rec.Begun, Folder: rec.Tree, Branch: rec.Branch}, mail.Describe(m))
	defer a.turns.View.End()
	defer a.inbox.AgentLog.Close()
	if rec.Process.Alive() {
		a.show(Working, "its client outlived an earlier daemon", "")
	}
	ctx, end := context.WithCancelCause(kill)
	defer end(nil)
	a.control.turnBegins(m.ID, end)
	defer func() { a.control.turnEnded(stateAfter(err, a.inbox.Box, j.Claim)) }()

	if left := rec.ReservedFor(time.Now()); left > 0 {
		defer endAfter(left, end)()
	}
	deeper := a.holds.Of(a.name).Deeper
	if !deeper.Before(rec.Begun) {
		deeper = time.Time{} // the deeper thinking applies to the next turn
	}
	heard := a.supervision.hear(rec)
	out, err := a.turns.Follow(ctx, a.tree.in(rec, a.client.settings()), rec, j.SteeredUUIDs(), a.supervision.watch(rec, m, a.client.kind(), a.spec().Client, heard))
	a.supervision.end()
	if err != nil {
		return err
	}
	a.inbox.Note(a.holds.EndDeeper(a.name, deeper))
	switch {
	case known != nil:
		return a.settleEnd(kill, known, j)
	case out.End == runner.NoResult:
		// The turn was interrupted and did not fail, so it does not count against the
		// message.
		a.settler.report(j, out)
		if err := a.ledger.Add(a.inbox.AttemptLine(j, out)); err != nil {
			return err
		}
		if err := a.inbox.PutBackNotes(j); err != nil {
			return err
		}
		return a.inbox.PutBack(j.Claim, false)
	}
	e := &ending{turn: rec.Turn, rec: rec, out: out, cause: a.control.endCause(context.Cause(ctx)), by: a.control.endedBy()}
	if err := a.verified(kill, ctx, e, j); err != nil {
		return err
	}
	return a.settleEnd(kill, e, j)
}
