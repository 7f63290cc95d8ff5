package mail

import (
	"errors"
	"io/fs"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
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
			if err := s.tellOf(turn, q.Asked, journal.ToldAsked); err != nil {
				return again, err
			}
		}
		if q.Late != "" && !q.ToldLate {
			if err := s.tellOf(turn, q.Asked, journal.ToldLate); err != nil {
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
func (s *Service) tellOf(turn string, q journal.Asked, what string) error {
	rec, err := journal.ReadRecord(s.Home, turn)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // without the record, the agent that asked the question is unknown
	} else if err != nil {
		return err
	}
	var fact notice.Fact = notice.Asked{Turn: rec, Question: q}
	if what == journal.ToldLate {
		fact = notice.Unanswered{Agent: rec.Agent, Question: q, Of: s.Names().Called(q.Of)}
	}
	if err := s.Notices.Add(fact); err != nil {
		return err
	}
	return s.Home.Asks(turn).Told(q.ID, what)
}
