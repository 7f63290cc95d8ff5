package mail

import (
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Begun tells that the agent has started work on a message.
func (in *Inbox) Begun(m *dropbox.Message) {
	if IsHeartbeat(m) && in.Proves(m) {
		return
	}
	in.Note(in.Notices.Add(notice.Begun{Agent: in.Name, Message: m}))
}

// ended tells that a turn ended well, with its result. answer is the id of the answer that
// the daemon sent, or "" if it did not send an answer.
func (in *Inbox) ended(m *dropbox.Message, r *journal.Receipt, answer string) error {
	if !journal.EndedWell(r.Outcome) || IsHeartbeat(m) && in.Proves(m) {
		return nil
	}
	result := &dropbox.Message{From: in.Name, Type: dropbox.Result, Subject: subjectOf(m, r), Thread: m.Thread, Trace: m.Trace, Body: []byte(r.Text)}
	fact := notice.Ended{Agent: in.Name, Message: m, Title: Describe(m), Answer: answer, Result: result, Turn: turnOf(journal.LineOf(m, r))}
	if r.Outcome == journal.OutcomeRefused {
		result.Outcome, fact.Refused = r.Outcome, nothingPermitted
	}
	if r.Answer != nil {
		result.Body = []byte(r.Answer.Body)
	}
	if task := in.completed(m, r, answer); task != nil {
		fact.Task, fact.TaskTitle, fact.Doer = task, Describe(task), in.doerOf(task)
	}
	return in.Notices.Add(fact)
}

// turnOf returns the turn that a ledger line describes, in the form used in events.
func turnOf(l journal.LedgerLine) *journal.Turn {
	return &journal.Turn{ID: l.Turn, Outcome: l.Outcome, Seconds: l.Seconds, CostUSD: l.CostUSD, CostUnknown: l.IsCostUnknown()}
}

// FailedTurn tells that the turn of rec did not end well. line is the turn's line in the
// ledger, and next is as in [notice.Failed].
func (in *Inbox) FailedTurn(m *dropbox.Message, rec *journal.Record, line journal.LedgerLine, why, next string) error {
	return in.Notices.Add(notice.Failed{
		Agent: in.Name, Message: m, Title: Describe(m), Turn: turnOf(line), Why: why,
		TooLong: rec.End == runner.Stalled || rec.End == runner.TimedOut, Crash: rec.Crash, Next: next,
	})
}

// Aborted is the prefix of the reason for giving up a message whose turn was aborted.
const Aborted = "aborted by "

// gaveUp tells that a message was given up. The person who aborted its turn does not need a
// notice.
func (in *Inbox) gaveUp(c *dropbox.Claim, reason string, at time.Time) error {
	fact := notice.GaveUp{Agent: in.Name, ID: c.ID, Message: c.Message, Why: reason, At: at, Known: strings.HasPrefix(reason, Aborted)}
	if c.Message != nil {
		fact.Title = Describe(c.Message)
	}
	return in.Notices.Add(fact)
}
