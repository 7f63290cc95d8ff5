package notice

import (
	"cmp"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Halted: a conversation is halted, and wakes no agent any more.
type Halted struct {
	Agent         string
	Thread, Trace string // ids; Trace is that of the message
	Title         string // of the message, on one line
	Why           string // "" if it was halted by hand
	Since         time.Time
	More          string // further lines, or ""
}

func (f Halted) told() told {
	return told{
		Event:   journal.Event{Key: "halted:" + f.Thread + ":" + f.Since.Format(time.RFC3339Nano), Agent: f.Agent},
		subject: "conversation halted: " + f.Title,
		body: fmt.Sprintf(
			"The conversation %s is halted: %s.\nIt no longer wakes any agent.\n%s\nHow that happened: claude-swarm trace %s\nTo let it continue: claude-swarm unhalt --thread %s\n",
			f.Thread, cmp.Or(f.Why, "by hand"), f.More, cmp.Or(f.Trace, f.Thread), f.Thread),
	}
}

// AnswerRefused: the daemon did not deliver an agent's answer.
type AnswerRefused struct {
	Agent, To, Why string
	Message, Title string // the message that it answers: its id, and what it is, on one line
}

func (f AnswerRefused) told() told {
	return told{
		Event:   journal.Event{Key: "refused:" + f.Message, Agent: f.Agent},
		subject: "an answer was not delivered: " + f.Title,
		body:    fmt.Sprintf("%s was to answer %s, but the answer was %s. The trace shows how that happened:\n  claude-swarm trace %s\n", f.Agent, f.To, f.Why, f.Message),
	}
}

// AnswerReturned: an agent's answer cannot be delivered, so the lead gets it.
type AnswerReturned struct {
	Agent, To     string
	Message       string // id of the message that it answers
	Subject, Body string // of the answer
	Err           error
}

func (f AnswerReturned) told() told {
	return told{
		Event:   journal.Event{Key: "result:" + f.Message, Agent: f.Agent},
		subject: f.Subject,
		body:    fmt.Sprintf("%s answered %s, but the answer cannot be delivered (%v):\n\n%s", f.Agent, f.To, f.Err, f.Body),
	}
}

// Refused: an agent's mailbox refused a message whose sender cannot be told.
type Refused struct {
	Agent, About  string // About is the id of the message, or of its conversation
	Subject, Body string
}

func (f Refused) told() told {
	return told{Event: journal.Event{Key: "refused:" + f.About, Agent: f.Agent}, subject: f.Subject, body: f.Body}
}

// NotDone: an agent gave up a message whose sender cannot be told.
type NotDone struct {
	Agent, Key string // Key is that of the mail that the sender would have got; see [NotDoneKey]
	Title      string // of the message, on one line, or its id
	Body       string
}

// NotDoneKey returns the key of mail which says that a message was given up.
func NotDoneKey(id string, at time.Time) string {
	return fmt.Sprintf("%s%s:%d", deadKey, id, at.UnixMicro())
}

func (f NotDone) told() told {
	return told{Event: journal.Event{Key: f.Key, Agent: f.Agent}, subject: "not done: " + f.Title, body: f.Body}
}

// Unbooked: a turn has shown a cost that was in no turn.
type Unbooked struct {
	Agent, Turn string
	Line        journal.LedgerLine
}

func (f Unbooked) told() told {
	l := f.Line
	return told{
		Event:   journal.Event{Key: "unbooked:" + f.Turn, Agent: f.Agent},
		subject: fmt.Sprintf("%.2f USD of %s are in no turn", l.CostUSD, f.Agent),
		body: fmt.Sprintf(
			"%.6f USD of the session %s of %s are in no turn: %s. "+
				"The client does not report the cost of work that it cut off, for example at a cap; its next total contains that cost. "+
				"It is now in the ledger (%s), and counts for %s and today's caps.\n\n  claude-swarm history %s\n",
			l.CostUSD, l.Session, f.Agent, l.Reason, l.Turn, f.Agent, f.Agent),
	}
}

// Unclaimed: nobody has claimed published work.
type Unclaimed struct {
	ID          string // of the publication
	From, Topic string
	Title       string // on one line
	Body        string
	Waits       time.Duration
}

func (f Unclaimed) told() told {
	return told{
		Event:   journal.Event{Key: "unclaimed:" + f.ID},
		subject: "unclaimed work: " + f.Title,
		body: fmt.Sprintf(
			"%s published work on %s that nobody has claimed for %s:\n\n%s\n\nTo give it to an agent: claude-swarm claim %s --for AGENT\nTo close it: claude-swarm ack %s\n",
			f.From, f.Topic, screen.Took(f.Waits), screen.Truncate(f.Body, MaxQuote), f.ID, f.ID),
	}
}
