package mail

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Commit writes the receipt of a turn that ended well. The receipt is the commit point.
// Once it is written, the turn always counts as done. After a crash at any step,
// [Inbox.Finish] can be repeated.
func (in *Inbox) Commit(j *Job, out runner.Outcome) (*journal.Receipt, error) {
	r, err := in.receipt(j, out)
	if err != nil {
		return nil, err
	}
	data, err := r.Encode()
	if err != nil {
		return nil, err
	}
	return r, in.Box.Commit(j.Claim.Entry, data)
}

// Finish carries out the steps after [Inbox.Commit].
func (in *Inbox) Finish(j *Job, r *journal.Receipt) error {
	if err := in.finish(j.Claim.Entry, j.Claim.Message, r); err != nil {
		return err
	}
	return in.releaseSteered(j, r.Steered)
}

// finish carries out the steps after the commit point: it adds the ledger line, files the
// notes, sends the answer, and moves the files to done/. It can be repeated.
func (in *Inbox) finish(e dropbox.Entry, m *dropbox.Message, r *journal.Receipt) error {
	if err := in.Ledger.Add(journal.LineOf(m, r)); err != nil {
		return err
	}
	in.tellUnbooked(r.Turn)
	return in.settled(e, m, r)
}

// settled carries out the steps of finish after the ledger line is added.
func (in *Inbox) settled(e dropbox.Entry, m *dropbox.Message, r *journal.Receipt) error {
	if err := in.finishNotes(r); err != nil {
		return err
	}
	if err := in.finishSteered(r); err != nil {
		return err
	}
	answer, err := in.answer(m, r)
	if err != nil {
		return err
	}
	if err := in.ended(m, r, answer); err != nil {
		return err
	}
	if err := in.closeOffer(m, r); err != nil {
		return err
	}
	if err := in.Box.Finish(e); err != nil {
		return err
	}
	in.Arrivals.Forget(e.ID)
	in.Notices.Filed()
	return nil
}

// finishNotes files the notes that were in the turn's prompt.
func (in *Inbox) finishNotes(r *journal.Receipt) error {
	claimed, err := in.Box.Claimed()
	if err != nil {
		return err
	}
	for _, e := range claimed {
		if !slices.Contains(r.Notes, e.ID) {
			continue
		}
		note := journal.Receipt{ID: e.ID, Turn: r.Turn, Agent: in.Name, Via: in.Arrivals.Via(e.ID), Outcome: "rode along", Ended: r.Ended}
		data, err := note.Encode()
		if err != nil {
			return err
		}
		if err := in.Box.Commit(e, data); err != nil {
			return err
		}
		if err := in.Box.Finish(e); err != nil {
			return err
		}
		in.Arrivals.Forget(e.ID)
	}
	return nil
}

// PutBackAll records the end of an attempt that does not count as a failure, and puts
// back the message and its notes.
func (in *Inbox) PutBackAll(j *Job, out runner.Outcome) error {
	if err := in.RecordEnd(j, out, false); err != nil {
		return err
	}
	if err := in.PutBackNotes(j); err != nil {
		return err
	}
	return in.PutBack(j.Claim, false)
}

// GiveBack puts back a message whose turn must not start, or could not start because of
// an error in the daemon. If it succeeds, it returns its argument why. The attempt does
// not count, because no turn began.
func (in *Inbox) GiveBack(j *Job, why error) error {
	if err := in.PutBackNotes(j); err != nil {
		return err
	}
	e, err := in.Box.Release(j.Claim.Entry)
	if err != nil {
		return err
	}
	in.Queue.Add(e)
	return why
}

func (in *Inbox) PutBackNotes(j *Job) error {
	if err := in.putBackSteered(j); err != nil {
		return err
	}
	for _, n := range j.Notes {
		if err := in.PutBack(n, false); err != nil {
			return err
		}
	}
	j.Notes = nil
	return nil
}

func (in *Inbox) PutBack(c *dropbox.Claim, failed bool) error {
	e, err := in.Box.PutBack(c.Entry, failed)
	if err != nil {
		return err
	}
	in.Queue.Add(e)
	if c.Message != nil && !c.Message.Type.Wakes() {
		in.Queue.MarkNote(e)
	}
	return nil
}

// RecordEnd durably records the end of an attempt, and adds the attempt's line to the
// ledger.
func (in *Inbox) RecordEnd(j *Job, out runner.Outcome, counted bool) error {
	r := j.Rec
	r.End, r.Reason, r.Ended, r.CostUSD, r.CostUnknown, r.Counted = out.End, out.Reason, out.Ended.UTC(), out.CostUSD, out.CostUnknown, counted
	if out.Crashed {
		r.Crash = out.Exit.Crash()
	}
	if err := r.Write(in.Home); err != nil {
		return fmt.Errorf("turn record: %w", err)
	}
	if err := in.Ledger.Add(in.AttemptLine(j, out)); err != nil {
		return err
	}
	in.tellUnbooked(r.Turn)
	return nil
}

// AttemptLine returns the ledger line of an attempt that ended badly.
func (in *Inbox) AttemptLine(j *Job, out runner.Outcome) journal.LedgerLine {
	m := j.Claim.Message
	return journal.LedgerLine{
		At: out.Ended.UTC(), Turn: j.Rec.Turn, Agent: in.Name, Message: m.ID, Trace: cmp.Or(m.Trace, m.ID), ReservedUSD: j.Rec.ReservedUSD, From: m.From, Subject: m.Subject,
		Outcome: string(out.End), Reason: out.Reason, Seconds: journal.Took(j.Rec.Begun, out.Ended).Seconds(),
		Tokens: journal.TallyOf(out), CostUSD: out.CostUSD, CostUnknown: out.CostUnknown, Client: journal.ClientName(cmp.Or(j.Rec.Backend, in.Backend()), out.Version), Model: out.Model, Session: out.Session, SessionUSD: sessionUSD(j.Rec, out),
		Billing: out.Billing, Context: journal.Context{Tokens: out.ContextTokens, Limit: out.ContextLimit}, Text: screen.Short(out.Text, journal.MaxLastText),
	}
}

// receipt returns the receipt of a message whose turn ended well.
func (in *Inbox) receipt(j *Job, out runner.Outcome) (*journal.Receipt, error) {
	m := j.Claim.Message
	backend := cmp.Or(j.Rec.Backend, in.Backend()) // the configuration may have changed since the turn began
	r := &journal.Receipt{
		ID: m.ID, Turn: j.Rec.Turn, Agent: in.Name, Backend: backend, Client: journal.ClientName(backend, out.Version), Model: out.Model, Session: out.Session, SessionUSD: sessionUSD(j.Rec, out),
		ReservedUSD: j.Rec.ReservedUSD, Via: j.Via, Proven: j.Proven, Outcome: journal.OutcomeOf(out), Ended: out.Ended.UTC(),
		Context: journal.Context{Tokens: out.ContextTokens, Limit: out.ContextLimit}, Tokens: journal.TallyOf(out), CostUnknown: out.CostUnknown, Billing: out.Billing, ToolCalls: out.ToolCalls, Compactions: out.Compactions, Files: out.Files,
		Branch: j.Rec.Branch, Base: j.Rec.Base, Commit: j.Commit, Verification: j.Verification.Filed(), Notes: j.Rec.Notes, Steered: j.steeredDone(out), Text: screen.Truncate(out.Text, 4096),
	}
	old, err := journal.Records(in.Home, m.ID, j.Claim.Begun)
	if err != nil {
		return nil, err
	}
	for _, o := range old {
		if o.Turn == j.Rec.Turn {
			continue
		}
		earlier := o.Attempt()
		r.Attempts = append(r.Attempts, earlier)
		r.CostUSD += earlier.CostUSD
		r.CostUnknown = r.CostUnknown || earlier.CostUnknown
	}
	r.Attempts = append(r.Attempts, journal.Attempt{Start: j.Rec.Begun, End: out.Ended.UTC(), Outcome: r.Outcome, CostUSD: out.CostUSD, CostUnknown: out.CostUnknown})
	r.CostUSD += out.CostUSD
	r.Denied = denials(out)
	r.Decide(out.Decisions)
	sent, err := journal.SentIn(in.Home, j.Rec.Turn)
	if err != nil {
		return nil, err
	}
	for _, s := range sent {
		r.Sent = append(r.Sent, s.ID)
	}
	r.Answer = in.owed(m, r, sent, out)
	return r, nil
}

// maxDenied is the maximum number of lines about denied calls in a receipt and in an
// answer. An agent can repeat a denied call thousands of times.
const maxDenied = 50

// denials returns one line for each tool call that was not permitted. The calls that the
// client refused without asking come first. If there are more than maxDenied lines, the
// last line says how many are omitted.
func denials(out runner.Outcome) (lines []string) {
	for _, d := range out.Denied {
		if !slices.ContainsFunc(out.Decisions, func(by runner.Decision) bool { return isAbout(by, d) }) {
			lines = append(lines, denial(d))
		}
	}
	for _, d := range out.Decisions {
		if text := notPermitted(d); text != "" {
			lines = append(lines, text)
		}
	}
	if len(lines) > maxDenied {
		left := len(lines) - (maxDenied - 1)
		lines = append(lines[:maxDenied-1], fmt.Sprintf("and %d more", left))
	}
	return lines
}

// denial returns one line about a tool call that the client did not permit.
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

// FailedTimes returns the reason for giving up a message after n failures.
func FailedTimes(n int, last string) string {
	if n == 1 {
		return "failed: " + last
	}
	return fmt.Sprintf("failed %d times, last: %s", n, last)
}
