package swarm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

const (
	maxNotes    = 16    // messages that ride along with one turn
	maxNoteSize = 32768 // bytes of their bodies together
	maxBegun    = 10    // times a message may be begun without an end: then it kills the machine
)

// A job is one claimed message on its way through a turn.
type job struct {
	claim *dropbox.Claim
	notes []*dropbox.Claim
	// steered is what was brought to the turn while it ran.
	steered []steered
	advice  string
	via     string
	proven  bool
	cutOff  time.Time       // when an earlier attempt was cut off
	rec     *journal.Record // of the attempt that runs, or ran last
	began   time.Time
	told    bool // the agent's log has it
	// stranded says that a note was claimed and could neither be taken along nor
	// put back: cur/ is to be looked at.
	stranded bool
}

// work claims the first message and runs a turn for it. It is called with a
// place among the running turns.
func (a *agent) work(stop, kill context.Context) time.Duration {
	e, ok := a.queue.head()
	if !ok {
		return 0
	}
	a.noteArrival(e)
	claim, err := a.box.Take(e)
	a.queue.remove(e)
	switch {
	case errors.Is(err, dropbox.ErrGone):
		return 0
	case errors.Is(err, dropbox.ErrHalted): // since it was asked
		a.queue.add(e)
		return 0
	case err != nil:
		a.unsettled = true // if the disk refused even to put it back
		return a.diskTrouble(stop, "claim a message", err)
	}
	j := &job{claim: claim, via: a.doors.of(claim.ID), began: time.Now().UTC()}
	a.unsettled = true // until it is settled
	refused, err := a.refuse(j)
	if err != nil {
		return a.diskTrouble(stop, "set a message aside", err)
	}
	if !refused {
		j.proven = a.proves(claim.Message)
		if err := a.runJob(stop, kill, j); err != nil {
			return a.diskTrouble(stop, "run a turn", err)
		}
	}
	a.unsettled = j.stranded
	return 0
}

// proves tells whether a message is from whom it says it is.
func (a *agent) proves(m *dropbox.Message) bool {
	token := a.tokens.Of(m.From)
	return token != "" && dropbox.Proven(token, m, a.name)
}

// refuse sets aside what is not to be worked on.
func (a *agent) refuse(j *job) (bool, error) {
	c := j.claim
	if useless, err := a.useless(c); useless || err != nil {
		return useless, err
	}
	lost, last, err := cutOffs(a.home, c.ID, c.Begun-1)
	if err != nil {
		return false, err
	}
	if lost >= maxBegun {
		return true, a.bury(c, fmt.Sprintf("begun %d times without an end", lost))
	}
	j.cutOff = last
	if c.Begun > 1 && j.cutOff.IsZero() {
		j.cutOff = c.Created // its records were rotated away; it was begun, and no earlier
	}
	return false, nil
}

func expired(m *dropbox.Message) bool { return !m.Expires.IsZero() && time.Now().After(m.Expires) }

// useless sets aside a message that no turn is to begin with, or to read.
func (a *agent) useless(c *dropbox.Claim) (bool, error) {
	if c.Bad != nil {
		return true, a.bury(c, "not a valid message: "+c.Bad.Error())
	}
	done, err := a.box.HasReceipt(c.Entry)
	switch {
	case err != nil:
		return false, err
	case done:
		// It came back, as by a git checkout: it was answered then.
		a.log.Info("message was done already", keyMessage, c.ID)
		a.doors.forget(c.ID)
		return true, a.box.Bury(c.Entry, "duplicate: this message has a receipt in done/")
	}
	if given, err := a.box.DeadLetters().Has(c.Entry); err != nil {
		return false, err
	} else if given {
		a.log.Info("message was given up already", keyMessage, c.ID)
		a.doors.forget(c.ID)
		return true, a.box.SetAsideClaimed(c.Entry, "a copy of a message that was given up; claude-swarm dead retry "+c.ID+" tries that again")
	}
	if expired(c.Message) {
		return true, a.bury(c, "expired at "+stamp(c.Message.Expires))
	}
	if missed, err := a.missed(c); missed || err != nil {
		return missed, err
	}
	return a.gated(c)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// runJob runs the turns of a claimed message until one has an end that counts,
// and settles it. When the agent was told to hold since the claim, it gives the
// message back.
func (a *agent) runJob(stop, kill context.Context, j *job) error {
	ctx, end := context.WithCancelCause(kill)
	defer end(nil)
	a.control.turnBegins(j.claim.ID, end)
	defer a.control.turnEnded()
	// Anyone who stopped the agent before the turn could be ended was told that none runs.
	if _, held := a.held(time.Now()); held || stop.Err() != nil {
		return a.giveBack(j, nil)
	}
	a.takeNotes(j)
	// The claims are durable before the client is sent the prompt.
	if err := a.box.SyncClaims(); err != nil {
		return a.giveBack(j, err)
	}
	settings := a.settings()
	if a.advise != nil {
		asked := a.spec()
		asked.Tools = settings.Tools
		j.advice = a.advise(asked)
	}
	m := j.claim.Message
	a.turns.View.Begin(&turn.MessageStatus{ID: m.ID, From: m.From, Subject: m.Subject, Since: j.began}, describe(m))
	a.show(Working, "", "")
	defer a.turns.View.End()
	defer a.diary.Close()

	var unfiled error
	out, rec, err := a.turns.Run(ctx, settings, turn.Task{
		Record: journal.Record{
			Agent: a.name, Message: m.ID, Thread: m.Thread, Trace: m.Trace, Hops: m.Hops, Path: m.Path,
			Notes: ids(j.notes), ByLead: j.byLead(),
		},
		Begun:   j.claim.Begun,
		Prompt:  func(r turn.Recall) string { return a.promptFor(j, settings, r) },
		Started: func() { a.tell(j) },
		Steer: func(rec *journal.Record) *runner.Steering {
			j.rec = rec
			return a.helm(j)
		},
		Unusable: func(rec *journal.Record, out runner.Outcome) error {
			j.rec = rec
			unfiled = a.recordEnd(j, out, false)
			return unfiled
		},
	})
	a.bell.ring() // the turn may have heard what the agent is to hear
	if j.rec = rec; unfiled != nil {
		return unfiled
	} else if err != nil {
		return a.giveBack(j, err)
	}
	return a.settleEnd(ctx, j, out)
}

// settleEnd settles a turn, also one that a person has ended.
func (a *agent) settleEnd(ctx context.Context, j *job, out runner.Outcome) error {
	if out.End == runner.Stopped {
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, errAborted):
			return a.aborted(j, out)
		case errors.Is(cause, errInterrupted):
			return a.interrupted(j, out)
		}
	}
	return a.settle(j, out)
}

// promptFor makes the prompt of a turn.
func (a *agent) promptFor(j *job, s turn.Settings, r turn.Recall) string {
	p := prompt{
		Agent:   a.name,
		Plan:    a.plan(),
		Prior:   r.Prior,
		Reread:  a.spec().Reread,
		Advice:  j.advice,
		Message: letter{Message: j.claim.Message, Proven: j.proven, Via: j.via},
		CutOff:  j.cutOff,
		Tools:   s.Tools,
	}
	for _, n := range j.notes {
		p.Notes = append(p.Notes, letter{Message: n.Message, Proven: a.proves(n.Message), Via: a.doors.of(n.ID)})
	}
	if handoff := a.handoff(); r.Successor && handoff != "" {
		p.Reread = append(slices.Clone(p.Reread), handoff)
	}
	return p.text(randomMark)
}

// handoff is the file that an earlier session left for its successor; "" when there is
// none.
func (a *agent) handoff() string {
	path := filepath.Join(a.store.Dir(), "board", "handoff", a.name+".md")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// tell writes into the agent's log what a turn works on, once. It is not written
// before the client is started, which it would only hold up.
func (a *agent) tell(j *job) {
	if j.told {
		return
	}
	j.told = true
	m := j.claim.Message
	a.counts.Count(a.name, j.began, j.byLead())
	a.diary.Line(m.ID, fmt.Sprintf("= %s from %s: %s", m.Type, a.plan().Called(m.From), describe(m)))
	a.begun(m)
}

// takeNotes claims what rides along. A note that cannot be had waits for the
// next turn.
func (a *agent) takeNotes(j *job) {
	var failed error
	defer func() {
		a.note(failed)
		j.stranded = failed != nil
	}()
	size := 0
	for _, e := range a.queue.notes(maxNotes) {
		a.noteArrival(e)
		c, err := a.box.Take(e)
		if errors.Is(err, dropbox.ErrGone) {
			a.queue.remove(e)
		}
		if err != nil {
			continue
		}
		a.queue.remove(e)
		if useless, err := a.useless(c); useless || err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		size += len(c.Message.Body)
		if size > maxNoteSize && len(j.notes) > 0 {
			e, err := a.box.Release(c.Entry)
			if err != nil {
				failed = errors.Join(failed, err)
				return
			}
			a.queue.add(e)
			a.queue.markNote(e)
			return
		}
		j.notes = append(j.notes, c)
	}
}

func ids(claims []*dropbox.Claim) []string {
	var out []string
	for _, c := range claims {
		out = append(out, c.ID)
	}
	return out
}

// describe is the one line that the status shows of a task.
func describe(m *dropbox.Message) string {
	return screen.Short(m.Gist(), 80)
}
