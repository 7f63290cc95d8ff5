package mail

import (
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/tokens"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// The keys of the log.
const (
	keyAgent   = "agent"
	keyMessage = "message"
	keyTurn    = "turn"
	keyErr     = "err"
	keyWhy     = "why"
)

// A Service is what the mail of all agents of a project shares. Every field is set, but
// for Gate and Announcer. All of it is safe for several goroutines.
type Service struct {
	Home      journal.Home
	Store     *dropbox.Store
	Ledger    Ledger
	Tokens    *journal.Tokens
	Counts    *journal.TurnCounts
	Secrets   *tokens.Source // the tokens, which nothing that is written may hold
	Events    *journal.Events
	Log       *slog.Logger
	Gate      Gate        // nil stops loops alone
	Announcer *Announcing // nil: nobody looks
	Trouble   *Trouble
	Reach     *Reach
	Names     func() Names
	// CanWork tells whether the agent that leads takes up mail.
	CanWork func(agent string) bool
	// TurnsAt are the turns that ran at a time.
	TurnsAt func(time.Time) []*journal.Record
	// Alerted says that an alert about an agent was delivered.
	Alerted func(at time.Time, agent, subject string)
	// WakeListeners says that there is something to hear.
	WakeListeners func()
}

// A Ledger takes the lines of turns that ended.
type Ledger interface {
	Add(line journal.LedgerLine) error
}

// deliver sends a message of the daemon's or in an agent's name. The store makes
// a result that is too long an attachment.
func (s *Service) deliver(as, to string, m *dropbox.Message) (dropbox.Delivery, error) {
	token := s.Tokens.Of(as)
	m.Subject, m.Body = s.Secrets.Redactor().Text(m.Subject), s.Secrets.Hidden(m.Body)
	return s.Store.DeliverSigned(to, m, func(m *dropbox.Message) string {
		if token == "" {
			return ""
		}
		return dropbox.Proof(token, m, to)
	})
}

// undeliverable tells whether a message can never be delivered, however often
// that is tried: it would keep its mailbox from all further work.
func undeliverable(err error) bool {
	return slices.ContainsFunc([]error{dropbox.ErrNoMailbox, dropbox.ErrName, dropbox.ErrInvalid, dropbox.ErrTooLarge, dropbox.ErrHops},
		func(never error) bool { return errors.Is(err, never) })
}
