package mail

import (
	"log/slog"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// An Inbox handles the mail of one agent. Queue, Arrivals, [Inbox.OriginOf] and
// [Inbox.Restore] are safe for concurrent use. Everything else in an Inbox may be used by only one goroutine at a time.
type Inbox struct {
	*Service
	Name     string
	Box      *dropbox.Mailbox
	Queue    Queue
	Arrivals Arrivals
	Log      *slog.Logger // every log line names the agent
	AgentLog *journal.AgentLog
	Hidden   Hider
	Backend  func() string // returns the name of the program that runs the turns, for receipts

	held heldClaims
}

// A Hider removes secrets from text.
type Hider interface {
	Text(text string) string
}

// Proves reports whether a message has a valid proof of its sender.
func (in *Inbox) Proves(m *dropbox.Message) bool {
	token := in.Tokens.Of(m.From)
	return token != "" && dropbox.Proven(token, m, in.Name)
}

// ByLead reports whether a message to the agent is from a person.
func (in *Inbox) ByLead(m *dropbox.Message) bool { return m.From == dropbox.Lead && in.Proves(m) }
