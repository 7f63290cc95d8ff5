package mail

import (
	"errors"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/policy"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Claim claims a message in new/. It returns nil if the message no longer exists there or
// everything is halted. [Inbox.TakeNotes] makes the claim durable.
func (in *Inbox) Claim(e dropbox.Entry) (*Job, error) {
	in.NoteArrival(e)
	claim, err := in.Box.Take(e)
	in.Queue.Remove(e)
	switch {
	case errors.Is(err, dropbox.ErrGone):
		in.Queue.Lacks(e)
		return nil, nil
	case errors.Is(err, dropbox.ErrHalted): // HALT appeared after the first check
		in.Queue.Add(e)
		return nil, nil
	case err != nil:
		return nil, err
	}
	in.held.keep(claim)
	return &Job{Claim: claim, Via: in.Arrivals.Via(claim.ID), Began: time.Now().UTC()}, nil
}

// Refuse sets aside a message that no turn may work on, and reports whether it did. For
// any other message it determines whether the sender is proven, and when the last earlier
// attempt was interrupted.
func (in *Inbox) Refuse(j *Job) (bool, error) {
	c := j.Claim
	if skipped, err := in.skip(c); skipped || err != nil {
		return skipped, err
	}
	lost, last, err := cutOffs(in.Home, c.ID, c.Begun-1)
	if err != nil {
		return false, err
	}
	if lost >= maxBegun {
		return true, in.GiveUp(c, fmt.Sprintf("begun %d times, but never ended", lost))
	}
	j.CutOff = last
	if c.Begun > 1 && j.CutOff.IsZero() {
		j.CutOff = c.Created // its records have been rotated out; no attempt began before this time
	}
	j.Proven = in.Proves(c.Message)
	return false, in.recallRed(j)
}

// recallRed finds out why the work of the last attempt that ended well was not accepted. An
// attempt that was not accepted was not cut off.
func (in *Inbox) recallRed(j *Job) error {
	for n := j.Claim.Begun - 1; n > 0 && n > j.Claim.Begun-1-maxBegun; n-- {
		tries, err := journal.TriesOf(in.Home, j.Claim.ID, n)
		if err != nil {
			return err
		}
		if len(tries) == 0 || tries[len(tries)-1].Verification == nil {
			continue
		}
		j.Red = tries[len(tries)-1].Verification
		if n == j.Claim.Begun-1 {
			j.CutOff = time.Time{}
		}
		return nil
	}
	return nil
}

// skip sets aside a message that must not start a turn or enter a prompt, and reports
// whether it did.
func (in *Inbox) skip(c *dropbox.Claim) (bool, error) {
	if c.Bad != nil {
		return true, in.GiveUp(c, "not a valid message: "+c.Bad.Error())
	}
	done, err := in.Box.HasReceipt(c.Entry)
	switch {
	case err != nil:
		return false, err
	case done:
		// The message reappeared, for example through a git checkout. Its sender already
		// has the answer.
		in.Log.Info("message was already done", keyMessage, c.ID)
		in.Arrivals.Forget(c.ID)
		return true, in.Box.GiveUp(c.Entry, "duplicate: this message has a receipt in done/")
	}
	if given, err := in.Box.DeadLetters().Has(c.Entry); err != nil {
		return false, err
	} else if given {
		in.Log.Info("message was already given up", keyMessage, c.ID)
		in.Arrivals.Forget(c.ID)
		return true, in.Box.SetAsideClaimed(c.Entry, "a copy of a message that was given up; claude-swarm dead retry "+c.ID+" retries that message")
	}
	if expired(c.Message) {
		return true, in.GiveUp(c, "expired at "+stamp(c.Message.Expires))
	}
	if taken, err := in.offerTaken(c); taken || err != nil {
		return taken, err
	}
	if why, err := in.overdue(c.Message); err != nil {
		return false, err
	} else if why != "" && AsksPermission(c.Message) {
		in.Arrivals.Forget(c.ID)
		return true, in.Box.Refuse(c.Entry, "over: "+why)
	} else if why != "" && c.Message.Type == dropbox.Question { // the asker already has an answer from somebody else
		in.Arrivals.Forget(c.ID)
		return true, in.Box.File(c.Entry)
	} else if why != "" {
		return true, in.turnAway(c, policy.Verdict{Rule: "over", Reason: "nobody is waiting for this answer: " + why, Next: "nothing; the agent will ask again if it needs to"})
	}
	return in.gated(c)
}

// Started counts the turn, and records in the agent's log and in the event list which
// message the turn is working on. Only the first call for a job does so. Started is
// called after the client has started, so that it does not delay the start.
func (in *Inbox) Started(j *Job) {
	if j.told {
		return
	}
	j.told = true
	m := j.Claim.Message
	in.Counts.Count(in.Name, j.Began, j.ByLead())
	in.AgentLog.Line(m.ID, fmt.Sprintf("= %s from %s: %s", m.Type, in.Names().Called(m.From), Describe(m)))
	in.Begun(m)
}

// TakeNotes claims the notes for the prompt, and makes all claims of the turn durable.
// Without that, a power cut could move a message back to new/ although the client already
// has the prompt. A note that cannot be claimed waits for the next turn.
func (in *Inbox) TakeNotes(j *Job) error {
	in.takeNotes(j)
	return in.Box.SyncClaims()
}

func (in *Inbox) takeNotes(j *Job) {
	var failed error
	defer func() {
		in.Note(failed)
		j.Stranded = failed != nil
	}()
	size := 0
	for _, e := range in.Queue.Notes(maxNotes) {
		in.NoteArrival(e)
		c, err := in.Box.Take(e)
		if errors.Is(err, dropbox.ErrGone) {
			in.Queue.Remove(e)
			in.Queue.Lacks(e)
		}
		if err != nil {
			continue
		}
		in.Queue.Remove(e)
		if skipped, err := in.skip(c); skipped || err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		size += len(c.Message.Body)
		if size > maxNoteSize && len(j.Notes) > 0 {
			e, err := in.Box.Release(c.Entry)
			if err != nil {
				failed = errors.Join(failed, err)
				return
			}
			in.Queue.Add(e)
			in.Queue.MarkNote(e)
			return
		}
		j.Notes = append(j.Notes, c)
		in.held.keep(c)
	}
}
