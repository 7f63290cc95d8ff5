package mail

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Questions that agents ask. The asking process writes the question, and later its
// outcome, to the .asks file of its turn. The daemon adds both to the event list:
//
//	asked:           a question through a bridge. A question to the lead is mail, and mail is on the list anyway.
//	nobody answered: a question to a person, through a bridge or in the mailbox of the lead
//
// Then the daemon records in the .asks file which of them are in the list. After a crash
// between these two steps, it repeats the event with the same key.

// askedAgain is the delay after a question's deadline before the daemon checks the
// question. The delay gives the asking process time to record that nobody answered.
const askedAgain = 100 * time.Millisecond

// TellAsked adds to the event list the questions that a turn asked through a bridge, and
// its questions to people that nobody answered in time. While the turn is waiting for an
// answer, TellAsked returns the time of the next check; otherwise the time is zero. After
// an error the call can be repeated.
func (s *Service) TellAsked(turn string) (again time.Time, err error) {
	asks := s.Home.Asks(turn)
	for _, q := range asks.All() {
		if q.Call != "" || q.Copy != "" || q.Mailbox == "" && q.Of != dropbox.Lead {
			continue
		}
		if q.Mailbox != "" && !q.ToldAsked {
			if err := s.tellOf(turn, q.Asked, journal.ToldAsked, s.asked); err != nil {
				return again, err
			}
		}
		if q.Late != "" && !q.ToldLate {
			if err := s.tellOf(turn, q.Asked, journal.ToldLate, s.unanswered); err != nil {
				return again, err
			}
			s.Questions.Wake()
		}
		if q.Over || !q.Process.Alive() {
			continue
		}
		next := q.Until.Add(askedAgain)
		if now := time.Now(); next.Before(now) {
			next = now.Add(askedAgain)
		}
		if again.IsZero() || next.Before(again) {
			again = next
		}
	}
	return again, nil
}

// tellOf adds one fact about a question to the event list, and then records in the .asks
// file that it is in the list.
func (s *Service) tellOf(turn string, q journal.Asked, what string, tell func(*journal.Record, journal.Asked) error) error {
	rec, err := journal.ReadRecord(s.Home, turn)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // without the record, the agent that asked the question is unknown
	} else if err != nil {
		return err
	}
	if err := tell(rec, q); err != nil {
		return err
	}
	return s.Home.Asks(turn).Told(q.ID, what)
}

// asked records in the event list that an agent is asking people through a bridge.
func (s *Service) asked(rec *journal.Record, q journal.Asked) error {
	return s.happened(journal.Event{
		Kind: journal.Noticed, Key: NoticedKey + "asked:" + q.ID, Agent: rec.Agent, To: q.Mailbox, About: q.ID,
		Message: &journal.Message{
			ID: q.ID, From: rec.Agent, To: []string{q.Mailbox}, Type: dropbox.Question, Thread: rec.Thread, Trace: rec.Trace, Body: q.Text + "\n",
		},
		Notice: &journal.Notice{Word: journal.AgentQuestion, Agent: rec.Agent, Why: q.Text, Place: q.Of},
	})
}

// unanswered records in the event list that nobody answered a question in time. The event
// also says what the agent does next. If the agent is paused, the lead also gets mail
// about it, unless the question is in the person's mailbox.
func (s *Service) unanswered(rec *journal.Record, q journal.Asked) error {
	where := "from " + s.Names().Called(q.Of)
	if q.Mailbox != "" {
		where = "in " + q.Of
	}
	n := journal.Notice{
		Word: journal.AgentTimeout, Agent: rec.Agent, Next: afterNoAnswer(q), Held: q.Late == "pause",
		Why: fmt.Sprintf("got no answer to %s %s within %s", quotedOr(q.Text, q.ID), where, q.Until.Sub(q.Since)),
	}
	key := "late:" + q.ID
	if q.Mailbox == "" || q.Late != "pause" {
		return s.Raise(key, n, "", "")
	}
	s.TellNotice(rec.Agent, key, n, n.Agent+" "+n.Why, n.Agent+" asked: "+q.Text+"\n\n"+n.Next+"\n")
	return nil
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
