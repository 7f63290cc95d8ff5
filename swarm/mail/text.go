package mail

import (
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Describe returns the line that the status shows for a message.
func Describe(m *dropbox.Message) string {
	return screen.Short(m.Gist(), 80)
}

// Called returns the subject of a message, or the beginning of its text, in quotation
// marks. It returns the id if the message cannot be found.
func (s *Service) Called(id string) string {
	m, err := s.Store.Message(id)
	if err != nil {
		return id
	}
	return `"` + Describe(m) + `"`
}

func expired(m *dropbox.Message) bool { return !m.Expires.IsZero() && time.Now().After(m.Expires) }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func answerSubject(m *dropbox.Message) string {
	s := Describe(m)
	if !strings.HasPrefix(s, "Re: ") {
		s = "Re: " + s
	}
	return s
}

// subjectOf returns the subject of the answer to a message whose turn ended well.
func subjectOf(m *dropbox.Message, r *journal.Receipt) string {
	if r.Outcome == journal.OutcomeRefused {
		return screen.Short("not permitted: "+Describe(m), 200)
	}
	return answerSubject(m)
}
