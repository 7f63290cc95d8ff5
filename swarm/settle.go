package swarm

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// settle files what came of a turn. An error means that a file could not be
// written: the claim stays where it is, and the next start takes it up.
func (a *agent) settle(j *job, out runner.Outcome) error {
	a.report(j, out)
	if err := a.tellHalted(j.claim.Message, ""); err != nil {
		return err
	}
	switch out.End {
	case runner.Done:
		return a.done(j, out)
	case runner.Stopped:
		return a.putBackAll(j, out, false)
	case runner.Limited:
		return a.limited(j, out)
	case runner.Refused:
		if err := a.putBackAll(j, out, false); err != nil {
			return err
		}
		a.halt(out.Reason, a.startHint(orElse(out.Hint, "claude-swarm doctor")))
		return nil
	}
	return a.failed(j, out)
}

// startHint is what a person does about a stopped agent.
func (a *agent) startHint(hint string) string { return hint + ", then claude-swarm start " + a.name }

// report writes the end of a turn into the logs and the feed.
func (a *agent) report(j *job, out runner.Outcome) {
	a.tell(j)
	took := out.Ended.Sub(out.Began)
	text := fmt.Sprintf("= %s %s %.2f USD", out.End, screen.Took(took), out.CostUSD)
	if out.Reason != "" {
		text += ": " + out.Reason
	}
	a.diary.Line(j.claim.ID, text)
	a.log.Info("turn ended", keyMessage, j.claim.ID, keyTurn, j.rec.Turn, "end", string(out.End), keyWhy, out.Reason, keyTook, took, keyCost, out.CostUSD)
	a.feed.publish(FeedEvent{Kind: FeedTurn, At: time.Now().UTC(), Agent: a.name, ID: j.claim.ID, Text: string(out.End), Cost: out.CostUSD})
}

// aborted gives up the message of a turn that a person ended: the agent goes on
// with the next one, and the message can be tried again from dead/.
func (a *agent) aborted(j *job, out runner.Outcome) error {
	a.report(j, out)
	out.Reason = "aborted by " + a.control.endedBy()
	if err := a.recordEnd(j, out, false); err != nil {
		return err
	}
	if err := a.putBackNotes(j); err != nil {
		return err
	}
	a.control.comesTo(dropbox.Dead)
	return a.bury(j.claim, out.Reason)
}

// interrupted puts the message of a turn back that a person ended for something
// more urgent: its turn begins again after that.
func (a *agent) interrupted(j *job, out runner.Outcome) error {
	out.Reason = "interrupted by " + a.control.endedBy()
	a.report(j, out)
	a.queue.ring("") // the event of the urgent message may still be on its way
	return a.putBackAll(j, out, false)
}

// done files a turn that ended well. The receipt is the commit point: from then
// on the turn counts as done whatever happens, and finish can be repeated from
// any cut.
func (a *agent) done(j *job, out runner.Outcome) error {
	r, err := a.receipt(j, out)
	if err != nil {
		return err
	}
	data, err := r.Encode()
	if err != nil {
		return err
	}
	if err := a.box.Commit(j.claim.Entry, data); err != nil {
		return err
	}
	a.control.comesTo(dropbox.Done)
	if st := a.holds.Of(a.name); len(st.Failures) > 0 || !st.Until.IsZero() || st.Doubt != nil {
		a.note(a.holds.Change(a.name, func(s *journal.Hold) {
			s.Failures, s.Until, s.Why, s.Doubt = nil, time.Time{}, "", nil
		}))
	}
	a.liftOpenLimit()
	if err := a.finish(j.claim.Entry, j.claim.Message, r); err != nil {
		return err
	}
	return a.releaseSteered(j, r.Steered)
}

// finish does what is left after the commit point: ledger, notes, answer, and
// the files to done/. It is harmless to repeat.
func (a *agent) finish(e dropbox.Entry, m *dropbox.Message, r *journal.Receipt) error {
	if err := a.ledger.Add(journal.LineOf(m, r)); err != nil {
		return err
	}
	if err := a.finishNotes(r); err != nil {
		return err
	}
	if err := a.finishSteered(r); err != nil {
		return err
	}
	answer, err := a.answer(m, r)
	if err != nil {
		return err
	}
	if err := a.ended(m, r, answer); err != nil {
		return err
	}
	if err := a.closeOffer(m, r); err != nil {
		return err
	}
	if err := a.box.Finish(e); err != nil {
		return err
	}
	a.doors.forget(e.ID)
	a.wakeListeners()
	return nil
}

// finishNotes files the notes that rode along with the turn.
func (a *agent) finishNotes(r *journal.Receipt) error {
	claimed, err := a.box.Claimed()
	if err != nil {
		return err
	}
	for _, e := range claimed {
		if !slices.Contains(r.Notes, e.ID) {
			continue
		}
		note := journal.Receipt{ID: e.ID, Turn: r.Turn, Agent: a.name, Via: a.doors.of(e.ID), Outcome: "rode along", Ended: r.Ended}
		data, err := note.Encode()
		if err != nil {
			return err
		}
		if err := a.box.Commit(e, data); err != nil {
			return err
		}
		if err := a.box.Finish(e); err != nil {
			return err
		}
		a.doors.forget(e.ID)
	}
	return nil
}

// failed counts a failure of the message and of the agent, and decides what
// follows.
func (a *agent) failed(j *job, out runner.Outcome) error {
	// A client that never said a word was not sent the prompt, or never read it:
	// the message is not to blame.
	unborn := out.End == runner.NoFirstEvent || out.End == runner.NoSession || out.End == runner.PromptNotRun ||
		out.End == runner.Failed && !out.FirstEvent
	reason := orElse(out.Reason, string(out.End))
	buried := !unborn && j.claim.Failed+1 >= a.spec().maxFailures()
	if err := a.recordEnd(j, out, !unborn); err != nil {
		return err
	}
	if err := a.failedTurn(j.claim.Message, a.attemptLine(j, out), reason); err != nil {
		return err
	}
	if err := a.putBackNotes(j); err != nil {
		return err
	}
	if buried {
		a.control.comesTo(dropbox.Dead)
		if err := a.bury(j.claim, failedTimes(j.claim.Failed+1, reason)); err != nil {
			return err
		}
	} else if err := a.putBack(j.claim, !unborn); err != nil {
		return err
	}

	now := time.Now().UTC()
	st := a.holds.Of(a.name)
	failures := append(append([]journal.Failure(nil), st.Failures...), journal.Failure{At: now, Message: j.claim.ID, Unborn: unborn, Buried: buried, Reason: reason})
	if len(failures) > journal.MaxFailureMemory {
		failures = failures[len(failures)-journal.MaxFailureMemory:]
	}
	d := a.restart.Decide(failures, a.spec().retryDelay(), now)
	if d.Open {
		a.halt(fmt.Sprintf("%s; last: %s", d.Reason, reason), a.startHint(orElse(out.Hint, "see claude-swarm logs "+a.name)))
		return nil
	}
	wait := jitter(d.After)
	return a.holds.Change(a.name, func(s *journal.Hold) {
		s.Failures, s.Until, s.Why = failures, now.Add(wait), reason
	})
}

// failedTimes is why a message is given up.
func failedTimes(n int, last string) string {
	if n == 1 {
		return "failed: " + last
	}
	return fmt.Sprintf("failed %d times, last: %s", n, last)
}

// putBackAll ends an attempt that is not counted: the message and what rode
// along wait again.
func (a *agent) putBackAll(j *job, out runner.Outcome, failed bool) error {
	if err := a.recordEnd(j, out, failed); err != nil {
		return err
	}
	if err := a.putBackNotes(j); err != nil {
		return err
	}
	return a.putBack(j.claim, failed)
}

// giveBack puts a message back whose turn is not to be started, or could not be
// for a reason of ours, and returns that reason. Nothing was begun, so nothing
// is counted.
func (a *agent) giveBack(j *job, why error) error {
	if err := a.putBackNotes(j); err != nil {
		return err
	}
	e, err := a.box.Release(j.claim.Entry)
	if err != nil {
		return err
	}
	a.queue.add(e)
	return why
}

func (a *agent) putBackNotes(j *job) error {
	if err := a.putBackSteered(j); err != nil {
		return err
	}
	for _, n := range j.notes {
		if err := a.putBack(n, false); err != nil {
			return err
		}
	}
	j.notes = nil
	return nil
}

func (a *agent) putBack(c *dropbox.Claim, failed bool) error {
	e, err := a.box.PutBack(c.Entry, failed)
	if err != nil {
		return err
	}
	a.queue.add(e)
	if c.Message != nil && !c.Message.Type.Wakes() {
		a.queue.markNote(e)
	}
	return nil
}

// recordEnd makes the end of an attempt durable, with its line in the ledger.
func (a *agent) recordEnd(j *job, out runner.Outcome, counted bool) error {
	r := j.rec
	r.End, r.Reason, r.Ended, r.CostUSD, r.Counted = out.End, out.Reason, out.Ended.UTC(), out.CostUSD, counted
	if err := r.Write(a.home); err != nil {
		return fmt.Errorf("turn record: %w", err)
	}
	return a.ledger.Add(a.attemptLine(j, out))
}

// attemptLine is the ledger's line of an attempt that ended badly.
func (a *agent) attemptLine(j *job, out runner.Outcome) journal.LedgerLine {
	m := j.claim.Message
	return journal.LedgerLine{
		At: out.Ended.UTC(), Turn: j.rec.Turn, Agent: a.name, Message: m.ID, From: m.From, Subject: m.Subject,
		Outcome: string(out.End), Reason: out.Reason, Seconds: out.Ended.Sub(out.Began).Seconds(),
		Tokens: journal.TallyOf(out), CostUSD: out.CostUSD, Model: out.Model, Session: out.Session,
		Context: journal.Context{Tokens: out.ContextTokens, Limit: out.ContextLimit}, Text: screen.Short(out.Text, journal.MaxLastText),
	}
}

// receipt says what became of a message whose turn ended well.
func (a *agent) receipt(j *job, out runner.Outcome) (*journal.Receipt, error) {
	m := j.claim.Message
	r := &journal.Receipt{
		ID: m.ID, Turn: j.rec.Turn, Agent: a.name, Backend: a.kind().Name, Model: out.Model, Session: out.Session,
		Via: j.via, Proven: j.proven, Outcome: string(runner.Done), Ended: out.Ended.UTC(),
		Context: journal.Context{Tokens: out.ContextTokens, Limit: out.ContextLimit}, Tokens: journal.TallyOf(out), ToolCalls: out.ToolCalls, Compactions: out.Compactions, Files: out.Files,
		Notes: j.rec.Notes, Steered: j.steeredDone(out), Text: cut(out.Text, 4096),
	}
	old, err := journal.Records(a.home, m.ID, j.claim.Begun)
	if err != nil {
		return nil, err
	}
	for _, o := range old {
		if o.Turn == j.rec.Turn {
			continue
		}
		r.Attempts = append(r.Attempts, o.Attempt())
		r.CostUSD += o.CostUSD
	}
	r.Attempts = append(r.Attempts, journal.Attempt{Start: j.rec.Begun, End: out.Ended.UTC(), Outcome: string(out.End), CostUSD: out.CostUSD})
	r.CostUSD += out.CostUSD
	for _, d := range out.Denied {
		r.Denied = append(r.Denied, denial(d))
	}
	sent, err := journal.SentIn(a.home, j.rec.Turn)
	if err != nil {
		return nil, err
	}
	for _, s := range sent {
		r.Sent = append(r.Sent, s.ID)
	}
	r.Answer = a.owed(m, r, sent, out)
	return r, nil
}

// denial is one line about a tool call that was not permitted.
func denial(d runner.Denial) string {
	s := d.Tool
	if len(d.Input) > 0 {
		s += " " + screen.Short(string(d.Input), 120)
	}
	if d.Allow != "" {
		s += "; allow it with " + d.Allow + " in allowed_tools"
	}
	return s
}

// cut keeps the beginning of a text, whole runes.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
