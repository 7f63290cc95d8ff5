package client

import (
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A Questioning is a question by mail that the running turn waits for. Where it has several
// copies, the first answer is enough.
type Questioning struct {
	client *Client
	sent   []dropbox.Delivery
	waits  map[string]*journal.Waiting
}

// Asks notes in the running turn that it waits for the answer to a question with that text.
func (c *Client) Asks(sent []dropbox.Delivery, text string, patience time.Duration) *Questioning {
	q := &Questioning{client: c, sent: sent, waits: map[string]*journal.Waiting{}}
	text = c.Home.Secrets().Redactor().Text(text)
	for i, d := range sent {
		a := journal.Asked{ID: d.ID, Of: d.To, Text: text}
		if i > 0 {
			a.Copy = sent[0].ID
		}
		q.waits[d.ID] = c.Me.Asks(a, patience)
	}
	return q
}

// End says that the turn does not wait any more. The question stays open for a later answer.
func (q *Questioning) End() {
	for _, w := range q.waits {
		w.End("")
	}
}

// Late says that nobody answered in time, and what the asker does then.
func (q *Questioning) Late(does string) {
	for _, w := range q.waits {
		w.Late(does)
	}
}

// Answered says that the other copies need no answer any more, and tells those who have them: an
// agent that works on its copy by a note, and the person, whose copy is filed. An agent that has
// not begun never sees its copy. Answered returns why somebody could not be told.
func (q *Questioning) Answered(got *Answer) string {
	c := q.client
	for id, w := range q.waits {
		if id != got.ReplyTo {
			w.End(got.From + " has answered already")
		}
	}
	var failed []string
	for _, d := range q.sent {
		found, err := c.Store.Find(d.ID)
		if d.ID == got.ReplyTo || err != nil || found.State != dropbox.Waiting && found.State != dropbox.Claimed ||
			found.State == dropbox.Waiting && d.To != dropbox.Lead {
			continue
		}
		if d.To == dropbox.Lead {
			if box, err := c.Store.Mailbox(dropbox.Lead); err == nil {
				_ = box.File(found.Entry) // filed meanwhile: by the person
			}
		}
		note := &dropbox.Message{
			To: []string{d.To}, Type: dropbox.Note, ReplyTo: d.ID, Thread: d.Thread, Priority: dropbox.Normal,
			Body: fmt.Appendf(nil, "%s has answered %s already. It needs no other answer.\n", got.From, d.ID),
		}
		if _, err := c.Send(note); err != nil {
			failed = append(failed, fmt.Sprintf("%s is not told that the question is answered: %v.", d.To, err))
		}
	}
	return strings.Join(failed, " ")
}

// A Lack is a question, perhaps in several copies, that nobody answered in time.
type Lack struct {
	Text     string
	Asked    []swarm.PauseQuestion
	Patience time.Duration
}

// Why says what nobody answered, in one line.
func (l Lack) Why() string {
	return journal.NotAnswered(l.Asked, l.Text, l.Patience)
}
