package notice

import (
	"fmt"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Asked: an agent asks people through a bridge. A question to the lead is mail, and told
// as such.
type Asked struct {
	Turn     *journal.Record
	Question journal.Asked
}

func (f Asked) told() told {
	rec, q := f.Turn, f.Question
	return told{Event: journal.Event{
		Key: "asked:" + q.ID, Agent: rec.Agent, To: q.Mailbox, About: q.ID,
		Message: &journal.Message{
			ID: q.ID, From: rec.Agent, To: []string{q.Mailbox}, Type: dropbox.Question, Thread: rec.Thread, Trace: rec.Trace, Body: q.Text + "\n",
		},
		Notice: &journal.Notice{Why: q.Text, Place: q.Of},
	}}
}

// Unanswered: nobody answered an agent's question in time. If the agent is paused, the lead
// gets mail, unless the question is in the person's mailbox.
type Unanswered struct {
	Agent    string
	Question journal.Asked
	Of       string // who was asked in a mailbox; "" if the question went through a bridge
}

func (f Unanswered) told() told {
	q, where := f.Question, "from "+f.Of
	if q.Mailbox != "" {
		where = "in " + q.Of
	}
	n := &journal.Notice{
		Agent: f.Agent, Next: afterNoAnswer(q), Held: q.Late == "pause",
		Why: fmt.Sprintf("got no answer to %s %s within %s", quotedOr(q.Text, q.ID), where, q.Until.Sub(q.Since)),
	}
	out := told{Event: journal.Event{Key: "late:" + q.ID, Agent: f.Agent, Notice: n}}
	if q.Mailbox != "" && n.Held {
		out.subject, out.body = f.Agent+" "+n.Why, f.Agent+" asked: "+q.Text+"\n\n"+n.Next+"\n"
	}
	return out
}

// afterNoAnswer returns a sentence that says what an agent does if it gets no answer.
func afterNoAnswer(q journal.Asked) string {
	switch q.Late {
	case "pause":
		return fmt.Sprintf("It is paused until somebody answers: claude-swarm reply %s \"…\"", q.ID)
	case "deny":
		return "It takes that as a no"
	case "abort":
		return "It ends its turn, and gives up the message"
	}
	return fmt.Sprintf("It continues without one. To answer all the same: claude-swarm reply %s \"…\"", q.ID)
}

// quotedOr returns the beginning of a text in quotation marks, or the id if the text is
// unknown.
func quotedOr(text, id string) string {
	if text == "" {
		return id
	}
	return `"` + screen.Short(text, 100) + `"`
}
