package swarm

import (
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// eventKey is the key of an event about the message or the turn with that id.
func eventKey(kind journal.Kind, id string) string { return string(kind) + "-" + id }

// begun says that an agent takes up a message.
func (a *agent) begun(m *dropbox.Message) {
	shown := journal.Keep(m)
	a.note(a.happened(journal.Event{
		Kind: journal.Begun, Key: eventKey(journal.Begun, m.ID), Agent: a.name, To: a.name, About: m.ID, Message: shown, Of: shown,
	}))
}

// ended says what came of a turn that ended well. answer is the id of the answer that the
// daemon sent; "" where it sent none.
func (a *agent) ended(m *dropbox.Message, r *journal.Receipt, answer string) error {
	if r.Outcome != string(runner.Done) {
		return nil
	}
	shown := &dropbox.Message{From: a.name, Type: dropbox.Result, Subject: answerSubject(m), Thread: m.Thread, Trace: m.Trace, Body: []byte(r.Text)}
	if r.Answer != nil {
		shown.Body = []byte(r.Answer.Body)
	}
	line := journal.LineOf(m, r)
	ev := journal.Event{
		Kind: journal.Result, Key: eventKey(journal.Result, m.ID), Agent: a.name, To: m.From, About: orElse(answer, m.ID),
		Message: journal.Keep(shown), Of: journal.Keep(m),
		Turn: &journal.Turn{ID: r.Turn, Outcome: r.Outcome, Seconds: line.Seconds, CostUSD: line.CostUSD},
	}
	if a.announcer != nil { // to find it all mail is looked at
		ev.Task = journal.Keep(a.completed(m, r))
	}
	return a.happened(ev)
}

// failedTurn says that a turn did not end well. line is what the ledger has about it.
func (a *agent) failedTurn(m *dropbox.Message, line journal.LedgerLine, why string) error {
	shown := &dropbox.Message{
		From: dropbox.Swarm, Type: dropbox.Status, Subject: describe(m), Thread: m.Thread, Trace: m.Trace,
		Body: []byte(cut(why, maxReason) + "\n"),
	}
	return a.happened(journal.Event{
		Kind: journal.Failed, Key: eventKey(journal.Failed, line.Turn), Agent: a.name, To: m.From, About: m.ID,
		Message: journal.Keep(shown), Of: journal.Keep(m),
		Turn: &journal.Turn{ID: line.Turn, Outcome: line.Outcome, Seconds: line.Seconds, CostUSD: line.CostUSD},
	})
}

// gaveUp says that a message is given up.
func (a *agent) gaveUp(c *dropbox.Claim, reason string, at time.Time) error {
	shown := &dropbox.Message{
		From: dropbox.Swarm, Type: dropbox.Status, Subject: "not done: " + c.ID,
		Body: []byte(cut(reason, maxReason) + "\n"),
	}
	ev := journal.Event{
		Kind: journal.Dead, Key: eventKey(journal.Dead, fmt.Sprintf("%s.%d", c.ID, at.UnixMicro())), Agent: a.name, To: dropbox.Lead, About: c.ID,
		Of: journal.Keep(c.Message),
	}
	if m := c.Message; m != nil {
		shown.Subject, shown.Thread, shown.Trace, ev.To = screen.Short("not done: "+describe(m), 200), m.Thread, m.Trace, m.From
	}
	ev.Message = journal.Keep(shown)
	return a.happened(ev)
}

// arrived says that a message lies in the mailbox of whoever leads. agent is whom it is
// about; "" is no agent.
func (h *house) arrived(m *dropbox.Message, to, agent string) error {
	return h.happened(journal.Event{
		Kind: journal.Mail, Key: eventKey(journal.Mail, m.ID), Agent: agent, To: to, About: m.ID, Message: journal.Keep(m),
	})
}
