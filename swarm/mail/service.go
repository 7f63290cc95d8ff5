package mail

import (
	"errors"
	"log/slog"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/tokens"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
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
// share. Only Gate and Questions may be nil. A Service is safe for concurrent use.
type Service struct {
	Home      journal.Home
	Store     *dropbox.Store
	Ledger    Ledger
	Tokens    *journal.Tokens
	Counts    *journal.TurnCounts
	Secrets   *tokens.Source // the tokens, which must not appear in any file that the program writes
	Log       *slog.Logger
	Gate      Gate // nil means that only loops are stopped
	Reach     *Reach
	Notices   *notice.Teller
	Names     func() Names
	Questions *Questions // the daemon's questions to the person; nil in programs other than the daemon
	// TurnsAt lists the turns that were running at the given time.
	TurnsAt func(time.Time) []*journal.Record
	// InUse reports whether a mailbox belongs to the person, the daemon or one of its agents.
	// If it is deleted, a delivery recreates it. nil means that no mailbox is in use.
	InUse func(mailbox string) bool
	// PausedFor reports whether an agent is paused until a question is answered. nil means
	// that no agent is.
	PausedFor func(agent, question string) bool
}

// A Ledger stores the lines of turns that ended.
type Ledger interface {
	Add(line journal.LedgerLine) error
	Unbooked(turn string) (line journal.LedgerLine, ok bool) // as [journal.Ledger.Unbooked]
}

// Deliver sends a message as the daemon or as an agent, with the proof of its sender and
// without secrets. If another program deleted a mailbox that is in use, Deliver recreates
// it. The store converts a result that is too long into an attachment. The errors are those
// of [dropbox.Store.DeliverSigned].
func (s *Service) Deliver(as, to string, m *dropbox.Message) (dropbox.Delivery, error) {
	return s.deliverNoted(as, to, m, func(string) {})
}

// deliverNoted is like Deliver, but calls note with the id of the message before the
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
