package mail

import (
	"errors"
	"log/slog"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/tokens"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// The keys of log attributes.
const (
	keyAgent   = "agent"
	keyMessage = "message"
	keyTurn    = "turn"
	keyErr     = "err"
	keyWhy     = "why"
)

// A Service contains the state and functions that the inboxes of all agents of a project
// share. Only Gate, Announcer, Questions and Quiet may be nil. A Service is safe for
// concurrent use.
type Service struct {
	Home      journal.Home
	Store     *dropbox.Store
	Ledger    Ledger
	Tokens    *journal.Tokens
	Counts    *journal.TurnCounts
	Secrets   *tokens.Source // the tokens, which must not appear in any file that the program writes
	Events    *journal.Events
	Log       *slog.Logger
	Gate      Gate        // nil means that only loops are stopped
	Announcer *Announcing // nil means that nothing is announced
	Trouble   *Trouble
	Reach     *Reach
	Names     func() Names
	Questions *Questions // the daemon's questions to the person; nil in programs other than the daemon
	Quiet     *Quiet     // the facts kept until the person's quiet hours end; nil in programs other than the daemon
	// CanWork reports whether the lead agent can start turns.
	CanWork func(agent string) bool
	// TurnsAt lists the turns that were running at the given time.
	TurnsAt func(time.Time) []*journal.Record
	// InUse reports whether a mailbox belongs to the person, the daemon or one of its agents.
	// If it is deleted, a delivery recreates it. nil means that no mailbox is in use.
	InUse func(mailbox string) bool
	// PausedFor reports whether an agent is paused until a question is answered. nil means
	// that no agent is.
	PausedFor func(agent, question string) bool
	// Alerted is called after an alert has been delivered. agent is "" if the alert is
	// about the daemon itself.
	Alerted func(at time.Time, agent, subject string)
	// WakeListeners is called when there are new events.
	WakeListeners func()

	noticeOf func(*dropbox.Message) *journal.Notice // returns the notice of a question from the daemon; set by [OpenQuestions]
}

// A Ledger stores the lines of turns that ended.
type Ledger interface {
	Add(line journal.LedgerLine) error
	Unbooked(turn string) (line journal.LedgerLine, ok bool) // as [journal.Ledger.Unbooked]
}

// deliver sends a message as the daemon or as an agent. The store converts a result that
// is too long into an attachment.
func (s *Service) deliver(as, to string, m *dropbox.Message) (dropbox.Delivery, error) {
	return s.deliverNoted(as, to, m, func(string) {})
}

// deliverNoted is like deliver, but calls note with the id of the message before the
// message becomes visible.
func (s *Service) deliverNoted(as, to string, m *dropbox.Message, note func(id string)) (dropbox.Delivery, error) {
	token := s.Tokens.Of(as)
	m.Subject, m.Body = s.Secrets.Redactor().Text(m.Subject), s.Secrets.Hidden(m.Body)
	sign := func(m *dropbox.Message) string {
		note(m.ID)
		if token == "" {
			return ""
		}
		return dropbox.Proof(token, m, to)
	}
	d, err := s.Store.DeliverSigned(to, m, sign)
	if errors.Is(err, dropbox.ErrNoMailbox) && s.InUse != nil && s.InUse(to) {
		// Another program, such as git clean, deleted the mailbox.
		if err = s.Store.MakeMailbox(to); err == nil {
			d, err = s.Store.DeliverSigned(to, m, sign)
		}
	}
	return d, err
}
