package mail

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Steering. An urgent message does not wait for the end of the running turn. The daemon
// claims the message and writes it to the client, which reads it with its next tool
// result.
//
//	new/ --claim--> cur/, turns/TURN.steered --> client --repeats it--> result
//	  ^                                            |                      |
//	  +------ never taken in, or no good result ---+      receipt of the turn, then
//	                                                      its own, its answer, done/
//
// The receipt of the turn lists the steered messages that were done, so writing the
// receipt is the commit point for all of them. After a crash, the next daemon determines
// from TURN.steered which messages were steered, and from the client's output whether
// they were done.

// maxSteered is the maximum number of messages that are delivered to one running turn.
const maxSteered = 16

// NextUrgent claims the next urgent message for the running turn. may reports whether the
// turn may get a message, and may(nil) reports whether it may get any message. park sets a
// message aside if it must wait, and reports whether it did; the next urgent message does not
// wait for it.
func (in *Inbox) NextUrgent(j *Job, may func(*dropbox.Message) bool, park func(dropbox.Entry, *dropbox.Message) bool) (runner.Steer, bool) {
	for len(j.Steered) < maxSteered {
		c, ok := in.takeUrgent(may, park)
		if !ok {
			return runner.Steer{}, false
		}
		own := &Job{Claim: c, Via: in.Arrivals.Via(c.ID), Began: time.Now().UTC()}
		refused, err := in.Refuse(own)
		if err == nil && refused {
			continue
		}
		s := Steered{Claim: c, UUID: journal.PromptUUID(j.Rec.Turn + "+" + c.ID)}
		if err == nil {
			err = errors.Join(in.Home.NoteSteered(j.Rec.Turn, s.Claim.ID, s.UUID), in.Box.SyncClaims())
		}
		if err != nil {
			in.Note(err)
			in.Note(in.release(c))
			return runner.Steer{}, false
		}
		j.Steered = append(j.Steered, s)
		in.held.keep(c)
		in.Counts.Count(in.Name, own.Began, own.Proven && c.Message.From == dropbox.Lead)
		in.AgentLog.Line(c.ID, fmt.Sprintf("+ %s from %s: %s", c.Message.Type, in.Names().Called(c.Message.From), Describe(c.Message)))
		in.Log.Info("message brought to a running turn", keyMessage, c.ID, keyTurn, j.Rec.Turn)
		return runner.Steer{UUID: s.UUID, Prompt: promptMail{Message: c.Message, Proven: own.Proven, Via: own.Via}.steerText(in.Name, in.Names())}, true
	}
	return runner.Steer{}, false
}

// takeUrgent claims the first urgent message that can start a turn, if the running turn
// may get it. It skips the messages that park has set aside.
func (in *Inbox) takeUrgent(may func(*dropbox.Message) bool, park func(dropbox.Entry, *dropbox.Message) bool) (*dropbox.Claim, bool) {
	if !may(nil) {
		return nil, false
	}
	if err := in.Queue.Refresh(in.Box.List); err != nil {
		in.Queue.Changed("") // check again after the turn
		return nil, false
	}
	for {
		e, ok := in.Queue.Head()
		if !ok || e.Priority != dropbox.Urgent {
			return nil, false
		}
		if m, err := in.Box.Read(e); err == nil && !m.Type.Wakes() {
			in.Queue.MarkNote(e)
			continue
		} else if err == nil && park(e, m) {
			continue
		} else if err == nil && !may(m) {
			return nil, false // the message waits for the next turn
		}
		in.NoteArrival(e)
		c, err := in.Box.Take(e)
		in.Queue.Remove(e)
		switch {
		case errors.Is(err, dropbox.ErrGone):
			in.Queue.Lacks(e)
		case err != nil:
			in.Queue.Add(e)
			return nil, false
		default:
			return c, true
		}
	}
}

// steerText returns the text that is written to the client. Like a prompt, the text never
// begins with a body.
func (m promptMail) steerText(agent string, names Names) string {
	return fmt.Sprintf("claude-swarm: an urgent message for %s, while you work\n\n%s\n\n%s\n\n%s\n", agent, m.envelope(names), fenced(m.Body, randomMark),
		"Read it now. Then, unless it says otherwise, carry on with what you were doing, and cover both in your summary.")
}

// finishSteered files the steered messages that a turn has finished. It can be repeated.
func (in *Inbox) finishSteered(r *journal.Receipt) error {
	if len(r.Steered) == 0 {
		return nil
	}
	claimed, err := in.Box.Claimed()
	if err != nil {
		return err
	}
	for _, e := range claimed {
		if !slices.Contains(r.Steered, e.ID) {
			continue
		}
		c, err := in.Box.Open(e)
		if err != nil {
			return err
		}
		if c.Bad != nil {
			return in.GiveUp(c, "not a valid message: "+c.Bad.Error())
		}
		if err := in.finishOne(c, r); err != nil {
			return err
		}
	}
	return nil
}

// finishOne files one steered message, with a receipt and a separate answer. The cost of
// handling it is part of the turn's cost.
func (in *Inbox) finishOne(c *dropbox.Claim, turn *journal.Receipt) error {
	sent, err := journal.SentIn(in.Home, turn.Turn)
	if err != nil {
		return err
	}
	text := turn.Text
	if turn.Answer != nil {
		text = turn.Answer.Body
	}
	r := &journal.Receipt{
		ID: c.ID, Turn: turn.Turn, Agent: in.Name, Backend: turn.Backend, Client: turn.Client, Model: turn.Model, Session: turn.Session,
		Via: in.Arrivals.Via(c.ID), Proven: in.Proves(c.Message), Outcome: turn.Outcome, Ended: turn.Ended, Into: turn.ID, Text: turn.Text,
	}
	r.Answer = in.owed(c.Message, r, sent, runner.Outcome{Text: text})
	data, err := r.Encode()
	if err != nil {
		return err
	}
	if err := in.Box.Commit(c.Entry, data); err != nil {
		return err
	}
	return in.finish(c.Entry, c.Message, r)
}

// releaseSteered is called after a turn that ended well. It puts back the messages that
// reached the turn too late.
func (in *Inbox) releaseSteered(j *Job, done []string) error {
	for _, s := range j.Steered {
		if slices.Contains(done, s.Claim.ID) {
			continue
		}
		if err := in.release(s.Claim); err != nil {
			return err
		}
	}
	j.Steered = nil
	return nil
}

// putBackSteered puts back messages that were delivered to a running turn that ended badly.
// The client may have started working on them.
func (in *Inbox) putBackSteered(j *Job) error {
	for _, s := range j.Steered {
		if err := in.PutBack(s.Claim, false); err != nil && !errors.Is(err, dropbox.ErrGone) {
			return err
		}
	}
	j.Steered = nil
	return nil
}

// release puts back a message for which no turn began.
func (in *Inbox) release(c *dropbox.Claim) error {
	e, err := in.Box.Release(c.Entry)
	if errors.Is(err, dropbox.ErrGone) {
		return nil
	} else if err != nil {
		return err
	}
	in.Queue.Add(e)
	return nil
}

// claimedSteered returns the messages that were delivered to a running turn and are still
// in cur/.
func (in *Inbox) claimedSteered(rec *journal.Record) ([]Steered, error) {
	notes, err := in.Home.SteeredIn(rec.Turn)
	if err != nil || len(notes) == 0 {
		return nil, err
	}
	claimed, err := in.Box.Claimed()
	if err != nil {
		return nil, err
	}
	var all []Steered
	for _, e := range claimed {
		i := slices.IndexFunc(notes, func(n journal.SteeredNote) bool { return n.ID == e.ID })
		if i < 0 {
			continue
		}
		c, err := in.Box.Open(e)
		if err != nil {
			return nil, err
		}
		all = append(all, Steered{c, notes[i].UUID})
	}
	return all, nil
}
