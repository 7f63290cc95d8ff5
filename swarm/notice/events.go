package notice

import (
	"cmp"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// arrived: a message is in the mailbox of the person or of the lead agent.
type arrived struct {
	Message   *dropbox.Message
	To, Agent string
	Notice    *journal.Notice
}

func (f arrived) told() told {
	return told{Event: journal.Event{
		Kind: journal.Mail, Key: eventKey(journal.Mail, f.Message.ID), Agent: f.Agent, To: f.To, About: f.Message.ID,
		Message: journal.Keep(f.Message), Notice: f.Notice,
	}}
}

// questionOf returns the notice of an agent's question to the person.
func questionOf(m *dropbox.Message) *journal.Notice {
	return &journal.Notice{Word: journal.AgentQuestion, Agent: m.From, Why: screen.Short(m.Gist(), 200)}
}

// Begun: an agent has started work on a message.
type Begun struct {
	Agent   string
	Message *dropbox.Message
}

func (f Begun) told() told {
	shown := journal.Keep(f.Message)
	return told{Event: journal.Event{
		Kind: journal.Begun, Key: eventKey(journal.Begun, f.Message.ID), Agent: f.Agent, To: f.Agent, About: f.Message.ID, Message: shown, Of: shown,
	}}
}

// Ended: a turn ended well, with its result.
type Ended struct {
	Agent   string
	Message *dropbox.Message // of the turn
	Title   string           // of Message, on one line
	Answer  string           // id of the answer that the daemon sent, or ""
	Result  *dropbox.Message
	Turn    *journal.Turn
	Refused string // why nothing was done, if everything that the agent tried was denied

	// The person's task that this turn completes, or nil; what it is, on one line; and the
	// agent that has done it.
	Task      *dropbox.Message
	TaskTitle string
	Doer      string
}

func (f Ended) told() told {
	ev := journal.Event{
		Kind: journal.Result, Key: eventKey(journal.Result, f.Message.ID), Agent: f.Agent, To: f.Message.From, About: cmp.Or(f.Answer, f.Message.ID),
		Message: journal.Keep(f.Result), Of: journal.Keep(f.Message), Task: journal.Keep(f.Task), Turn: f.Turn,
	}
	switch {
	case f.Task == nil:
	case f.Refused != "":
		ev.Notice = &journal.Notice{
			Word: journal.AgentError, Agent: f.Agent, Task: f.TaskTitle,
			Why: fmt.Sprintf("did not do \"%s\": %s", f.Title, f.Refused), Next: "It is filed: claude-swarm trace " + f.Message.ID,
		}
	default:
		ev.Notice = &journal.Notice{Word: journal.AgentComplete, Agent: f.Doer, Task: f.TaskTitle}
		if f.Task.ID != f.Message.ID && f.Message.Offer != f.Task.ID { // the work was delegated, so no answer to the task contains these last words
			ev.Notice.Why = screen.Truncate(string(f.Result.Body), MaxQuote)
		}
	}
	return told{Event: ev}
}

// Failed: a turn did not end well.
type Failed struct {
	Agent   string
	Message *dropbox.Message // of the turn
	Title   string           // of Message, on one line
	Turn    *journal.Turn
	Why     string
	TooLong bool   // the turn took too long
	Crash   string // how the client crashed, or ""
	// Next says when the message will be retried. Without it, the event has no notice,
	// because the person already knows about the failure, or because another event
	// contains more details.
	Next string
}

func (f Failed) told() told {
	shown := &dropbox.Message{
		From: dropbox.Swarm, Type: dropbox.Status, Subject: f.Title, Thread: f.Message.Thread, Trace: f.Message.Trace,
		Body: []byte(screen.Truncate(f.Why, MaxQuote) + "\n"),
	}
	ev := journal.Event{
		Kind: journal.Failed, Key: eventKey(journal.Failed, f.Turn.ID), Agent: f.Agent, To: f.Message.From, About: f.Message.ID,
		Message: journal.Keep(shown), Of: journal.Keep(f.Message), Turn: f.Turn,
	}
	if f.Next != "" {
		ev.Notice = &journal.Notice{Word: journal.AgentError, Agent: f.Agent, Task: f.Title, Why: "failed: " + f.Why, Next: f.Next}
		switch {
		case f.TooLong:
			ev.Notice.Word, ev.Notice.Why = journal.AgentTimeout, fmt.Sprintf("did not finish \"%s\": %s", f.Title, f.Why)
		case f.Crash != "":
			ev.Notice.Why = "crashed: " + f.Crash
		}
	}
	return told{Event: ev}
}

// GaveUp: an agent gave up a message.
type GaveUp struct {
	Agent   string
	ID      string
	Message *dropbox.Message // nil if it cannot be read
	Title   string           // of Message, on one line
	Why     string
	At      time.Time
	Known   bool // the person knows it already, and needs no notice
}

func (f GaveUp) told() told {
	shown := &dropbox.Message{
		From: dropbox.Swarm, Type: dropbox.Status, Subject: "not done: " + f.ID,
		Body: []byte(screen.Truncate(f.Why, MaxQuote) + "\n"),
	}
	ev := journal.Event{
		Kind: journal.Dead, Key: eventKey(journal.Dead, fmt.Sprintf("%s.%d", f.ID, f.At.UnixMicro())), Agent: f.Agent, To: dropbox.Lead, About: f.ID,
		Of: journal.Keep(f.Message),
	}
	if m := f.Message; m != nil {
		shown.Subject, shown.Thread, shown.Trace, ev.To = screen.Short("not done: "+f.Title, 200), m.Thread, m.Trace, m.From
	}
	ev.Message = journal.Keep(shown)
	if !f.Known {
		ev.Notice = &journal.Notice{Task: f.Title, Why: screen.Truncate(f.Why, MaxQuote), Next: "It is kept: claude-swarm dead show " + f.ID}
	}
	return told{Event: ev}
}

// Decided: a tool call was denied, or somebody was asked about it.
type Decided struct {
	Turn       *journal.Record
	Number     int    // of the call in its turn
	Call       string // on one line, without secrets
	Verdict    string // on one line, without secrets
	Unanswered string // why it was denied, if nobody answered; without secrets
}

func (f Decided) told() told {
	text := f.Verdict + ": " + f.Call
	ev := journal.Event{
		Kind: journal.Permission, Key: fmt.Sprintf("permission:%s:%d", f.Turn.Turn, f.Number), Agent: f.Turn.Agent, To: dropbox.Lead, About: f.Turn.Message, At: time.Now().UTC(),
		Message: &journal.Message{
			From: f.Turn.Agent, To: []string{dropbox.Lead}, Type: dropbox.Status, Subject: screen.Short(text, 200), Thread: f.Turn.Thread, Trace: f.Turn.Trace, Body: text + "\n",
		},
	}
	if f.Unanswered != "" {
		ev.Notice = &journal.Notice{Word: journal.AgentTimeout, Why: "got no answer: " + f.Unanswered + ": " + f.Call, Next: "It is denied"}
	}
	return told{Event: ev}
}

// Listed: a task was put on the task list of an attached session's client, or was ticked off
// there. The texts must contain no secrets.
type Listed struct {
	Agent   string
	Session string // id of the client's session, because each session numbers its tasks from 1
	Task    journal.ListedTask
	Details string // what the client says about the task, or ""
	Message string // id of the message that the session is working on, or ""
}

func (f Listed) told() told {
	kind := journal.TaskCreated
	if f.Task.Done {
		kind = journal.TaskCompleted
	}
	text := f.Task.String()
	body := text + "\n"
	if f.Details != "" {
		body += "\n" + screen.Truncate(f.Details, MaxQuote) + "\n"
	}
	return told{Event: journal.Event{
		Kind: kind, Key: fmt.Sprintf("%s:%s:%s", kind, f.Session, f.Task.ID), Agent: f.Agent, To: dropbox.Lead, About: f.Message,
		Message: &journal.Message{From: f.Agent, To: []string{dropbox.Lead}, Type: dropbox.Status, Subject: screen.Short(text, 200), Body: body},
	}}
}
