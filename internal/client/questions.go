package client

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A Questioning is a question that the running turn has sent by mail and whose answer it
// is waiting for. If the question has several copies, the first answer is enough.
type Questioning struct {
	client   *Client
	question *dropbox.Message
	patience time.Duration
	sent     []dropbox.Delivery
	first    string // the id of the first copy
	waits    map[string]*journal.Waiting
}

// Asks prepares to record that the running turn is waiting for the answer to a question.
// patience is the maximum wait. The caller sends the question with SendNoted, to which it
// passes Note, and then calls Sent.
func (c *Client) Asks(question *dropbox.Message, patience time.Duration) *Questioning {
	return &Questioning{client: c, question: question, patience: patience, waits: map[string]*journal.Waiting{}}
}

// Note records that the turn is waiting for the answer to one copy. It must be called
// before anybody can see the copy, because the daemon reads the record only once, when
// the copy arrives.
func (q *Questioning) Note(id, to string) {
	if q.waits[id] != nil || !slices.Contains(q.question.To, to) {
		return
	}
	a := journal.Asked{ID: id, Of: to, Text: string(q.question.Body), Copy: q.first}
	q.first = cmp.Or(q.first, id)
	q.waits[id] = q.client.Me.Asks(a, q.patience)
}

// Sent records which copies were delivered. A repeated delivery has the same id as the
// first one.
func (q *Questioning) Sent(copies []dropbox.Delivery) {
	q.sent = copies
	still := map[string]bool{}
	for _, d := range copies {
		still[d.ID] = true
		q.Note(d.ID, d.To)
	}
	for id, w := range q.waits {
		if !still[id] {
			w.End("")
		}
	}
}

// End records that the turn is no longer waiting. The agent gets a later answer as
// ordinary mail.
func (q *Questioning) End() {
	for _, w := range q.waits {
		w.End("")
	}
}

// Late records that nobody answered in time, and what the asker does instead.
func (q *Questioning) Late(does string) {
	for _, w := range q.waits {
		w.Late(does)
	}
}

// Answered records that the other copies no longer need an answer, and tells their
// recipients: an agent that is working on its copy gets a note, and the person's copy is
// filed. An agent that has not started to work on its copy never sees it. If a recipient
// could not be told, Answered returns the reason.
func (q *Questioning) Answered(got *Answer) string {
	c := q.client
	for id, w := range q.waits {
		if id != got.ReplyTo {
			w.End(got.From + " has already answered")
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
				_ = box.File(found.Entry) // the person may have filed it in the meantime
			}
		}
		note := &dropbox.Message{
			To: []string{d.To}, Type: dropbox.Note, ReplyTo: d.ID, Thread: d.Thread, Priority: dropbox.Normal,
			Body: fmt.Appendf(nil, "%s has already answered %s. It needs no other answer.\n", got.From, d.ID),
		}
		if _, err := c.Send(note); err != nil {
			failed = append(failed, fmt.Sprintf("%s could not be told that the question has been answered: %v.", d.To, err))
		}
	}
	return strings.Join(failed, " ")
}

// A Lack is a question, possibly in several copies, that nobody answered in time.
type Lack struct {
	Text     string
	Asked    []swarm.PauseQuestion
	Patience time.Duration
}

// Why returns one line about the unanswered question.
func (l Lack) Why() string {
	return journal.NotAnswered(l.Asked, l.Text, l.Patience)
}
