package mail

import (
	"errors"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// An agent's question leaves the person's mailbox as soon as nobody waits for its answer.
// The question is filed in done/, and an answer to it still reaches the agent as mail. A
// question that an agent sent without waiting stays until it is answered, because the
// answer begins a turn.

// Wake makes the daemon check soon which questions need no answer any more. Wake does
// nothing if q is nil, as it is in programs other than the daemon.
func (q *Questions) Wake() {
	if q != nil {
		q.wake()
	}
}

// fileStale files the agents' questions in the person's mailbox for whose answer nobody
// waits any more.
func (q *Questions) fileStale() error {
	box, err := q.mail.Store.Mailbox(dropbox.Lead)
	if errors.Is(err, dropbox.ErrNoMailbox) {
		return nil
	} else if err != nil {
		return err
	}
	fresh, err := box.Peek()
	read, err2 := box.Claimed()
	failed := []error{err, err2}
	still := make(map[string]*dropbox.Message, len(q.seen))
	for _, e := range append(fresh, read...) {
		m, known := q.seen[e.ID]
		if !known {
			if m, err = box.Read(e); err != nil {
				continue // the person has just filed it, or it is not a message
			}
			if m.Type != dropbox.Question || !IsAgent(m.From) {
				m = nil
			} else {
				m = &dropbox.Message{ID: m.ID, From: m.From, Type: m.Type, Turn: m.Turn, Key: m.Key} // without the body
			}
		}
		if m != nil {
			if why := q.mail.whyStale(m, time.Now()); why != "" {
				q.mail.Log.Info("a question was filed, because nobody waits for the answer", keyMessage, m.ID, keyAgent, m.From, keyWhy, why)
				if err := box.File(e); !errors.Is(err, dropbox.ErrGone) {
					failed = append(failed, err)
				}
				continue
			}
		}
		still[e.ID] = m
	}
	q.seen = still
	return errors.Join(failed...)
}

// whyStale returns the reason why nobody waits for the answer to an agent's question to
// the person. It returns "" if somebody waits, or if it is unknown whether somebody does.
func (s *Service) whyStale(m *dropbox.Message, now time.Time) string {
	why, waits := s.whyNotAwaited(m, now)
	switch {
	case waits:
		return ""
	case s.InUse != nil && !s.InUse(m.From):
		return m.From + " has left the swarm"
	case s.PausedFor != nil && s.PausedFor(m.From, m.ID):
		return ""
	}
	return why
}

// whyNotAwaited returns the reason why the turn in which a question was asked does not
// wait for the answer. waits reports whether the turn does. If the agent sent the question
// without waiting, why is "" and waits is false.
func (s *Service) whyNotAwaited(m *dropbox.Message, now time.Time) (why string, waits bool) {
	if why := WhyOver(s.Home, m); why != "" || m.Turn == "" {
		return why, false
	}
	all := s.Home.Asks(m.Turn).All()
	i := slices.IndexFunc(all, func(a journal.AskedState) bool { return a.ID == m.ID })
	switch {
	case i < 0:
		return "", false
	case all[i].Late == "pause" && s.runs(m.Turn, now):
		return "", true // the agent's pause is about to begin
	case all[i].Over:
		return "the agent no longer waits", false
	case !all[i].Process.Alive():
		return "the process that asked has ended", false
	}
	return "", true
}

// runs reports whether a turn is running.
func (s *Service) runs(turn string, now time.Time) bool {
	return s.TurnsAt != nil && slices.ContainsFunc(s.TurnsAt(now), func(rec *journal.Record) bool { return rec.Turn == turn })
}
