package mail

import (
	"fmt"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// finishCommitted files a message that has a receipt in cur/.
func (in *Inbox) finishCommitted(e dropbox.Entry) error {
	if e.Name == "" {
		return in.Box.Finish(e) // the message is already filed
	}
	data, err := in.Box.Receipt(e)
	if err != nil {
		return err
	}
	r, err := journal.ParseReceipt(data)
	if err != nil {
		return err
	}
	c, err := in.Box.Open(e)
	if err != nil {
		return err
	}
	if !journal.EndedWell(r.Outcome) || c.Message == nil {
		return in.Box.Finish(e)
	}
	in.Log.Info("filing a finished turn", keyMessage, e.ID, keyTurn, r.Turn)
	return in.finish(e, c.Message, r)
}

// FinishFailure puts back a message whose attempt failed, or gives it up after
// maxFailures failures. It is called if the end of the attempt was recorded but a crash
// prevented the steps after that.
func (in *Inbox) FinishFailure(j *Job, maxFailures int) error {
	line := j.Rec.Line() // this line may be missing from the ledger, which accepts it only once
	line.From, line.Subject = j.Claim.Message.From, j.Claim.Message.Subject
	if err := in.Ledger.Add(line); err != nil {
		return err
	}
	switch j.Rec.End {
	case runner.Stopped, runner.Limited, runner.BadSetup, runner.CapReached: // an attempt that ended in one of these ways does not count as a failure of the message
	default:
		next := ""
		if j.Claim.Failed == 0 && !(j.Rec.Counted && maxFailures <= 1) {
			next = "It will be tried again"
		}
		if err := in.FailedTurn(j.Claim.Message, j.Rec, line, j.Rec.Reason, next); err != nil {
			return err
		}
	}
	if err := in.PutBackNotes(j); err != nil {
		return err
	}
	if j.Rec.Counted && j.Claim.Failed+1 >= maxFailures {
		return in.GiveUp(j.Claim, FailedTimes(j.Claim.Failed+1, j.Rec.Reason))
	}
	return in.PutBack(j.Claim, j.Rec.Counted)
}

// claimedNotes returns the notes of a turn that are still in cur/.
func (in *Inbox) claimedNotes(rec *journal.Record) ([]*dropbox.Claim, error) {
	if len(rec.Notes) == 0 {
		return nil, nil
	}
	claimed, err := in.Box.Claimed()
	if err != nil {
		return nil, err
	}
	var notes []*dropbox.Claim
	for _, e := range claimed {
		if !slices.Contains(rec.Notes, e.ID) {
			continue
		}
		c, err := in.Box.Open(e)
		if err != nil {
			return nil, err
		}
		notes = append(notes, c)
	}
	return notes, nil
}

// LastRecord returns the most recent record of e's claim, or nil if that claim has no
// record.
func LastRecord(home journal.Home, e dropbox.Entry) (*journal.Record, error) {
	tries, err := journal.TriesOf(home, e.ID, e.Begun)
	if err != nil || len(tries) == 0 {
		return nil, err
	}
	return tries[len(tries)-1], nil
}

// FinishLeft completes the filing of messages that an earlier daemon left in cur/. A
// receipt next to a message means that its turn ended well, and a reason means that the
// message was given up or refused.
func (in *Inbox) FinishLeft() error {
	if err := in.Box.Recover(); err != nil {
		return err
	}
	// Messages with a receipt are filed first, even if only the receipt is still in cur/.
	// The notes of their turns are filed with them.
	for _, step := range []struct {
		list func() ([]dropbox.Entry, error)
		do   func(dropbox.Entry) error
	}{
		{in.Box.Receipts, in.finishCommitted},
		{in.Box.Reasons, in.finishGivingUp},
		{in.Box.Refusals().Unfinished, func(e dropbox.Entry) error { return in.Box.Refuse(e, "") }},
	} {
		entries, err := step.list()
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := step.do(e); err != nil {
				return fmt.Errorf("message %s: %w", e.ID, err)
			}
		}
	}
	return nil
}

// Left returns the messages in cur/, except the notes and the steered messages of their
// turns. It also returns the marks of the clients of these turns.
func (in *Inbox) Left() (left []dropbox.Entry, marks map[string]bool, err error) {
	claimed, err := in.Box.Claimed()
	if err != nil {
		return nil, nil, err
	}
	settledWith, marks := map[string]bool{}, map[string]bool{}
	for _, e := range claimed {
		rec, err := LastRecord(in.Home, e)
		if err != nil {
			return nil, nil, err
		}
		if rec == nil {
			continue
		}
		marks[rec.Mark()] = true
		for _, id := range rec.Notes {
			settledWith[id] = true
		}
		brought, err := in.Home.SteeredIn(rec.Turn)
		if err != nil {
			return nil, nil, err
		}
		for _, s := range brought {
			settledWith[s.ID] = true
		}
	}
	// Notes and steered messages are settled with the message of their turn.
	return slices.DeleteFunc(claimed, func(e dropbox.Entry) bool { return settledWith[e.ID] }), marks, nil
}

// Reopen opens a message that was left in cur/, with the record of its last turn. It
// returns nil if it has given up the message or put it back.
func (in *Inbox) Reopen(e dropbox.Entry) (*Job, error) {
	rec, err := LastRecord(in.Home, e)
	if err != nil {
		return nil, err
	}
	c, err := in.Box.Open(e)
	if err != nil {
		return nil, err
	}
	if c.Bad != nil {
		return nil, in.GiveUp(c, "not a valid message: "+c.Bad.Error())
	}
	if rec == nil {
		return nil, in.PutBack(c, false)
	}
	j := &Job{Claim: c, Via: in.Arrivals.Via(c.ID), Proven: in.Proves(c.Message), Rec: rec, Began: time.Now().UTC(), told: true}
	if j.Notes, err = in.claimedNotes(rec); err != nil {
		return nil, err
	}
	if j.Steered, err = in.claimedSteered(rec); err != nil {
		return nil, err
	}
	in.held.keep(c)
	in.held.keep(j.Notes...)
	for _, s := range j.Steered {
		in.held.keep(s.Claim)
	}
	return j, nil
}
