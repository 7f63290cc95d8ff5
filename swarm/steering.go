package swarm

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Steering. A message that is urgent does not wait for the end of the turn that
// runs: it is claimed and written to the client, which takes it in with its next
// tool result.
//
//	new/ --claim--> cur/, turns/TURN.steered --> client --repeats it--> result
//	  ^                                            |                      |
//	  +------ never taken in, or no good result ---+      receipt of the turn, then
//	                                                      its own, its answer, done/
//
// The receipt of the turn names what was done with it, so its appearance is the
// commit point for all of them; a daemon that takes over after a crash finds what
// was brought in TURN.steered, and whether it was done in what the client printed.

// maxSteered bounds what is brought to one turn.
const maxSteered = 16

// A steered is a message that was brought to a running turn.
type steered struct {
	claim *dropbox.Claim
	uuid  string
}

// helm brings urgent mail to the turn of j. It is used by the agent's goroutine.
func (a *agent) helm(j *job) *runner.Steering {
	return &runner.Steering{Wake: a.bell, Next: func() (runner.Steer, bool) { return a.nextUrgent(j) }}
}

// nextUrgent claims the next urgent message for the turn that runs.
func (a *agent) nextUrgent(j *job) (runner.Steer, bool) {
	for len(j.steered) < maxSteered {
		c, ok := a.takeUrgent()
		if !ok {
			return runner.Steer{}, false
		}
		own := &job{claim: c, via: a.doors.of(c.ID), began: time.Now().UTC()}
		refused, err := a.refuse(own)
		if err == nil && refused {
			continue
		}
		s := steered{claim: c, uuid: journal.PromptUUID(j.rec.Turn + "+" + c.ID)}
		if err == nil {
			err = errors.Join(a.home.NoteSteered(j.rec.Turn, s.claim.ID, s.uuid), a.box.SyncClaims())
		}
		if err != nil {
			a.note(err)
			a.note(a.release(c))
			return runner.Steer{}, false
		}
		j.steered = append(j.steered, s)
		own.proven = a.proves(c.Message)
		a.counts.Count(a.name, own.began, own.proven && c.Message.From == dropbox.Lead)
		a.diary.Line(c.ID, fmt.Sprintf("+ %s from %s: %s", c.Message.Type, a.plan().Called(c.Message.From), describe(c.Message)))
		a.log.Info("message brought to a running turn", keyMessage, c.ID, keyTurn, j.rec.Turn)
		return runner.Steer{UUID: s.uuid, Prompt: a.steerText(letter{Message: c.Message, Proven: own.proven, Via: own.via})}, true
	}
	return runner.Steer{}, false
}

// takeUrgent takes the first message that waits, if it is urgent and begins turns.
func (a *agent) takeUrgent() (*dropbox.Claim, bool) {
	if st := a.holds.Of(a.name); st.Stopped != nil || st.Paused != nil {
		return nil, false
	}
	if err := a.queue.refresh(a.box.List); err != nil {
		a.queue.ring("") // looked at again after the turn
		return nil, false
	}
	for {
		e, ok := a.queue.head()
		if !ok || e.Priority != dropbox.Urgent {
			return nil, false
		}
		if m, err := a.box.Read(e); err == nil && !m.Type.Wakes() {
			a.queue.markNote(e)
			continue
		} else if err == nil && a.counts.Over(a.name, a.plan().TurnsPerHour, a.byLead(m), time.Now()) != "" {
			return nil, false // it waits for the next turn, which does not begin
		}
		a.noteArrival(e)
		c, err := a.box.Take(e)
		a.queue.remove(e)
		switch {
		case errors.Is(err, dropbox.ErrGone):
		case err != nil:
			a.queue.add(e)
			return nil, false
		default:
			return c, true
		}
	}
}

// steerText is what the client reads. As a prompt, it never begins with a body.
func (a *agent) steerText(l letter) string {
	return fmt.Sprintf("claude-swarm: an urgent message for %s, while you work\n\n%s\n\n%s\n\n%s\n", a.name, l.envelope(a.plan()), fenced(l.Body, randomMark),
		"Take it in now. Unless it says otherwise, go on then with what you were doing, and speak of both in your summary.")
}

// steeredDone are the ids of those that a turn has done.
func (j *job) steeredDone(out runner.Outcome) []string {
	var done []string
	for _, s := range j.steered {
		if slices.Contains(out.Steered, s.uuid) {
			done = append(done, s.claim.ID)
		}
	}
	return done
}

// finishSteered files what was done in a turn beside its own message. It is
// harmless to repeat.
func (a *agent) finishSteered(r *journal.Receipt) error {
	if len(r.Steered) == 0 {
		return nil
	}
	claimed, err := a.box.Claimed()
	if err != nil {
		return err
	}
	for _, e := range claimed {
		if !slices.Contains(r.Steered, e.ID) {
			continue
		}
		c, err := a.box.Open(e)
		if err != nil {
			return err
		}
		if c.Bad != nil {
			return a.bury(c, "not a valid message: "+c.Bad.Error())
		}
		if err := a.finishOne(c, r); err != nil {
			return err
		}
	}
	return nil
}

// finishOne files one of them, with a receipt and a separate answer. What it
// cost is part of the turn.
func (a *agent) finishOne(c *dropbox.Claim, turn *journal.Receipt) error {
	sent, err := journal.SentIn(a.home, turn.Turn)
	if err != nil {
		return err
	}
	text := turn.Text
	if turn.Answer != nil {
		text = turn.Answer.Body
	}
	r := &journal.Receipt{
		ID: c.ID, Turn: turn.Turn, Agent: a.name, Backend: turn.Backend, Model: turn.Model, Session: turn.Session,
		Via: a.doors.of(c.ID), Proven: a.proves(c.Message), Outcome: string(runner.Done), Ended: turn.Ended, Into: turn.ID, Text: turn.Text,
	}
	r.Answer = a.owed(c.Message, r, sent, runner.Outcome{Text: text})
	data, err := r.Encode()
	if err != nil {
		return err
	}
	if err := a.box.Commit(c.Entry, data); err != nil {
		return err
	}
	return a.finish(c.Entry, c.Message, r)
}

// releaseSteered lets what came too late for a turn that ended well wait again.
func (a *agent) releaseSteered(j *job, done []string) error {
	for _, s := range j.steered {
		if slices.Contains(done, s.claim.ID) {
			continue
		}
		if err := a.release(s.claim); err != nil {
			return err
		}
	}
	j.steered = nil
	return nil
}

// putBackSteered lets what was brought to a turn that ended badly wait again. The
// client may have begun it.
func (a *agent) putBackSteered(j *job) error {
	for _, s := range j.steered {
		if err := a.putBack(s.claim, false); err != nil && !errors.Is(err, dropbox.ErrGone) {
			return err
		}
	}
	j.steered = nil
	return nil
}

// release puts a message back whose own turn was never begun.
func (a *agent) release(c *dropbox.Claim) error {
	e, err := a.box.Release(c.Entry)
	if errors.Is(err, dropbox.ErrGone) {
		return nil
	} else if err != nil {
		return err
	}
	a.queue.add(e)
	return nil
}

// claimedSteered are those that were brought to a turn and are still in cur/.
func (a *agent) claimedSteered(rec *journal.Record) ([]steered, error) {
	notes, err := a.home.SteeredIn(rec.Turn)
	if err != nil || len(notes) == 0 {
		return nil, err
	}
	claimed, err := a.box.Claimed()
	if err != nil {
		return nil, err
	}
	var all []steered
	for _, e := range claimed {
		i := slices.IndexFunc(notes, func(n journal.SteeredNote) bool { return n.ID == e.ID })
		if i < 0 {
			continue
		}
		c, err := a.box.Open(e)
		if err != nil {
			return nil, err
		}
		all = append(all, steered{c, notes[i].UUID})
	}
	return all, nil
}

// uuids are those of what was brought.
func uuids(all []steered) []string {
	var out []string
	for _, s := range all {
		out = append(out, s.uuid)
	}
	return out
}
