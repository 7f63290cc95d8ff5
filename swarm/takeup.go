package swarm

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// takeUp goes on with what an earlier daemon left in cur/, whatever it was in
// the middle of:
//
//	receipt beside the message   the turn was done: file it
//	reason beside the message    it was given up: bury it; or refused: refuse it
//	record with an end           it failed: put it back, counted as it was
//	record, client alive         follow the client to its end
//	record, result in its file   the turn was done: receipt from the file
//	record, no result            put it back; the prompt will say so
//	no record                    put it back
//
// What is left of dead clients is ended first, by its mark; so is a client that
// waited for a message, and ends by itself without a daemon.
func (a *agent) takeUp(kill context.Context) error {
	if err := a.box.Recover(); err != nil {
		return err
	}
	// What has a receipt is finished first: also where only the receipt is left
	// in cur/, and the notes that rode along with such a turn.
	committed, err := a.box.Receipts()
	if err != nil {
		return err
	}
	for _, e := range committed {
		if err := a.finishCommitted(e); err != nil {
			return fmt.Errorf("message %s: %w", e.ID, err)
		}
	}
	given, err := a.box.Reasons()
	if err != nil {
		return err
	}
	for _, e := range given {
		if err := a.finishBurial(e); err != nil {
			return fmt.Errorf("message %s: %w", e.ID, err)
		}
	}
	refused, err := a.box.Refusals().Unfinished()
	if err != nil {
		return err
	}
	for _, e := range refused {
		if err := a.box.Refuse(e, ""); err != nil {
			return fmt.Errorf("message %s: %w", e.ID, err)
		}
	}
	claimed, err := a.box.Claimed()
	if err != nil {
		return err
	}
	riders := map[string]bool{}
	waited := journal.MarkInPIDFile(a.home.PIDFile(a.name))
	for _, e := range claimed {
		rec, err := lastRecord(a.home, e)
		if err != nil {
			return err
		}
		if rec != nil {
			for _, id := range rec.Notes {
				riders[id] = true
			}
			brought, err := a.home.SteeredIn(rec.Turn)
			if err != nil {
				return err
			}
			for _, s := range brought {
				riders[s.ID] = true
			}
			if rec.Mark() == waited {
				waited = "" // it has a turn, which is taken up below
			}
		}
	}
	if waited != "" {
		a.endLeft(waited)
		journal.RemovePIDFile(a.home.PIDFile(a.name))
	}
	for _, e := range claimed {
		if riders[e.ID] {
			continue // settled with the message that it rode along with
		}
		if err := a.takeUpOne(kill, e); err != nil {
			return fmt.Errorf("message %s: %w", e.ID, err)
		}
	}
	return nil
}

func (a *agent) takeUpOne(kill context.Context, e dropbox.Entry) error {
	rec, err := lastRecord(a.home, e)
	if err != nil {
		return err
	}
	c, err := a.box.Open(e)
	if err != nil {
		return err
	}
	if c.Bad != nil {
		return a.bury(c, "not a valid message: "+c.Bad.Error())
	}
	j := &job{claim: c, via: a.doors.of(c.ID), proven: a.proves(c.Message), rec: rec, began: time.Now().UTC(), told: true}
	if rec == nil {
		return a.putBack(c, false)
	}
	if j.notes, err = a.claimedNotes(rec); err != nil {
		return err
	}
	if j.steered, err = a.claimedSteered(rec); err != nil {
		return err
	}
	if rec.End != "" {
		return a.finishFailure(j)
	}
	if rec.Process.PID != 0 {
		a.begun(c.Message) // if the daemon was cut off before it did
	}
	if !rec.Process.Alive() {
		a.endLeft(rec.Mark())
	}
	if rec.Process.PID == 0 {
		// The record is there, the process is not: nothing was sent.
		a.log.Info("turn had not begun", keyTurn, rec.Turn)
		return a.putBackAll(j, runner.Outcome{End: runner.Stopped, Reason: "the daemon ended before the client was sent the prompt", Began: rec.Begun, Ended: time.Now()}, false)
	}
	a.counts.Count(a.name, rec.Begun, rec.ByLead) // it has no line in the ledger yet
	return a.follow(kill, j)
}

// endLeft ends what carries a mark.
func (h *house) endLeft(mark string) {
	if n := turn.EndLeft(mark); n > 0 {
		h.log.Info("ended what was left of a turn", keyTurn, mark, "processes", n)
	}
}

// follow goes on with a client that was started by an earlier daemon: to its
// end if it lives, from its file if not.
func (a *agent) follow(kill context.Context, j *job) error {
	rec, m := j.rec, j.claim.Message
	a.turns.View.Begin(&turn.MessageStatus{ID: m.ID, From: m.From, Subject: m.Subject, Since: rec.Begun}, describe(m))
	defer a.turns.View.End()
	defer a.diary.Close()
	if rec.Process.Alive() {
		a.show(Working, "its client outlived an earlier daemon", "")
	}
	ctx, end := context.WithCancelCause(kill)
	defer end(nil)
	a.control.turnBegins(m.ID, end)
	defer a.control.turnEnded()

	out, err := a.turns.Follow(ctx, a.settings(), rec, uuids(j.steered))
	if err != nil {
		return err
	}
	if out.End == runner.NoResult {
		// Cut off, not failed: it is not counted against the message.
		a.report(j, out)
		if err := a.ledger.Add(a.attemptLine(j, out)); err != nil {
			return err
		}
		if err := a.putBackNotes(j); err != nil {
			return err
		}
		return a.putBack(j.claim, false)
	}
	return a.settleEnd(ctx, j, out)
}

// finishCommitted files a message whose receipt lies beside it.
func (a *agent) finishCommitted(e dropbox.Entry) error {
	if e.Name == "" {
		return a.box.Finish(e) // the message is filed already
	}
	data, err := a.box.Receipt(e)
	if err != nil {
		return err
	}
	r, err := journal.ParseReceipt(data)
	if err != nil {
		return err
	}
	c, err := a.box.Open(e)
	if err != nil {
		return err
	}
	if r.Outcome != string(runner.Done) || c.Message == nil {
		return a.box.Finish(e)
	}
	a.log.Info("filing a turn that was done", keyMessage, e.ID, keyTurn, r.Turn)
	return a.finish(e, c.Message, r)
}

// finishFailure puts a message back whose attempt ended and was written down,
// as it would have been.
func (a *agent) finishFailure(j *job) error {
	line := j.rec.Line() // the ledger may have refused it, and takes it once
	line.From, line.Subject = j.claim.Message.From, j.claim.Message.Subject
	if err := a.ledger.Add(line); err != nil {
		return err
	}
	switch j.rec.End {
	case runner.Stopped, runner.Limited, runner.Refused: // no failure of a turn
	default:
		if err := a.failedTurn(j.claim.Message, line, j.rec.Reason); err != nil {
			return err
		}
	}
	if err := a.putBackNotes(j); err != nil {
		return err
	}
	if j.rec.Counted && j.claim.Failed+1 >= a.spec().maxFailures() {
		return a.bury(j.claim, failedTimes(j.claim.Failed+1, j.rec.Reason))
	}
	return a.putBack(j.claim, j.rec.Counted)
}

// claimedNotes are the riders of a turn that are still in cur/.
func (a *agent) claimedNotes(rec *journal.Record) ([]*dropbox.Claim, error) {
	if len(rec.Notes) == 0 {
		return nil, nil
	}
	claimed, err := a.box.Claimed()
	if err != nil {
		return nil, err
	}
	var notes []*dropbox.Claim
	for _, e := range claimed {
		if !slices.Contains(rec.Notes, e.ID) {
			continue
		}
		c, err := a.box.Open(e)
		if err != nil {
			return nil, err
		}
		notes = append(notes, c)
	}
	return notes, nil
}

// lastRecord is the newest record of the claim that e shows; nil when there is
// none.
func lastRecord(home journal.Home, e dropbox.Entry) (*journal.Record, error) {
	tries, err := journal.TriesOf(home, e.ID, e.Begun)
	if err != nil || len(tries) == 0 {
		return nil, err
	}
	return tries[len(tries)-1], nil
}

// endOrphans ends what is left of turns that no agent will take up, such as
// after a mailbox was deleted while its client worked, or an agent was taken out
// of the configuration.
func (s *Swarm) endOrphans() {
	turns, err := s.home.Recorded()
	if err != nil {
		s.log.Warn("turns could not be looked at", keyErr, err)
		return
	}
	for _, turn := range turns {
		rec, err := journal.ReadRecord(s.home, turn)
		// Asked last: the agents work already, and a turn is known to run before
		// its process stands in its record.
		if err != nil || rec.End != "" || !rec.Process.Alive() || s.hasClaimed(rec) || s.has(rec.Mark()) {
			continue
		}
		s.endLeft(rec.Mark())
	}
}

// hasClaimed tells whether the message of a turn, or of a later one in the same
// client, lies in cur/ of its agent, who will take that up if it has not yet.
func (s *Swarm) hasClaimed(rec *journal.Record) bool {
	m, err := s.member(rec.Agent)
	if err != nil {
		return false
	}
	claimed, err := m.box.Claimed()
	return err != nil || slices.ContainsFunc(claimed, func(e dropbox.Entry) bool {
		if e.ID == rec.Message {
			return true
		}
		last, err := lastRecord(m.home, e)
		return err != nil || last != nil && last.Mark() == rec.Mark()
	})
}

// has tells whether the client with that mark is one that an agent works with.
func (s *Swarm) has(mark string) bool {
	return slices.ContainsFunc(s.members(), func(m *member) bool { return m.turns.Runs.HasMark(mark) })
}
