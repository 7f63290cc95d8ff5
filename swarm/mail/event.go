package mail

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Begun records in the event list that an agent has started work on a message.
func (in *Inbox) Begun(m *dropbox.Message) {
	if IsHeartbeat(m) && in.Proves(m) {
		return
	}
	shown := journal.Keep(m)
	in.Note(in.happened(journal.Event{
		Kind: journal.Begun, Key: eventKey(journal.Begun, m.ID), Agent: in.Name, To: in.Name, About: m.ID, Message: shown, Of: shown,
	}))
}

// ended records in the event list that a turn ended well, with its result. answer is the
// id of the answer that the daemon sent, or "" if it did not send an answer.
func (in *Inbox) ended(m *dropbox.Message, r *journal.Receipt, answer string) error {
	if !journal.EndedWell(r.Outcome) || IsHeartbeat(m) && in.Proves(m) {
		return nil
	}
	shown := &dropbox.Message{From: in.Name, Type: dropbox.Result, Subject: subjectOf(m, r), Thread: m.Thread, Trace: m.Trace, Body: []byte(r.Text)}
	if r.Outcome == journal.OutcomeRefused {
		shown.Outcome = r.Outcome
	}
	if r.Answer != nil {
		shown.Body = []byte(r.Answer.Body)
	}
	line := journal.LineOf(m, r)
	ev := journal.Event{
		Kind: journal.Result, Key: eventKey(journal.Result, m.ID), Agent: in.Name, To: m.From, About: cmp.Or(answer, m.ID),
		Message: journal.Keep(shown), Of: journal.Keep(m),
		Turn: turnOf(line),
	}
	if task := in.completed(m, r, answer); task != nil {
		ev.Task = journal.Keep(task)
		ev.Notice = &journal.Notice{Word: journal.AgentComplete, Agent: in.doerOf(task), Task: Describe(task)}
		if task.ID != m.ID && m.Offer != task.ID { // the work was delegated, so no answer to the task contains these last words
			ev.Notice.Why = screen.Truncate(string(shown.Body), maxReason)
		}
		if r.Outcome == journal.OutcomeRefused {
			ev.Notice = refusalOf(in.Name, task, m)
		}
	}
	return in.happened(ev)
}

// refusalOf returns the notice about a task that ends with a turn in which everything that the
// agent tried was denied. m is the message of that turn.
func refusalOf(agent string, task, m *dropbox.Message) *journal.Notice {
	return &journal.Notice{
		Word: journal.AgentError, Agent: agent, Task: Describe(task),
		Why: fmt.Sprintf("did not do \"%s\": %s", Describe(m), nothingPermitted), Next: "It is filed: claude-swarm trace " + m.ID,
	}
}

// turnOf returns the turn that a ledger line describes, in the form used in events.
func turnOf(l journal.LedgerLine) *journal.Turn {
	return &journal.Turn{ID: l.Turn, Outcome: l.Outcome, Seconds: l.Seconds, CostUSD: l.CostUSD, CostUnknown: l.IsCostUnknown()}
}

// FailedTurn records in the event list that the turn of rec did not end well. line is the
// turn's line in the ledger. next is a sentence that says when the message will be
// retried. If next is "", the event has no notice, because the person already knows about
// the failure, or because another event contains more details.
func (in *Inbox) FailedTurn(m *dropbox.Message, rec *journal.Record, line journal.LedgerLine, why, next string) error {
	shown := &dropbox.Message{
		From: dropbox.Swarm, Type: dropbox.Status, Subject: Describe(m), Thread: m.Thread, Trace: m.Trace,
		Body: []byte(screen.Truncate(why, maxReason) + "\n"),
	}
	return in.happened(journal.Event{
		Kind: journal.Failed, Key: eventKey(journal.Failed, line.Turn), Agent: in.Name, To: m.From, About: m.ID,
		Message: journal.Keep(shown), Of: journal.Keep(m),
		Turn: turnOf(line), Notice: failureOf(m, rec, why, next),
	})
}

// failureOf returns the notice about a failed turn that will be retried, or nil if next
// is "".
func failureOf(m *dropbox.Message, rec *journal.Record, why, next string) *journal.Notice {
	n := journal.Notice{Word: journal.AgentError, Agent: rec.Agent, Task: Describe(m), Why: "failed: " + why, Next: next}
	switch {
	case next == "":
		return nil
	case rec.End == runner.Stalled || rec.End == runner.TimedOut:
		n.Word, n.Why = journal.AgentTimeout, fmt.Sprintf("did not finish \"%s\": %s", Describe(m), why)
	case rec.Crash != "":
		n.Why = "crashed: " + rec.Crash
	}
	return &n
}

// Aborted is the prefix of the reason for giving up a message whose turn was aborted.
const Aborted = "aborted by "

// gaveUp records in the event list that a message was given up.
func (in *Inbox) gaveUp(c *dropbox.Claim, reason string, at time.Time) error {
	shown := &dropbox.Message{
		From: dropbox.Swarm, Type: dropbox.Status, Subject: "not done: " + c.ID,
		Body: []byte(screen.Truncate(reason, maxReason) + "\n"),
	}
	ev := journal.Event{
		Kind: journal.Dead, Key: eventKey(journal.Dead, fmt.Sprintf("%s.%d", c.ID, at.UnixMicro())), Agent: in.Name, To: dropbox.Lead, About: c.ID,
		Of: journal.Keep(c.Message),
	}
	if m := c.Message; m != nil {
		shown.Subject, shown.Thread, shown.Trace, ev.To = screen.Short("not done: "+Describe(m), 200), m.Thread, m.Trace, m.From
	}
	ev.Message = journal.Keep(shown)
	if !strings.HasPrefix(reason, Aborted) { // the person who aborted the turn does not need a notice
		ev.Notice = &journal.Notice{Word: journal.DeadLetter, Agent: in.Name, Why: screen.Truncate(reason, maxReason), Next: "It is kept: claude-swarm dead show " + c.ID}
		if c.Message != nil {
			ev.Notice.Task = Describe(c.Message)
		}
	}
	return in.happened(ev)
}
