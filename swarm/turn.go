package swarm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

const (
	maxNotes    = 16    // messages that ride along with one turn
	maxNoteSize = 32768 // bytes of their bodies together
	maxBegun    = 10    // times a message may be begun without an end: then it kills the machine
	maxTries    = 4     // clients started within one claim, for sessions that are refused
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
	cutOff  time.Time // when an earlier attempt was cut off
	rec     *record   // of the attempt that runs, or ran last
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
	claim, err := a.box.Take(e) // durable before the prompt is sent: tracker.started
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
	token := a.tokens.of(m.From)
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
	if given, err := a.box.GivenUp(c.Entry); err != nil {
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
	spec := a.spec()
	ctx, end := context.WithCancelCause(kill)
	defer end(nil)
	a.takeReins(j.claim.ID, end)
	defer a.dropReins()
	// Anyone who stopped the agent before it had the reins was told that no turn runs.
	if _, held := a.held(time.Now()); held || stop.Err() != nil {
		return a.giveBack(j, nil)
	}
	a.takeNotes(j)
	if a.advise != nil {
		asked := spec
		asked.Tools = a.tools(spec) != nil
		j.advice = a.advise(asked)
	}
	m := j.claim.Message
	a.view.begin(&MessageStatus{ID: m.ID, From: m.From, Subject: m.Subject, Since: j.began}, describe(m))
	a.show(Working, "", "")
	defer a.view.end()
	defer a.diary.close()

	// A dead letter that was given another chance has attempts of its earlier
	// life on record: its turns must not bear their names.
	earlier, err := triesOf(a.home, m.ID, j.claim.Begun)
	if err != nil {
		return a.giveBack(j, err)
	}
	var out runner.Outcome
	for try, refused := len(earlier), 0; ; try++ {
		session, err := a.session(spec, refused, j.rec)
		if err != nil {
			return a.giveBack(j, err)
		}
		out, err = a.attempt(ctx, j, spec, session, try)
		if err != nil {
			return a.giveBack(j, err)
		}
		if out.End == runner.NoSession || out.End == runner.Unheard {
			refused++
		} else if out.End != runner.Gone { // the next client is a new one, which cannot be gone
			break
		}
		a.log.Info("client not usable, trying otherwise", keyTurn, j.rec.Turn, "end", string(out.End), keyWhy, out.Reason)
		if refused == maxTries {
			break
		}
		if err := a.recordEnd(j, out, false); err != nil {
			return err
		}
	}
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

// tell writes into the agent's log what a turn works on, once. It is not written
// before the client is started, which it would only hold up.
func (a *agent) tell(j *job) {
	if j.told {
		return
	}
	j.told = true
	m := j.claim.Message
	a.counts.count(a.name, j.began, j.byLead())
	a.diary.line(m.ID, fmt.Sprintf("= %s from %s: %s", m.Type, a.plan().Called(m.From), describe(m)))
	a.begun(m)
}

// session chooses the session of a try: the agent's own; when the client
// refuses it, the other form; then a fresh one.
func (a *agent) session(spec Spec, try int, last *record) (runner.Session, error) {
	if try == 0 {
		return planSession(a.sessions, a.name, spec)
	}
	switch {
	case try == 1 && last.How == string(runner.Resume):
		return runner.Session{ID: last.Session, How: runner.New}, nil
	case try == 1 && last.How == string(runner.New):
		return runner.Session{ID: last.Session, How: runner.Resume}, nil
	}
	return freshSession(a.sessions, a.name, spec)
}

// attempt runs one client. An error means that it was not started, for a reason
// of ours.
func (a *agent) attempt(ctx context.Context, j *job, spec Spec, session runner.Session, try int) (runner.Outcome, error) {
	m := j.claim.Message
	mem, err := openMemory(a.home, a.kind().Tools, a.name, window40(spec), a.log)
	if err != nil {
		return runner.Outcome{}, err
	}
	turn := turnID(m.ID, j.claim.Begun, try)
	p := prompt{
		Agent:   a.name,
		Plan:    a.plan(),
		Reread:  spec.Reread,
		Advice:  j.advice,
		Message: letter{Message: m, Proven: j.proven, Via: j.via},
		CutOff:  j.cutOff,
		Tools:   a.tools(spec) != nil,
	}
	for _, n := range j.notes {
		p.Notes = append(p.Notes, letter{Message: n.Message, Proven: a.proves(n.Message), Via: a.doors.of(n.ID)})
	}
	if p.Prior, err = mem.pending(); err != nil {
		return runner.Outcome{}, err
	}
	if session.How == runner.New && spec.Session != SessionFresh {
		// The agent's conversation is gone, if it had one: it gets back all
		// that we know of it.
		p.Prior = mem.whole()
		if handoff := a.handoff(); handoff != "" && (len(p.Prior) > 0 || a.sessions.isCleared(a.name)) {
			p.Reread = append(slices.Clone(p.Reread), handoff)
		}
	}

	rec := &record{
		Turn: turn, Agent: a.name, Backend: spec.Backend, Message: m.ID, Thread: m.Thread, Trace: m.Trace, Hops: m.Hops, Path: m.Path,
		UUID: promptUUID(turn), Session: session.ID, How: string(session.How), Notes: ids(j.notes),
		Reinjected: len(p.Prior) > 0, WindowBytes: window40(spec), Begun: time.Now().UTC(),
		ByLead: j.byLead(), Tools: a.tools(spec) != nil,
	}
	// The client writes the stream into a file that is kept, and cannot change its mind
	// while it runs. Pieces make that file nine times as long, and reading them costs
	// eight times as much; so only a turn that somebody follows has them.
	partial := a.feed.wanted(FeedPartial, a.name)
	w := a.warmFor(ctx, spec, session, partial)
	a.view.streams(partial || w != nil && w.partial)
	if w != nil {
		rec.Client, rec.From = w.mark, w.client.Place()
		err = a.home.setNow(w.mark, turn) // the client runs, so nothing is started before the record is durable
	} else {
		err = rec.jot(a.home)
	}
	if err != nil {
		return runner.Outcome{}, fmt.Errorf("turn record: %w", err)
	}
	last := j.rec
	j.rec = rec

	a.nowRuns(rec)
	defer a.hasRun()
	t := &tracker{agent: a, id: m.ID, memory: mem, rec: rec, begun: func() { a.tell(j) }, compactions: compactions{home: a.home, turn: turn, reinjected: rec.Reinjected}}
	out := a.runIn(ctx, spec, w, runner.Turn{
		ID: turn, Client: rec.Client, From: rec.From, Agent: a.name, UUID: rec.UUID, Prompt: p.text(randomMark), Session: session,
		Files: a.turnFiles(rec.mark()), Tools: a.tools(spec),
		Hook: a.hook(), Partial: partial, Helm: a.helm(j), Started: t.started, Event: t.event,
	})
	a.bell.ring() // the helm may have heard what the agent is to hear
	t.end(&out, a.warm != nil)
	if t.unrecorded != nil {
		err = fmt.Errorf("record the turn: %w", t.unrecorded)
	} else if out.End == runner.Short {
		err = fmt.Errorf("start the client: %s", out.Reason)
	}
	if err != nil {
		j.rec = last // nothing was sent, so nothing was begun
		return runner.Outcome{}, errors.Join(err, rec.remove(a.home))
	}
	return out, nil
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
